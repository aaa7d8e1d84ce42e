#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/closest_word.h"
#include "cli/help/command_words.h"
#include "cli/help/help_text.h"
#include "cli/options/debuginfod.h"
#include "cli/options/file_size_limit.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/options/standard_descriptors.h"
#include "cli/options/terminal.h"
#include "cli/verbs/diff_runs.h"
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
constexpr unsigned kStatic = use(Capability::static_information);
constexpr unsigned kAnything = ~0U;

// Headings of help.
constexpr std::string_view kLook = "See where time goes";
constexpr std::string_view kAsk = "Ask what happened, and why";
constexpr std::string_view kRecord = "Record";
constexpr std::string_view kFail = "Explain failures";
constexpr std::string_view kFiles = "Work with files";
constexpr std::string_view kHelp = "Help";
constexpr std::string_view kHidden;

constexpr const char* kVersionFlag = "--version";

struct Verb {
  std::string_view name;
  void (*add)(Command app, int& status);
  std::string_view group;
  unsigned uses = 0;  // capabilities that the verb can use, any of them; 0: it reads no recording
  bool uses_network = false;  // run by RunNetworkVerb
};
// In the order in which help lists them.
constexpr auto kVerbs = std::to_array<Verb>({
    {"info", add_info_verb, kLook, kAnything},
    {"top", add_top_verb, kLook, kCalls | kCounts},
    {"report", add_report_verb, kLook, kCalls | kRuntime | kCounts},
    {"flame", add_flame_verb, kLook, kCalls},
    {"stacks", add_stacks_verb, kLook, kCalls},
    {"graph", add_graph_verb, kLook, kCalls},
    {"replay", add_replay_verb, kAsk, kCalls},
    {"slow", add_slow_verb, kAsk, kCalls},
    {"histogram", add_histogram_verb, kAsk, kCalls},
    {"diff", add_diff_verb, kAsk, kCalls},
    {"bench", add_bench_verb, kAsk},
    {"heapshot", add_heapshot_verb, kAsk, kRuntime},
    {"run", add_run_verb, kRecord},
    {"control", add_control_verb, kRecord},
    {"study", add_study_verb, kFail},
    {"send", add_send_verb, kFail, 0, true},
    {"collect", add_collect_verb, kFail, 0, true},
    {"store", add_store_verb, kFail},
    {"isolate", add_isolate_verb, kFail},
    {"paths", add_paths_verb, kFail, kPaths},
    {"coverage", add_coverage_verb, kFail, kPaths},
    {"dump", add_dump_verb, kFiles, kAnything},
    {"check", add_check_verb, kFiles, kAnything},
    {"convert", add_convert_verb, kFiles, kCalls | kRuntime | kCounts},
    {"sites", add_sites_verb, kFiles, kStatic},
    {"resolve", add_resolve_verb, kFiles, kCounts},
    {"extract-cfg", add_extract_cfg_verb, kFiles},
    {"expand_events", add_expand_events_verb, kFiles},
    {"sampler", add_sampler_verb, kFiles},
    // Tools of `telltale sampler`.
    {"extract-section", add_extract_section_verb, kHidden},
    {"extract-report", add_extract_report_verb, kHidden},
    {"resolveSamples", add_resolve_samples_verb, kHidden},
    {"resolveTimestamps", add_resolve_timestamps_verb, kHidden},
    {"resolve-backtrace", add_resolve_backtrace_verb, kHidden},
    {"resolve-cfg", add_resolve_cfg_verb, kHidden},
    {"decimate-samples", add_decimate_samples_verb, kHidden},
    {"precompute", add_precompute_verb, kHidden},
    {"find-sampler-info", add_find_sampler_info_verb, kHidden},
});

// Null for an unknown name.
const Verb* find_verb(std::string_view name) {
  const auto* const found = std::ranges::find(kVerbs, name, &Verb::name);
  return found == kVerbs.end() ? nullptr : found;
}

// Declares only the requested verb: declaring all takes two milliseconds, as long as everything
// else that a small recording needs. Declares all if the name is unknown.
void add_verbs(Command app, std::string_view asked, int& status) {
  if (asked == kVersionFlag) return;
  const Verb* const verb = find_verb(asked);
  if (verb != nullptr) return verb->add(app, status);
  add_all_verbs(app, status);
}

// The verbs that are also programs, in libexec/telltale/ (cmake/TelltaleInstall.cmake).
bool is_program(std::string_view name) {
  const std::span<const std::string> tools = sampler_tools();
  return name == "expand_events" || std::ranges::find(tools, name) != tools.end();
}

std::string unknown_verb(const CLI::App& app, const std::string& typed) {
  std::vector<std::string> verbs;
  for (const VerbWords& verb : words_of(app).listed_verbs()) verbs.push_back(verb.name);
  return "no such verb: " + typed + did_you_mean(typed, verbs);
}

std::string unknown_option(const CLI::App& verb, const std::string& typed) {
  std::vector<std::string> names;
  for (const OptionWords& option : words_of(verb).options)
    for (const std::string& name : option.names()) names.push_back(name);
  const std::string name = typed.substr(0, typed.find('='));
  return "no such option: " + name + did_you_mean(name, names);
}

// The help's entry of the required option that CLI11's message names, or, if it is an argument,
// those of all required arguments: another one may be missing. Empty if it names none.
std::string help_of_missing(const CLI::App& verb, std::string_view message) {
  const VerbWords words = words_of(verb);
  const auto is_named = [&](const OptionWords& option) {
    const std::string name = option.position.empty() ? option.names().back() : option.position;
    return option.required && message == name + " is required";
  };
  std::string help;
  for (const OptionWords& option : words.options)
    if (is_named(option)) help += option_help(option);
  if (std::ranges::none_of(words.positions, is_named)) return help;
  for (const OptionWords& option : words.positions)
    if (option.required) help += option_help(option);
  return help;
}

// Other names of verbs, which other recorders of calls have taught users.
constexpr auto kAliases =
    std::to_array<std::pair<std::string_view, const char*>>({{"record", "run"}});

// The error, and where to read about correct usage.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::string message = error.what();
  // CLI11 would only report a missing verb or argument, not the unknown word.
  const CLI::App& asked = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> rest = asked.remaining();
  rest.erase(std::ranges::find(rest, "--"), rest.end());  // the words after it are no options
  const auto option =
      std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with("-"); });
  if (option != rest.end()) {
    message = unknown_option(asked, *option);
  } else if (chosen.empty() && !rest.empty()) {
    message = unknown_verb(app, rest[0]);
  }
  print_message("telltale: {}\n{}See `telltale help{}`.\n", visible(message),
                help_of_missing(asked, message),
                chosen.empty() ? "" : " " + chosen.front()->get_name());
  return kUsage;
}

}  // namespace

Result<void> check_use(std::string_view verb, const Recording& recording) {
  const Verb* const asked = find_verb(verb);
  if (asked == nullptr || asked->uses == 0) return {};
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
  return usage_error(fmt::format("{} has {}, no {}: {} answer for it", recording.noun(),
                                 recording.describe_capabilities(), join_words(lacks, "or"),
                                 join_words(others)));
}

void add_all_verbs(Command app, int& status) {
  for (const Verb& verb : kVerbs) {
    verb.add(app, status);
    app.verb(std::string(verb.name)).group(std::string(verb.group));
  }
  add_help_verbs(app, status);  // last: they describe the verbs before them
  for (const char* const name : {"help", "man", "completion"})
    app.verb(name).group(std::string(kHelp));
}

int run_command_line(int argc, char** argv, RunNetworkVerb run_network) {
  keep_standard_descriptors();
  fail_at_file_size_limit();
  prepare_debuginfod();
  // Invoked under the name of a published tool, telltale acts as that tool: all arguments belong to
  // one verb.
  std::vector<char*> words(argv, argv + argc);
  std::string tool = argc == 0 ? "" : std::filesystem::path(argv[0]).filename().string();
  if (is_program(tool)) words.insert(words.begin() + 1, tool.data());
  // `telltale sampler TOOL` starts the verb TOOL, too.
  if (words.size() > 2 && std::string_view(words[1]) == "sampler" && is_program(words[2]))
    words.erase(words.begin() + 1);
  argc = static_cast<int>(words.size());
  // A lone -- ends the options for CLI11; between two sides it separates.
  std::string separator(kSideSeparator);
  if (argc > 1 && (std::string_view(words[1]) == "diff" || std::string_view(words[1]) == "bench")) {
    const auto lone = std::ranges::find_if(
        words, [](const char* word) { return std::string_view(word) == "--"; });
    if (lone != words.end()) *lone = separator.data();
  }
  std::string verb = argc < 2 ? "" : words[1];
  for (const auto& [alias, name] : kAliases) {
    if (verb == alias) verb = name;
  }
  if (argc >= 2) words[1] = verb.data();
  CLI::App app("telltale: read, analyse and show what a program did", "telltale");
  app.formatter(std::make_shared<CLI::FormatterLambda>(
      [](const CLI::App* asked, const std::string&, CLI::AppFormatMode) {
        return help_text(words_of(*asked));
      }));
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag(kVersionFlag, version_text(), "print version, commit and build");
  app.require_subcommand(1);
  int status = kDone;
  add_verbs(Command(app), verb, status);
  if (argc < 2) return print(app.help()) ? kUsage : kUnreadable;
  try {
    app.parse(argc, words.data());
    end_terminal();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return report_usage(app, error);
    std::ostringstream text;  // of --help, --version
    app.exit(error, text);
    return print(text.str()) ? kDone : kUnreadable;
  } catch (const std::exception& error) {
    print_message("telltale: {}\n", visible(error.what()));
    return kUnreadable;
  }
  const Verb* const chosen = find_verb(app.get_subcommands().front()->get_name());
  if (print_failed()) return kUnreadable;
  if (chosen == nullptr || !chosen->uses_network) return status;
  words.push_back(nullptr);
  return run_network(std::span(words).first(static_cast<size_t>(argc)));
}

}  // namespace telltale::cli
