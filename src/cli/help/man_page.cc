#include "cli/help/man_page.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "cli/version.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

// An argument of a macro.
std::string roff_quoted(std::string_view text) { return "\"" + roff(text) + "\""; }

std::string sentence(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (!text.ends_with('.') && !text.ends_with('?')) text += ".";
  }
  return text;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string synopsis(const VerbWords& verb) {
  std::string text = ".SH SYNOPSIS\n" + bold(verb.command()) + " ";
  std::istringstream words(verb.arguments());
  bool first = true;
  for (std::string word; words >> word; first = false) {
    text += (first ? "" : " ") + (word.starts_with('-') ? bold(word) : italic(word));
  }
  return text + "\n";
}

std::string option_tag(const OptionWords& option) {
  std::string text;
  for (const std::string& name : option.names()) text += (text.empty() ? "" : ", ") + bold(name);
  if (!option.is_flag()) text += " " + italic(option.value);
  return text;
}

std::string man_entry(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + roff(text) + "\n";
}

std::string options(const VerbWords& verb) {
  std::string text = ".SH OPTIONS\n";
  for (const OptionWords& option : verb.options) {
    std::string description = sentence(full_description(option));
    if (option.required) description += " Required.";
    if (option.repeatable) description += " May be given more than once.";
    text += man_entry(option_tag(option), description);
  }
  return text;
}

std::string description(const VerbWords& verb) {
  std::string text = ".SH DESCRIPTION\n" + roff(sentence(verb.description)) + "\n";
  for (const OptionWords& position : verb.positions) {
    text += man_entry(italic(position.position + (position.repeatable ? "..." : "")),
                      sentence(full_description(position)));
  }
  if (!verb.footer.empty()) {
    text += ".PP\n.nf\n";
    std::istringstream lines(verb.footer);
    for (std::string line; std::getline(lines, line);) text += roff(line) + "\n";
    text += ".fi\n";
  }
  if (!verb.verbs.empty()) {
    text += ".SH VERBS\n";
    for (const VerbWords& each : verb.verbs)
      text += man_entry(bold(each.name), sentence(each.description));
  }
  return text;
}

std::string examples(const VerbWords& verb) {
  std::string text = verb.examples.empty() ? "" : ".SH EXAMPLES\n";
  for (const Example& example : verb.examples)
    text += man_entry(bold(example.command), sentence(std::string(example.meaning)));
  return text;
}

std::string see_also(const VerbWords& all, const VerbWords& verb) {
  std::string text = ".SH \"SEE ALSO\"\n";
  std::vector<std::string> names;
  if (!verb.name.empty()) names.push_back(man_page_name(all));
  for (const VerbWords& other : all.verbs) {
    if (other.name != verb.name) names.push_back(man_page_name(other));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", roff(names[i]), i + 1 == names.size() ? "" : ",");
  }
  return text;
}

}  // namespace

std::string roff(std::string_view text) {
  // roff interprets a control character only at the start of a line; the empty escape \& before it
  // prevents that.
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  while (!text.empty()) {
    const TextPiece piece = first_character(text);
    text.remove_prefix(piece.bytes);
    switch (piece.code_point) {
      case '\\':
        out += "\\(rs";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        if (piece.code_point >= 0x80) {
          out += fmt::format("\\[u{:04X}]", piece.code_point);
        } else if (piece.code_point < 0x20 || piece.code_point == 0x7F) {
          out += ' ';
        } else {
          out += static_cast<char>(piece.code_point);
        }
    }
  }
  return out;
}

std::string man_page_name(const VerbWords& verb) {
  return verb.name.empty() ? "telltale" : "telltale-" + verb.name;
}

std::string man_page(const VerbWords& all, const VerbWords& verb) {
  const std::string name = man_page_name(verb);
  std::string title;
  for (const char c : name) title += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // No date, so that the pages of a version are reproducible.
  std::string text = fmt::format(".TH {} 1 \"\" {} {}\n", roff_quoted(title),
                                 roff_quoted(fmt::format("telltale {}", version_number())),
                                 roff_quoted("telltale manual"));
  text += ".nh\n.ad l\n";
  // makewhatis reads "NAME \- text", so the text does not repeat "telltale:".
  std::string summary = verb.description;
  if (summary.starts_with("telltale: ")) summary.erase(0, 10);
  text += ".SH NAME\n" + roff(name) + " \\- " + roff(summary) + "\n";
  text += synopsis(verb) + description(verb) + options(verb) + examples(verb);
  text += ".SH \"EXIT STATUS\"\n";
  for (const ExitStatusWords& each : kExitStatusWords)
    text += man_entry(bold(std::to_string(each.status)), each.text);
  return text + see_also(all, verb);
}

}  // namespace telltale::cli
