#include "cli/verbs.h"

int main(int argc, char** argv) {
  CLI::App app("telltale: what a program did, from the evidence that its run left", "telltale");
  int status = telltale::cli::kDone;
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", TELLTALE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? telltale::cli::kDone : telltale::cli::kUsage;
  }
  return status;
}
