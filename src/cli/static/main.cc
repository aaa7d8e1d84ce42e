// telltale as one file, with the network.
#include <filesystem>
#include <system_error>

#include "bytes/temporary_path.h"
#include "cli/command_line.h"
#include "cli/network/network_command_line.h"

namespace {

int run_here(std::span<char* const> words) {
  std::error_code failure;
  const auto telltale = std::filesystem::read_symlink("/proc/self/exe", failure).string();
  return telltale::cli::run_network_command_line(words, telltale);
}

}  // namespace

int main(int argc, char** argv) {
  telltale::remove_temporary_paths_on_signals();
  return telltale::cli::run_command_line(argc, argv, run_here);
}
