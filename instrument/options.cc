#include "options.h"

#include <fnmatch.h>

#include <charconv>
#include <fstream>

namespace telltale::instrument {
namespace {

constexpr const char* kWhitespace = " \t\r";

template <typename Number>
bool is_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

bool parse_reset_point(std::string_view line, Options& options) {
  const std::size_t gap = line.find_last_of(kWhitespace);
  if (gap == std::string_view::npos) return false;
  FilterRule point{true, std::string(line.substr(0, line.find_last_not_of(kWhitespace, gap) + 1)),
                   0};
  if (!is_number(line.substr(gap + 1), point.line) || point.line == 0 || point.name.empty())
    return false;
  options.reset_points.push_back(std::move(point));
  return true;
}

bool parse_scale(std::string_view line, Options& options) {
  constexpr unsigned kMost = 1000000;
  const std::size_t first = line.find('\t');
  const std::size_t second = line.find('\t', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || first == 0) return false;
  Scale scale{std::string(line.substr(0, first)), 0, 0};
  const std::string_view node = line.substr(first + 1, second - first - 1);
  if (node == "*") {
    scale.node.reset();
  } else if (scale.function == "*" || !is_number(node, *scale.node)) {
    return false;
  }
  if (!is_number(line.substr(second + 1), scale.weight) || scale.weight > kMost) return false;
  options.scales.push_back(std::move(scale));
  return true;
}

// Parses the lines of a file that are not empty, and appends its text to `all`.
template <typename Parse>
std::optional<std::string> read_lines(const std::string& name, const std::string& wanted,
                                      const Parse& parse, std::string& all) {
  if (name.empty()) return std::nullopt;
  std::ifstream file(name);
  if (!file) return "cannot read " + name;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    all += line + '\n';
    line.erase(line.find_last_not_of(kWhitespace) + 1);
    if (!line.empty() && !parse(line)) return name + ":" + std::to_string(number) + ": " + wanted;
  }
  return std::nullopt;
}

}  // namespace

bool Options::any_scheme() const {
  for (const bool on : schemes) {
    if (on) return true;
  }
  return false;
}

bool Options::has_access_scheme() const {
  return has(Scheme::kData) || has(Scheme::kYields) || has(Scheme::kAtoms) ||
         has(Scheme::kCompareSwap) || has(Scheme::kAtomsRw);
}

bool Options::observes_first() const {
  return adaptive && sample && uses_region_sampling() && !timestamp_first && !timestamp_last &&
         !trace_sites && !has_access_scheme() && !has(Scheme::kGObjectUnref);
}

namespace {

// A name that has * or ? is a pattern; the published text has * alone, for any.
bool fits(const std::string& pattern, std::string_view name) {
  if (pattern == name) return true;
  if (pattern.find_first_of("*?") == std::string::npos) return false;
  std::string escaped;
  for (const char c : pattern) {
    if (c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return ::fnmatch(escaped.c_str(), std::string(name).c_str(), 0) == 0;
}

}  // namespace

bool Options::wants_function(std::string_view name) const {
  for (const FilterRule& rule : function_filters) {
    if (fits(rule.name, name)) return rule.include;
  }
  return true;
}

bool Options::wants_location(std::string_view file, unsigned line) const {
  for (const FilterRule& rule : location_filters) {
    if (fits(rule.name, file) && (rule.line == 0 || rule.line == line)) return rule.include;
  }
  return true;
}

std::optional<std::string> read_files(Options& options) {
  const auto point = [&](std::string_view line) { return parse_reset_point(line, options); };
  const auto scale = [&](std::string_view line) { return parse_scale(line, options); };
  std::optional<std::string> error = read_lines(
      options.reset_file, "a line must have the form FILE LINE", point, options.signature_input);
  if (error) return error;
  return read_lines(options.scales_file, "a line must have the form FUNCTION<TAB>NODE<TAB>COST",
                    scale, options.signature_input);
}

}  // namespace telltale::instrument
