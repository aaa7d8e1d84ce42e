#pragma once

// Command lines generated from telltale's own declarations, so that tests and fuzz targets run a
// new verb, option or format without a change here.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/help/command_words.h"
#include "report/reports.h"
#include "support/checkout.h"
#include "support/golden.h"

namespace telltale::testing {

using Words = std::vector<std::string>;

// The files that the command lines read and write.
struct VerbFiles {
  std::string recording;    // the input; standard input must be the same
  std::string output;       // a path without extension, for output files
  std::string description;  // of a StackTrack platform
};

struct VerbToTry {
  struct Option {
    std::string name;
    std::vector<Words> uses;  // one for each value
    bool chooses = false;     // each of its values is an answer of its own, such as a report
  };
  std::string name;
  std::vector<Words> forms;  // with the verb's required arguments, its name first
  std::vector<Option> options;

  [[nodiscard]] size_t use_count() const {
    size_t count = 0;
    for (const Option& option : options) count += option.uses.size();
    return count;
  }
  // The use with this number below use_count().
  [[nodiscard]] const Words& use(size_t number) const {
    for (const Option& option : options) {
      if (number < option.uses.size()) return option.uses[number];
      number -= option.uses.size();
    }
    std::abort();
  }
};

namespace verb_command_lines {

// Verbs that do not answer about a file, and why.
inline constexpr auto kNotTried = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"run", "starts programs"},
    {"bench", "starts programs"},
    {"study", "reads folders"},
    {"collect", "is a server"},
    {"send", "reads a folder"},
    {"store", "reads folders"},
    {"isolate", "reads folders"},
    {"heapshot", "talks to a running program"},
    {"control", "talks to a running program"},
    {"find-sampler-info", "looks through a folder for programs"},
    {"precompute", "reads no file"},
    {"sampler", "stands for other verbs"},
    {"help", "reads no file"},
    {"man", "reads no file"},
    {"completion", "reads no file"},
});
inline constexpr auto kOptionsNotTried = std::to_array<std::string_view>({
    "--follow",  // waits for the file to grow
    "--help",
    "--pid",              // stops a process
    "--variables",        // excludes a recording
    "--coredump",         // likewise
    "--coredump-folder",  // needs that
});

inline std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const Capability capability : kAllCapabilities)
    for (const Report* const report : reports_on(capability)) names.emplace_back(report->name);
  for (const char* name : {"functions", "stacks", "threads"}) names.emplace_back(name);
  return names;
}

// Ends of a range that reads "1 to 100".
inline std::vector<std::string> ends_of(const std::string& range) {
  const size_t middle = range.find(" to ");
  if (middle == std::string::npos) return {range};
  return {range.substr(0, middle), range.substr(middle + 4)};
}

// Values for options whose declaration does not list them, by the name of the option or of its
// value. A missing entry ends the program: add the values of a new option here.
inline std::vector<std::string> values_of(const std::string& option, const cli::OptionWords& words,
                                          const VerbFiles& files) {
  if (!words.choices.empty()) return words.choices;
  if (!words.range.empty()) return ends_of(words.range);
  const std::string source = std::string(kSourceFolder) + "/";
  const std::vector<std::string> programs = {
      source + "examples/orders/orders-map.yaml", source + "tests/golden/sampler/all_schemes.sites",
      source + "fuzz/corpus/instrumentation_map/riscv64.o", files.recording};
  const std::map<std::string, std::vector<std::string>> values = {
      {"--reports", report_names()},
      {"--jobs", {"1", "3"}},
      {"--max-decompressed-bytes", {"100", "1000000"}},
      {"--gate", {"growth=0", "growth=1%", "calls=0%,total=0%", "self=1%"}},
      {"--output", {"-", files.output + ".svg", files.output + ".json"}},
      {"--format-description", {files.description}},
      {"--output-description", {files.description}},
      {"--debug-directory", {source + "tests/golden"}},
      {"--debug-file", programs},
      {"KIND", {"Function", "Call", "HIT", "Row", "Problem"}},
      {"--scheme", {"branches", "returns"}},
      {"N", {"0", "1", "2", "1000"}},
      {"NS", {"0", "1000"}},
      {"DURATION", {"0", "10us", "1s"}},
      {"TIME", {"0", "5us"}},
      {"--fields", {"function,self_share,calls", "id"}},
      {"UINT", {"0", "1", "5"}},
      {"P", {"0", "50"}},
      {"BIN", programs},
      {"GLOB", {"*", "?*e*"}},
      {"SYMBOL", {"main", "no such"}},
      {"[PID[.N]:]TID", {"1", "0:0x5", "0x50000001", "1.2:3"}},
      {"FROM..TO", {"..", "0..10us", "1us..", "0-1", "-10us..", "0..-1us"}},
      {"OBJECT,...", {"0x60000000,0x60000010", "1"}},
      {"S:SIZE|T:PART", {"S:1", "S:1000", "T:e"}},
  };
  for (const std::string& key : {option, words.value}) {
    if (const auto found = values.find(key); found != values.end()) return found->second;
  }
  std::fprintf(stderr, "tests/support/verb_command_lines.h has no value for %s %s\n",
               option.c_str(), words.value.c_str());
  std::abort();
}

inline VerbToTry::Option option_of(const CLI::Option& option, const cli::OptionWords& words,
                                   const VerbFiles& files) {
  VerbToTry::Option made;
  made.name = option.get_name();
  if (words.is_flag()) {
    made.uses.push_back({made.name});
    return made;
  }
  for (const std::string& value : values_of(made.name, words, files))
    made.uses.push_back({made.name, value});
  made.chooses = !words.choices.empty() || made.name == "--reports";
  return made;
}

// Combines each form with each of these endings.
inline void add_endings(const std::vector<Words>& endings, std::vector<Words>& forms) {
  std::vector<Words> all;
  for (const Words& ending : endings) {
    for (const Words& form : forms) {
      all.push_back(form);
      all.back().insert(all.back().end(), ending.begin(), ending.end());
    }
  }
  forms = std::move(all);
}

inline std::vector<Words> values_of_position(const CLI::Option& option, const VerbFiles& files) {
  static const std::map<std::string, std::string> kValues = {{"SECTION", ".debug_site_info"},
                                                             {"ID", "samples"},
                                                             {"SPARSITY", "2"},
                                                             {"SEED", "1"},
                                                             {"FUNCTION", "*"}};
  const std::string name = option.get_name();
  if (const auto found = kValues.find(name); found != kValues.end()) return {{found->second}};
  if (name != "FILE" && name != "BIN") {
    std::fprintf(stderr, "tests/support/verb_command_lines.h has no value for %s\n", name.c_str());
    std::abort();
  }
  const auto least = static_cast<size_t>(std::max(option.get_items_expected_min(), 1));
  std::vector<Words> values = {Words(least, files.recording)};
  if (least == 1 && option.get_items_expected_max() > 1) {  // several are read as one
    values.push_back({files.recording, files.recording});
    values.push_back(
        {std::string(kSourceFolder) + "/tests/golden/sampler/all_schemes.sites", files.recording});
  }
  return values;
}

inline VerbToTry verb_of(const CLI::App& app, const VerbFiles& files) {
  VerbToTry verb{.name = app.get_name(), .forms = {{app.get_name()}}, .options = {}};
  const cli::VerbWords words = cli::words_of(app);
  for (const cli::OptionWords& each : words.options) {
    const CLI::Option* option = app.get_option(each.names().back());
    const std::string name = option->get_name();
    if (std::ranges::find(kOptionsNotTried, name) != kOptionsNotTried.end()) continue;
    VerbToTry::Option made = option_of(*option, each, files);
    if (each.required) {
      add_endings(made.uses, verb.forms);
    } else {
      verb.options.push_back(std::move(made));
    }
  }
  for (const cli::OptionWords& each : words.positions)
    add_endings(values_of_position(*app.get_option(each.position), files), verb.forms);
  return verb;
}

}  // namespace verb_command_lines

// Every verb that answers about a file, with all its options.
inline std::vector<VerbToTry> verbs_to_try(const VerbFiles& files) {
  using verb_command_lines::kNotTried;
  CLI::App app("telltale", "telltale");
  int status = 0;
  cli::add_all_verbs(cli::Command(app), status);
  std::vector<VerbToTry> verbs;
  for (CLI::App* verb : app.get_subcommands({})) {
    const auto same = [verb](const auto& skipped) { return skipped.first == verb->get_name(); };
    if (std::ranges::none_of(kNotTried, same))
      verbs.push_back(verb_command_lines::verb_of(*verb, files));
  }
  return verbs;
}

}  // namespace telltale::testing
