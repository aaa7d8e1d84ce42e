#include "cli/help/help_text.h"

#include <sstream>

namespace telltale::cli {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kExampleIndent = 6;
constexpr size_t kColumn = 24;  // where descriptions begin

// "  NAMES   description"; the description starts on a new line if the names are too long.
std::string entry(const std::string& names, const std::string& description) {
  std::string text = "  " + names;
  if (text.size() + 2 > kColumn) {
    text += "\n" + std::string(kColumn, ' ');
  } else {
    text.resize(kColumn, ' ');
  }
  return text + wrapped(description, kColumn, kColumn, kWidth);
}

std::string option_names(const OptionWords& option) {
  std::string text;
  if (option.shorts.empty()) text = "    ";  // long names are listed one per line
  bool first = true;
  for (const std::string& name : option.names()) {
    text += (first ? "" : ", ") + name;
    first = false;
  }
  if (!option.is_flag()) text += " " + option.value;
  return text;
}

std::string option_description(const OptionWords& option) {
  std::string text = full_description(option);
  if (option.repeatable && option.position.empty()) text += " (repeatable)";
  if (option.required && option.position.empty()) text += " (required)";
  return text;
}

}  // namespace

std::string wrapped(const std::string& text, size_t column, size_t indent, size_t width) {
  std::istringstream words(text);
  std::string out;
  std::string word;
  bool at_start = true;
  while (words >> word) {
    if (!at_start && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      at_start = true;
    }
    out += (at_start ? "" : " ") + word;
    column += word.size() + (at_start ? 0 : 1);
    at_start = false;
  }
  return out + "\n";
}

std::string option_help(const OptionWords& option) {
  const std::string names = option.position.empty()
                                ? option_names(option)
                                : option.position + (option.repeatable ? "..." : "");
  return entry(names, option_description(option));
}

std::string help_text(const VerbWords& words) {
  const std::string usage = "Usage: " + words.command() + " ";
  std::string text = wrapped(words.description, 0, 0, kWidth);
  text += usage + wrapped(words.arguments(), usage.size(), usage.size(), kWidth);
  if (!words.verbs.empty()) {
    std::string group;
    for (const VerbWords& verb : words.listed_verbs()) {
      if (verb.group != group) text += "\n" + verb.group + ":\n";
      group = verb.group;
      text += entry(verb.name, verb.description);
    }
  }
  if (!words.positions.empty()) {
    text += "\nArguments:\n";
    for (const OptionWords& position : words.positions) text += option_help(position);
  }
  text += "\nOptions:\n";
  for (const OptionWords& option : words.options) text += option_help(option);
  if (!words.examples.empty()) text += "\nExamples:\n";
  for (const Example& example : words.examples) {
    text += "  " + std::string(example.command) + "\n" + std::string(kExampleIndent, ' ') +
            wrapped(std::string(example.meaning), kExampleIndent, kExampleIndent, kWidth);
  }
  if (!words.footer.empty()) {
    text += "\n" + words.footer;
    if (!text.ends_with('\n')) text += "\n";
  }
  return text;
}

}  // namespace telltale::cli
