#include "cli/command_line.h"

#include <fmt/format.h>

#include <exception>
#include <memory>

#include "cli/help_text.h"
#include "cli/reading_options.h"
#include "cli/verbs.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

// The list of verbs, in the order that help shows them in.
void add_verbs(CLI::App& app, int& status) {
  add_info_verb(app, status);
  add_top_verb(app, status);
  add_report_verb(app, status);
  add_stacks_verb(app, status);
  add_flame_verb(app, status);
  add_graph_verb(app, status);
  add_diff_verb(app, status);
  add_dump_verb(app, status);
  add_check_verb(app, status);
  add_convert_verb(app, status);
  add_sites_verb(app, status);
  add_run_verb(app, status);
  add_help_verbs(app, status);  // the last: they know those before them
}

// What is wrong, and where to read how it is right.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::string message = error.what();
  // CLI11 would say that a verb is missing, whatever stands in its place.
  const std::vector<std::string> rest = app.remaining();
  if (chosen.empty() && !rest.empty()) {
    message = (rest[0].starts_with('-') ? "no such option: " : "no such verb: ") + rest[0];
  }
  fmt::print(stderr, "telltale: {}\n`telltale help{}` shows what there is.\n", visible(message),
             chosen.empty() ? "" : " " + chosen.front()->get_name());
  return kUsage;
}

}  // namespace

int run_command_line(int argc, char** argv, const std::string& version) {
  CLI::App app("telltale: what a program did, from the evidence that its run left", "telltale");
  app.formatter(std::make_shared<CLI::FormatterLambda>(
      [](const CLI::App* asked, const std::string&, CLI::AppFormatMode) {
        return help_text(words_of(*asked));
      }));
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", version, "print the version");
  app.require_subcommand(1);
  int status = kDone;
  add_verbs(app, status);
  if (argc < 2) return print(app.help()) ? kUsage : kUnreadable;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return report_usage(app, error);
    app.exit(error);  // --help, --version
    return kDone;
  } catch (const std::exception& error) {
    fmt::print(stderr, "telltale: {}\n", visible(error.what()));
    return kUnreadable;
  }
  return status;
}

}  // namespace telltale::cli
