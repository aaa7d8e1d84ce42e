#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

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
  add_expand_events_verb(app, status);
  add_sites_verb(app, status);
  add_resolve_verb(app, status);
  add_run_verb(app, status);
  add_heapshot_verb(app, status);
  add_extract_section_verb(app, status);
  add_extract_report_verb(app, status);
  add_resolve_samples_verb(app, status);
  add_resolve_timestamps_verb(app, status);
  add_resolve_backtrace_verb(app, status);
  add_resolve_cfg_verb(app, status);
  add_decimate_samples_verb(app, status);
  add_precompute_verb(app, status);
  add_find_sampler_info_verb(app, status);
  add_help_verbs(app, status);  // the last: they know those before them
}

// The verbs that are also programs, in libexec/telltale/ (cmake/TelltaleInstall.cmake).
constexpr auto kTools = std::to_array<std::string_view>(
    {"expand_events", "extract-section", "extract-report", "resolveSamples", "resolveTimestamps",
     "resolve-backtrace", "resolve-cfg", "decimate-samples", "precompute", "find-sampler-info"});

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
  // Under another program's name telltale is that program: its arguments are one verb's.
  std::vector<char*> words(argv, argv + argc);
  std::string tool = argc == 0 ? "" : std::filesystem::path(argv[0]).filename().string();
  if (std::ranges::find(kTools, tool) != kTools.end()) {
    words.insert(words.begin() + 1, tool.data());
    argc = static_cast<int>(words.size());
  }
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
    app.parse(argc, words.data());
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
