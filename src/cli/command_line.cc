#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/help/command_words.h"
#include "cli/help/help_text.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "cli/version.h"
#include "import/capability.h"
#include "import/format_descriptor.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

constexpr unsigned use(Capability capability) { return 1U << static_cast<unsigned>(capability); }
constexpr unsigned kCalls = use(Capability::timed_calls);
constexpr unsigned kRuntime = use(Capability::runtime_events);
constexpr unsigned kCounts = use(Capability::counts_at_sites);
constexpr unsigned kPaths = use(Capability::paths_in_frames);
constexpr unsigned kAnything = ~0U;

struct Verb {
  std::string_view name;
  void (*add)(Command app, int& status);
  unsigned uses = 0;  // capabilities that the verb can use, any of them; 0: it reads no recording
};
// In the order in which help lists them.
constexpr auto kVerbs = std::to_array<Verb>({
    {"info", add_info_verb, kAnything},
    {"top", add_top_verb, kCalls | kCounts},
    {"report", add_report_verb, kCalls | kRuntime | kCounts},
    {"stacks", add_stacks_verb, kCalls},
    {"flame", add_flame_verb, kCalls},
    {"graph", add_graph_verb, kCalls},
    {"diff", add_diff_verb, kCalls},
    {"dump", add_dump_verb, kAnything},
    {"check", add_check_verb, kAnything},
    {"convert", add_convert_verb, kAnything},
    {"expand_events", add_expand_events_verb},
    {"sites", add_sites_verb},
    {"resolve", add_resolve_verb, kCounts},
    {"paths", add_paths_verb, kPaths},
    {"run", add_run_verb},
    {"study", add_study_verb},
    {"isolate", add_isolate_verb},
    {"heapshot", add_heapshot_verb, kRuntime},
    {"extract-section", add_extract_section_verb},
    {"extract-report", add_extract_report_verb},
    {"resolveSamples", add_resolve_samples_verb},
    {"resolveTimestamps", add_resolve_timestamps_verb},
    {"resolve-backtrace", add_resolve_backtrace_verb},
    {"resolve-cfg", add_resolve_cfg_verb},
    {"decimate-samples", add_decimate_samples_verb},
    {"precompute", add_precompute_verb},
    {"find-sampler-info", add_find_sampler_info_verb},
});

// Declares only the requested verb: declaring all takes half a millisecond. Declares all if the
// name is unknown.
void add_verbs(Command app, std::string_view asked, int& status) {
  const auto* const found = std::ranges::find(kVerbs, asked, &Verb::name);
  if (found != kVerbs.end()) return found->add(app, status);
  add_all_verbs(app, status);
}

// The verbs that are also programs, in libexec/telltale/ (cmake/TelltaleInstall.cmake).
constexpr auto kTools = std::to_array<std::string_view>(
    {"expand_events", "extract-section", "extract-report", "resolveSamples", "resolveTimestamps",
     "resolve-backtrace", "resolve-cfg", "decimate-samples", "precompute", "find-sampler-info"});

// The error, and where to read about correct usage.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::string message = error.what();
  // CLI11 would only report a missing verb, not the unknown word.
  const std::vector<std::string> rest = app.remaining();
  if (chosen.empty() && !rest.empty()) {
    message = (rest[0].starts_with('-') ? "no such option: " : "no such verb: ") + rest[0];
  }
  fmt::print(stderr, "telltale: {}\nSee `telltale help{}`.\n", visible(message),
             chosen.empty() ? "" : " " + chosen.front()->get_name());
  return kUsage;
}

}  // namespace

Result<void> check_use(std::string_view verb, const Recording& recording) {
  const auto* const asked = std::ranges::find(kVerbs, verb, &Verb::name);
  if (asked == kVerbs.end() || asked->uses == 0) return {};
  std::vector<std::string> lacks;
  for (const Capability capability : kAllCapabilities) {
    if ((asked->uses & use(capability)) == 0) continue;
    if (recording.has(capability)) return {};
    lacks.emplace_back(name_of(capability));
  }
  std::vector<std::string> others;
  for (const Verb& other : kVerbs) {
    if (std::ranges::any_of(kAllCapabilities, [&](Capability capability) {
          return (other.uses & use(capability)) != 0 && recording.has(capability);
        }))
      others.emplace_back(other.name);
  }
  return usage_error(fmt::format("{} has {}, no {}: {} answer for it", recording.format().noun,
                                 recording.describe_capabilities(), join_words(lacks),
                                 join_words(others)));
}

void add_all_verbs(Command app, int& status) {
  for (const Verb& verb : kVerbs) verb.add(app, status);
  add_help_verbs(app, status);  // last: they describe the verbs before them
}

int run_command_line(int argc, char** argv) {
  // Invoked under the name of a published tool, telltale acts as that tool: all arguments belong to
  // one verb.
  std::vector<char*> words(argv, argv + argc);
  std::string tool = argc == 0 ? "" : std::filesystem::path(argv[0]).filename().string();
  if (std::ranges::find(kTools, tool) != kTools.end()) {
    words.insert(words.begin() + 1, tool.data());
    argc = static_cast<int>(words.size());
  }
  CLI::App app("telltale: read, analyse and show what a program did", "telltale");
  app.formatter(std::make_shared<CLI::FormatterLambda>(
      [](const CLI::App* asked, const std::string&, CLI::AppFormatMode) {
        return help_text(words_of(*asked));
      }));
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", version_text(), "print version, commit and build");
  app.require_subcommand(1);
  int status = kDone;
  add_verbs(Command(app), argc < 2 ? "" : words[1], status);
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
