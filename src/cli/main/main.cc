#include "bytes/temporary_path.h"
#include "cli/command_line.h"

int main(int argc, char** argv) {
  telltale::remove_temporary_paths_on_signals();
  return telltale::cli::run_command_line(argc, argv);
}
