// telltale-collect: the part of telltale that uses the network, a program beside it.
#include <filesystem>
#include <system_error>

#include "cli/network/network_command_line.h"

int main(int argc, char** argv) {
  std::error_code failure;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failure).parent_path();
  const auto telltale = (folder / TELLTALE_BIN_FOLDER / "telltale").lexically_normal().string();
  return telltale::cli::run_network_command_line({argv, static_cast<size_t>(argc)}, telltale);
}
