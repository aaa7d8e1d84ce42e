#include <cstdio>
#include <exception>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  using namespace telltale::cli;
  CLI::App app("telltale: what a program did, from the evidence that its run left", "telltale");
  app.require_subcommand(1);
  app.set_version_flag("--version", TELLTALE_VERSION);
  int status = kDone;
  add_convert_verb(app, status);
  add_flame_verb(app, status);
  add_graph_verb(app, status);
  add_info_verb(app, status);
  add_diff_verb(app, status);
  add_dump_verb(app, status);
  add_check_verb(app, status);
  add_report_verb(app, status);
  add_sites_verb(app, status);
  add_stacks_verb(app, status);
  add_top_verb(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "telltale: %s\n", error.what());
    return kUnreadable;
  }
  return status;
}
