#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "cli/help/verb_examples.h"
#include "cli/options/command.h"

namespace telltale::cli {

// A plain description of the command line. Help, manual pages and completion are generated from it;
// it is read from the CLI11 app that parses the command line.

struct OptionWords {
  std::vector<std::string> shorts;   // without "-"
  std::vector<std::string> longs;    // without "--"
  std::string position;              // a positional's name; empty for options
  std::string value;                 // name of the value; empty for a flag
  std::vector<std::string> choices;  // all permitted values; empty: any
  std::string range;                 // "0 to 100", for numbers with limits
  std::string preset;                // default value; empty: not shown
  std::string description;
  std::vector<std::string> excludes;  // names of options that exclude it, with dashes
  bool required = false;
  bool repeatable = false;

  [[nodiscard]] bool is_flag() const { return value.empty(); }
  // Whether completion should offer file names as the value.
  [[nodiscard]] bool takes_file() const;
  // Dashes included, short ones first.
  [[nodiscard]] std::vector<std::string> names() const;
};

struct VerbWords {
  std::string name;         // empty: telltale itself
  std::string description;  // one line
  std::string group;        // heading in the list of verbs; empty: not listed
  std::vector<OptionWords> positions;
  std::vector<OptionWords> options;
  std::string footer;  // preformatted lines
  std::span<const Example> examples;
  std::vector<VerbWords> verbs;  // of telltale itself

  // Those that help and completion offer.
  [[nodiscard]] std::vector<VerbWords> listed_verbs() const;
  // "telltale top"
  [[nodiscard]] std::string command() const;
  // "[OPTIONS] -o FILE FILE..."
  [[nodiscard]] std::string arguments() const;
};

// The words of telltale itself, or of one verb.
VerbWords words_of(const Command& command);
VerbWords words_of(const CLI::App& app);

// The description of an option with its choices, range, default and exclusions.
std::string full_description(const OptionWords& option);

struct ExitStatusWords {
  int status;
  const char* text;
};
extern const std::array<ExitStatusWords, 5> kExitStatusWords;

}  // namespace telltale::cli
