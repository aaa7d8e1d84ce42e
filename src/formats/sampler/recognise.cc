#include "formats/sampler/recognise.h"

#include <algorithm>
#include <string_view>

#include "formats/sampler/site_info.h"

namespace telltale::sampler {
namespace {

constexpr size_t kLook = 4096;  // bytes; linkers put a few zero bytes between sections

}  // namespace

TextKind kind_of(Bytes file) {
  const std::string text = without_zero_bytes(file.first(std::min(file.size(), kLook)));
  for (const std::string_view start :
       {"<report id=\"", "<samples unit=\"", "<timestamps unit=\""}) {
    if (text.starts_with(start)) return TextKind::report;
  }
  if (text.starts_with("<sites unit=\"")) return TextKind::sites;
  if (text.starts_with("*\t0.1\n")) return TextKind::graphs;
  return TextKind::none;
}

bool looks_like_report(Bytes file) { return kind_of(file) == TextKind::report; }
bool looks_like_text(Bytes file) { return kind_of(file) != TextKind::none; }

}  // namespace telltale::sampler
