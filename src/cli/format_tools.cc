#include "cli/format_tools.h"

#include <array>

#include "cli/xray_tools.h"

namespace telltale::cli {

Result<const FormatTools*> find_format_tools(const InputFile& file, const OpenOptions&) {
  static const std::array kAll = {&kXrayTools};
  for (const FormatTools* tools : kAll) {
    if (tools->recognises(file.bytes())) return tools;
  }
  return unknown_format(file.name(), file.bytes());
}

}  // namespace telltale::cli
