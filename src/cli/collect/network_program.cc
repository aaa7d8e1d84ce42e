#include "cli/collect/network_program.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "cli/options/reading_options.h"

namespace telltale::cli {

int start_network_program(std::span<char* const> words) {
  std::error_code failure;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failure).parent_path();
  const std::string program =
      (folder / TELLTALE_LIBEXEC_FOLDER / "telltale-collect").lexically_normal().string();
  ::execv(program.c_str(), words.data());
  return report_error(io_error(program, "cannot be run", errno).error());
}

}  // namespace telltale::cli
