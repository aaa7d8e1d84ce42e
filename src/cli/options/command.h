#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A thin layer over CLI11, whose headers take six seconds to compile: only a few sources include
// them.
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

  // Name of the value and description of the option in the help.
  Option& type_name(const std::string& name);
  Option& description(const std::string& text);
  Option& add_to_description(const std::string& text);
  // Heading under which help lists it.
  Option& group(const std::string& name);
  // Makes help show the variable's current value as the default.
  Option& show_default();

  Option& required();
  Option& optional();  // undoes required()
  Option& one_of(const std::vector<std::string>& values);
  Option& one_of_numbers(const std::vector<int>& values);
  Option& in_range(uint64_t least, uint64_t most);
  Option& in_range(double least, double most);  // not NaN
  // `find_fault` gets each value while the command line is read, before needs() and excludes() are
  // checked; a text that is not empty is an error.
  Option& check(std::function<std::string(const std::string&)> find_fault);
  // Acts as if the command line had this option, too. Call from check() only. A flag's value is
  // "true".
  void supply(const std::string& value);
  // The option takes exactly this many values.
  Option& expected(int values);
  // For a repeatable option: it takes one value each time instead of all that follow.
  Option& one_value_each();
  // Both together are an error. By name: "--json", or a positional's name.
  Option& excludes(const Option& other);
  Option& excludes(const std::string& name);

  // The command line must have the other one too, which was added before.
  Option& needs(const std::string& name);

  // Number of occurrences on the command line; 0 before parsing.
  [[nodiscard]] size_t count() const;

 private:
  CLI::Option* option_;
};

// Telltale itself, or one of its verbs. A handle: a copy is the same command.
//
// Variables bound to options must outlive parsing and the callback.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_verb(const std::string& name, const std::string& description);

  // REQUIRES: a verb of that name was added.
  [[nodiscard]] Command verb(const std::string& name) const;
  // Heading under which help lists this verb; empty: help does not list it.
  void group(const std::string& heading);

  // `names` is "-o,--output", or a positional's name. An empty value of an option that takes one is
  // an error: a variable of the shell that is not set.
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
  // A flag that may have a value, written --name=VALUE; without one `value` is "true".
  Option add_flag_with_value(const std::string& names, std::string& value,
                             const std::string& description);
  // REQUIRES: an option of that name was added.
  [[nodiscard]] Option option(const std::string& name) const;

  // The first positional argument ends the options; all following arguments belong to it.
  void end_options_at_positionals();
  // Preformatted lines below the help text.
  void footer(const std::string& text);
  // Runs before the callback, when the command's options are known.
  void before_callback(std::function<void()> run);
  // Runs if the command line selects this command.
  void callback(std::function<void()> run);

  [[nodiscard]] std::string name() const;  // of the verb
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace telltale::cli
