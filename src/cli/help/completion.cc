#include "cli/help/completion.h"

#include <fmt/format.h>

#include <vector>

#include "base/joined.h"

namespace telltale::cli {
namespace {

// Quotes for a shell with single quotes. fish and POSIX shells agree on all characters of our
// descriptions.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<std::string> option_names(const VerbWords& verb) {
  std::vector<std::string> names;
  for (const OptionWords& option : verb.options) {
    const std::vector<std::string> own = option.names();
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

// Completes by the previous word: known values, otherwise files; then options and verbs.
std::string bash_script(const VerbWords& all) {
  std::string out =
      "_telltale() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
      "verb=${COMP_WORDS[1]} words=\n"
      "  COMPREPLY=()\n"
      "  [[ $verb == record ]] && verb=run\n"
      // The words after `--` are those of another command.
      "  local at typed=${word#[\\\"\\']}\n"
      "  for ((at = 2; at < COMP_CWORD; ++at)); do\n"
      "    [[ ${COMP_WORDS[at]} == -- ]] || continue\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"${typed//\\\\/}\")\n"
      "    return\n"
      "  done\n"
      "  if ((COMP_CWORD == 1)); then\n";
  std::vector<std::string> first = option_names(all);
  for (const VerbWords& verb : all.listed_verbs()) first.push_back(verb.name);
  out += fmt::format("    COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n    return\n  fi\n",
                     joined(first, " "));
  out += "  case $verb:$before in\n";
  for (const VerbWords& verb : all.listed_verbs()) {
    for (const OptionWords& option : verb.options) {
      if (option.choices.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names()) patterns.push_back(verb.name + ":" + name);
      out += fmt::format(
          "    {})\n      COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n      return ;;\n",
          joined(patterns, "|"), joined(option.choices, " "));
    }
  }
  out += "  esac\n  case $verb in\n";
  for (const VerbWords& verb : all.listed_verbs()) {
    std::vector<std::string> words = option_names(verb);
    for (const OptionWords& position : verb.positions) {
      words.insert(words.end(), position.choices.begin(), position.choices.end());
    }
    out += fmt::format("    {}) words='{}' ;;\n", verb.name, joined(words, " "));
  }
  out +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      // Without the quotes that were typed; names may have blanks.
      "  if [[ $word != -* ]]; then\n"
      "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"${typed//\\\\/}\")\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _telltale telltale\n";
  return out;
}

std::string fish_script(const VerbWords& all) {
  std::string out;
  const auto add = [&out](const std::string& condition, const OptionWords& option) {
    out += fmt::format("complete -c telltale -n '{}'", condition);
    for (const std::string& name : option.shorts) out += " -s " + name;
    for (const std::string& name : option.longs) out += " -l " + name;
    if (!option.is_flag()) out += option.takes_file() ? " -r" : " -x";
    if (!option.choices.empty()) out += fmt::format(" -a '{}'", joined(option.choices, " "));
    out += " -d " + single_quoted(option.description) + "\n";
  };
  for (const OptionWords& option : all.options) add("__fish_use_subcommand", option);
  for (const VerbWords& verb : all.listed_verbs()) {
    out += fmt::format("complete -c telltale -f -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       single_quoted(verb.description));
    const std::string chosen = "__fish_seen_subcommand_from " + verb.name;
    for (const OptionWords& option : verb.options) add(chosen, option);
    for (const OptionWords& position : verb.positions) {
      if (position.choices.empty()) continue;
      out += fmt::format("complete -c telltale -f -n '{}' -a '{}'\n", chosen,
                         joined(position.choices, " "));
    }
  }
  return out;
}

// A word in a specification of zsh's _arguments or _describe, inside single quotes.
std::string zsh_word(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_values(const OptionWords& option) {
  if (option.is_flag()) return "";
  std::string values = ":" + zsh_word(option.value) + ":";
  if (!option.choices.empty()) return values + fmt::format("({})", joined(option.choices, " "));
  return option.takes_file() ? values + "_files" : values + " ";
}

// For a file `_telltale` in a folder of $fpath, and for `source`.
std::string zsh_script(const VerbWords& all) {
  std::string out =
      "#compdef telltale\n"
      "_telltale() {\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a verbs=(\n";
  for (const VerbWords& verb : all.listed_verbs())
    out += fmt::format("      '{}:{}'\n", verb.name, zsh_word(verb.description));
  out +=
      "    )\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $verb in\n";
  for (const VerbWords& verb : all.listed_verbs()) {
    out += fmt::format("    {}) _arguments", verb.name);
    for (const OptionWords& option : verb.options) {
      for (const std::string& name : option.names()) {
        out += fmt::format(" \\\n      '{}{}[{}]{}'", option.repeatable ? "*" : "", name,
                           zsh_word(option.description), zsh_values(option));
      }
    }
    bool any = false;
    for (const OptionWords& position : verb.positions) {
      out += fmt::format(" \\\n      '{}{}'", position.repeatable ? "*" : "", zsh_values(position));
      any = any || position.repeatable;
    }
    if (!any) out += " \\\n      '*:file:_files'";
    out += " ;;\n";
  }
  return out +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _telltale ]]; then _telltale \"$@\"; else compdef _telltale "
         "telltale; "
         "fi\n";
}

}  // namespace

std::string completion_script(std::string_view shell, const VerbWords& all) {
  if (shell == "fish") return fish_script(all);
  if (shell == "zsh") return zsh_script(all);
  return bash_script(all);
}

}  // namespace telltale::cli
