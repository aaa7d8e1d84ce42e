#include "cli/options/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/closest_word.h"

namespace telltale::cli {
namespace {

// CLI11 would read an empty text as 0.
CLI::Option& not_empty(CLI::Option& option) {
  const auto complain = [](const std::string& typed) {
    return typed.empty() ? "needs a value, but got an empty text" : "";
  };
  option.check(CLI::Validator(complain, ""));
  return option;
}

// Whether a text is a decimal number above another one.
bool is_above(std::string_view typed, std::string_view most) {
  if (typed.find_first_not_of("0123456789") != std::string_view::npos) return false;
  typed.remove_prefix(std::min(typed.find_first_not_of('0'), typed.size()));
  return typed.size() == most.size() ? typed > most : typed.size() > most.size();
}

// CLI11's own words for a text that is no number, or too large for T, are "Could not convert". It
// would read "-1" as the largest number of an unsigned type.
template <typename T>
CLI::Option& number(CLI::Option& option) {
  not_empty(option);
  const auto complain = [](const std::string& typed) -> std::string {
    if (std::is_unsigned_v<T> && typed.starts_with('-'))
      return "needs a number that is not negative, but got " + typed;
    T value{};
    const bool is_read = CLI::detail::lexical_cast(typed, value);
    if constexpr (std::is_integral_v<T>) {
      const std::string most = std::to_string(std::numeric_limits<T>::max());
      if (is_above(typed, most)) return "needs a number of at most " + most + ", but got " + typed;
      return is_read ? "" : "needs a whole number, but got " + typed;
    }
    return is_read ? "" : "needs a number, but got " + typed;
  };
  option.check(CLI::Validator(complain, ""));
  return option;
}

}  // namespace

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::description(const std::string& text) {
  option_->description(text);
  return *this;
}

Option& Option::add_to_description(const std::string& text) {
  return description(option_->get_description() + text);
}

Option& Option::group(const std::string& name) {
  option_->group(name);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::optional() {
  option_->required(false);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  const CLI::Validator member = CLI::IsMember(values);
  CLI::Validator check = member;
  check.operation([member, values](std::string& typed) {
    const std::string complaint = member(typed);
    return complaint.empty() ? complaint : complaint + did_you_mean(typed, values);
  });
  option_->check(check);
  return *this;
}

Option& Option::one_of_numbers(const std::vector<int>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::in_range(uint64_t least, uint64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::in_range(double least, double most) {
  option_->check(CLI::Range(least, most));
  // A range check lets NaN pass: it is neither below nor above any limit.
  const auto complain = [](const std::string& typed) {
    double value = 0;
    const bool is_nan = CLI::detail::lexical_cast(typed, value) && std::isnan(value);
    return is_nan ? "needs a number, but got " + typed : "";
  };
  option_->check(CLI::Validator(complain, ""));
  return *this;
}

Option& Option::check(std::function<std::string(const std::string&)> find_fault) {
  option_->check(CLI::Validator(
      [find = std::move(find_fault)](const std::string& typed) { return find(typed); }, ""));
  return *this;
}

void Option::supply(const std::string& value) {
  option_->add_result(value);
  option_->run_callback();
}

Option& Option::expected(int values) {
  option_->expected(values);
  return *this;
}

Option& Option::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::excludes(const std::string& name) {
  option_->excludes(name);
  return *this;
}

Option& Option::needs(const std::string& name) {
  option_->needs(name);
  return *this;
}

size_t Option::count() const { return option_->count(); }

Command Command::add_verb(const std::string& name, const std::string& description) {
  return Command(*app_->add_subcommand(name, description));
}

Command Command::verb(const std::string& name) const {
  return Command(*app_->get_subcommand(name));
}

void Command::group(const std::string& heading) { app_->group(heading); }

Option Command::add_option(const std::string& names, std::string& value,
                           const std::string& description) {
  CLI::Option& option = *app_->add_option(names, value, description);
  // To the verbs an empty text is an option that was not given; arguments have their own words.
  return Option(names.starts_with('-') ? not_empty(option) : option);
}

Option Command::add_option(const std::string& names, std::vector<std::string>& values,
                           const std::string& description) {
  return Option(*app_->add_option(names, values, description));
}

Option Command::add_option(const std::string& names, int& value, const std::string& description) {
  return Option(number<int>(*app_->add_option(names, value, description)));
}

Option Command::add_option(const std::string& names, uint16_t& value,
                           const std::string& description) {
  return Option(number<uint16_t>(*app_->add_option(names, value, description)));
}

Option Command::add_option(const std::string& names, uint64_t& value,
                           const std::string& description) {
  return Option(number<uint64_t>(*app_->add_option(names, value, description)));
}

Option Command::add_option(const std::string& names, std::optional<uint64_t>& value,
                           const std::string& description) {
  return Option(number<uint64_t>(*app_->add_option(names, value, description)));
}

Option Command::add_option(const std::string& names, double& value,
                           const std::string& description) {
  return Option(number<double>(*app_->add_option(names, value, description)));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return Option(*app_->add_flag(names, value, description));
}

Option Command::add_flag_with_value(const std::string& names, std::string& value,
                                    const std::string& description) {
  return Option(*app_->add_flag(names, value, description));
}

Option Command::option(const std::string& name) const { return Option(*app_->get_option(name)); }

void Command::end_options_at_positionals() { app_->positionals_at_end(); }

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::before_callback(std::function<void()> run) {
  app_->parse_complete_callback(std::move(run));
}

void Command::callback(std::function<void()> run) { app_->callback(std::move(run)); }

std::string Command::name() const { return app_->get_name(); }

}  // namespace telltale::cli
