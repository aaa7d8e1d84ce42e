#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// CLI11 parses the command line. Its headers cost six seconds of compiling, so this header and a
// few sources stand between it and the verbs.
namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
class Option;
}  // namespace CLI

namespace telltale::cli {

// An option, flag or positional argument of a command. A handle: a copy is the same option.
// Each member function returns this handle, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  // What help calls the value, and what it says of the option.
  Option& type_name(const std::string& name);
  Option& description(const std::string& text);
  // Help lists it under this heading.
  Option& group(const std::string& name);
  // Help shows the value that the variable has now as the default.
  Option& show_default();

  Option& required();
  Option& one_of(const std::vector<std::string>& values);
  Option& one_of_numbers(const std::vector<int>& values);
  Option& in_range(uint64_t least, uint64_t most);
  Option& in_range(double least, double most);
  // Takes exactly so many values.
  Option& expected(int values);
  // For an option that can be repeated: it takes one value each time, and what follows is something
  // else.
  Option& one_value_each();
  // The command line may not have both. By name: "--json", or a positional's name.
  Option& excludes(const Option& other);
  Option& excludes(const std::string& name);

  // The command line must have the other one too, which was added before.
  Option& needs(const std::string& name);

  // How often the command line has it; 0 before it was parsed.
  [[nodiscard]] size_t count() const;

 private:
  CLI::Option* option_;
};

// Telltale itself, or one of its verbs. A handle: a copy is the same command.
//
// Variables that options are bound to must live until the command line was parsed and the callback
// has returned.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_verb(const std::string& name, const std::string& description);

  // `names` is "-o,--output", or a positional's name.
  Option add_option(const std::string& names, std::string& value, const std::string& description);
  Option add_option(const std::string& names, std::vector<std::string>& values,
                    const std::string& description);
  Option add_option(const std::string& names, int& value, const std::string& description);
  Option add_option(const std::string& names, uint16_t& value, const std::string& description);
  Option add_option(const std::string& names, uint64_t& value, const std::string& description);
  Option add_option(const std::string& names, std::optional<uint64_t>& value,
                    const std::string& description);
  Option add_option(const std::string& names, double& value, const std::string& description);
  Option add_flag(const std::string& names, bool& value, const std::string& description);
  // REQUIRES: an option of that name was added.
  [[nodiscard]] Option option(const std::string& name) const;

  // The first positional ends the options: what follows belongs to it.
  void end_options_at_positionals();
  // Lines below the help text, laid out by hand.
  void footer(const std::string& text);
  // Runs when the command line has chosen this command.
  void callback(std::function<void()> run);

  [[nodiscard]] std::string name() const;  // of the verb
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace telltale::cli
