#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/options/command.h"

namespace telltale::cli {

// What the command line offers, in plain words: help, manual pages and completion are all written
// from this, and this is read from the CLI11 app that also parses.

struct OptionWords {
  std::vector<std::string> shorts;   // without "-"
  std::vector<std::string> longs;    // without "--"
  std::string position;              // a positional's name; empty for options
  std::string value;                 // what the value is called; empty for a flag
  std::vector<std::string> choices;  // all values there are; empty: any
  std::string range;                 // "0 to 100", for numbers with limits
  std::string preset;                // the value without the option; empty: says nothing
  std::string description;
  std::vector<std::string> excludes;  // names of options that cannot go with it, dashes included
  bool required = false;
  bool repeatable = false;

  [[nodiscard]] bool is_flag() const { return value.empty(); }
  // The value may be a file's name, as far as completion is concerned.
  [[nodiscard]] bool takes_file() const;
  // Dashes included, short ones first.
  [[nodiscard]] std::vector<std::string> names() const;
};

struct VerbWords {
  std::string name;         // empty: telltale itself
  std::string description;  // one line
  std::vector<OptionWords> positions;
  std::vector<OptionWords> options;
  std::string footer;            // lines laid out by hand
  std::vector<VerbWords> verbs;  // of telltale itself

  // "telltale top"
  [[nodiscard]] std::string command() const;
  // "[OPTIONS] -o FILE FILE..."
  [[nodiscard]] std::string arguments() const;
};

// The words of telltale itself, or of one verb.
VerbWords words_of(const Command& command);
VerbWords words_of(const CLI::App& app);

// The description of an option with what the app knows besides: choices, range, preset, exclusions.
std::string full_description(const OptionWords& option);

struct ExitStatusWords {
  int status;
  const char* text;
};
extern const std::array<ExitStatusWords, 5> kExitStatusWords;

}  // namespace telltale::cli
