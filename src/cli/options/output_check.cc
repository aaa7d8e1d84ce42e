#include "cli/options/output_check.h"

#include <sys/stat.h>

#include <algorithm>

namespace telltale::cli {

Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs) {
  struct stat written{};
  if (output == "-" || ::stat(output.c_str(), &written) != 0 || !S_ISREG(written.st_mode))
    return {};
  const bool is_input = std::ranges::any_of(inputs, [&](const std::string& input) {
    struct stat read{};
    return input != "-" && ::stat(input.c_str(), &read) == 0 && read.st_dev == written.st_dev &&
           read.st_ino == written.st_ino;
  });
  if (is_input) return usage_error(output + " is an input, which telltale does not overwrite");
  return {};
}

}  // namespace telltale::cli
