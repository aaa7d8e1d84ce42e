#include "cli/help/command_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "base/joined.h"
#include "base/sort_rows.h"
#include "cli/verbs/verbs.h"

namespace telltale::cli {
namespace {

// CLI11 exposes a value's validators only as text after its name: "NAME:{a,b,c}" for a set,
// "NAME:UINT in [1 - 9]" for a range.
void read_type(std::string type, OptionWords& words) {
  if (const size_t set = type.find(":{"); set != std::string::npos && type.ends_with('}')) {
    std::string_view rest = std::string_view(type).substr(set + 2);
    rest.remove_suffix(1);
    while (true) {
      const size_t comma = rest.find(',');
      words.choices.emplace_back(rest.substr(0, comma));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    type.resize(set);
  }
  if (const size_t in = type.find(" in ["); in != std::string::npos && type.ends_with(']')) {
    words.range = type.substr(in + 5, type.size() - in - 6);
    if (const size_t dash = words.range.find(" - "); dash != std::string::npos)
      words.range.replace(dash, 3, " to ");
    type.resize(type.rfind(':', in));
  }
  words.value = std::move(type);
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  words.shorts = option.get_snames();
  words.longs = option.get_lnames();
  if (option.get_positional()) words.position = option.get_name(true);
  if (option.get_type_size() != 0 && option.get_expected_max() != 0)
    read_type(option.get_type_name(), words);
  words.preset = option.get_default_str();
  words.description = option.get_description();
  words.required = option.get_required();
  words.repeatable = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  for (const CLI::Option* other : option.get_excludes()) {
    words.excludes.push_back(other->get_name());
  }
  sort_rows(words.excludes);  // CLI11 orders them by address
  return words;
}

}  // namespace

const std::array<ExitStatusWords, 5> kExitStatusWords = {{
    {kDone, "Done."},
    {kFinding,
     "Done, and what was asked for was found: check found a violation, or diff exceeded its gate."},
    {kUsage, "The command line is invalid."},
    {kUnreadable, "An input could not be read at all, or the output could not be written."},
    {kDamaged, "With --strict: part of the input is damaged or lost, or `check` finds it invalid."},
}};

bool OptionWords::takes_file() const {
  static constexpr std::string_view kNoFiles[] = {
      "N",    "P",    "[PID[.N]:]TID", "FROM..TO", "GLOB", "UINT",     "INT",       "FLOAT",
      "VERB", "SIZE", "NAME",          "TIME",     "TOOL", "DURATION", "KEY=VALUE", "COLUMN,..."};
  return !is_flag() && choices.empty() && std::ranges::find(kNoFiles, value) == std::end(kNoFiles);
}

std::vector<std::string> OptionWords::names() const {
  std::vector<std::string> all;
  for (const std::string& name : shorts) all.push_back("-" + name);
  for (const std::string& name : longs) all.push_back("--" + name);
  return all;
}

std::vector<VerbWords> VerbWords::listed_verbs() const {
  std::vector<VerbWords> listed;
  std::ranges::copy_if(verbs, std::back_inserter(listed),
                       [](const VerbWords& verb) { return !verb.group.empty(); });
  return listed;
}

std::string VerbWords::command() const { return name.empty() ? "telltale" : "telltale " + name; }

std::string VerbWords::arguments() const {
  std::string text = "[OPTIONS]";
  for (const OptionWords& option : options) {
    if (option.required) text += " " + option.names().front() + " " + option.value;
  }
  for (const OptionWords& position : positions) {
    const std::string shown = position.position + (position.repeatable ? "..." : "");
    text += position.required ? " " + shown : " [" + shown + "]";
  }
  if (!verbs.empty()) text += " VERB ...";
  return text;
}

VerbWords words_of(const Command& command) { return words_of(command.app()); }

VerbWords words_of(const CLI::App& app) {
  VerbWords words;
  if (app.get_parent() != nullptr) words.name = app.get_name();
  words.description = app.get_description();
  words.group = app.get_group();
  words.footer = app.get_footer();
  words.examples = examples_of(words.name);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? words.positions : words.options).push_back(words_of(*option));
  }
  for (const CLI::App* verb : app.get_subcommands({})) words.verbs.push_back(words_of(*verb));
  return words;
}

std::string full_description(const OptionWords& option) {
  std::string text = option.description;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!option.choices.empty()) add("one of: " + joined(option.choices, ", "));
  if (!option.range.empty()) add("from " + option.range);
  if (!option.preset.empty()) add("default: " + option.preset);
  if (!option.excludes.empty()) add("not with " + joined(option.excludes, ", "));
  return text;
}

}  // namespace telltale::cli
