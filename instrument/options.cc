#include "options.h"

#include <charconv>
#include <fstream>

namespace telltale::instrument {
namespace {

constexpr std::array<SchemeFacts, kSchemes> kFacts = {{{"scalar-pairs", 3},
                                                       {"coverage", 1},
                                                       {"data", 1},
                                                       {"yields", 2},
                                                       {"atoms", 2},
                                                       {"branches", 2},
                                                       {"bounds", 2},
                                                       {"function-entries", 1},
                                                       {"returns", 3},
                                                       {"float-kinds", 9},
                                                       {"g-object-unref", 4},
                                                       {"fun-reentries", 2},
                                                       {"compare-swap", 2},
                                                       {"atoms-rw", 2}}};

struct Toggle {
  std::string_view name;
  bool Options::* field;
};
constexpr std::array<Toggle, 34> kToggles = {{
    {"sample-regions", &Options::sample_regions},
    {"sample-turns", &Options::sample_turns},
    {"sample", &Options::sample},
    {"balance-paths", &Options::balance_paths},
    {"threads", &Options::threads},
    {"cache-countdown", &Options::cache_countdown},
    {"predict-checks", &Options::predict_checks},
    {"specialize-empty-regions", &Options::specialize_empty_regions},
    {"specialize-singleton-regions", &Options::specialize_singleton_regions},
    {"specialise-empty-regions", &Options::specialize_empty_regions},
    {"specialise-singleton-regions", &Options::specialize_singleton_regions},
    {"assume-weighty-externs", &Options::assume_weighty_externs},
    {"assume-weighty-interns", &Options::assume_weighty_interns},
    {"assume-weighty-libraries", &Options::assume_weighty_libraries},
    {"compare-constants", &Options::compare_constants},
    {"assign-across-pointer", &Options::assign_across_pointer},
    {"assign-into-field", &Options::assign_into_field},
    {"assign-into-index", &Options::assign_into_index},
    {"rename-locals", &Options::rename_locals},
    {"relative-paths", &Options::relative_paths},
    {"timestamp-first", &Options::timestamp_first},
    {"timestamp-last", &Options::timestamp_last},
    {"show-stats", &Options::show_stats},
    {"trace-sites", &Options::trace_sites},
    {"sampler-implications", &Options::implications},
    {"use-points-to", &Options::use_points_to},
    {"annotate-sites", &Options::annotate_sites},
    {"add-blast-markers", &Options::add_blast_markers},
    {"sampler-dataflow", &Options::dataflow},
    {"save-dataflow-fields", &Options::dataflow_fields},
    {"isolate-shared-accesses", &Options::isolate_shared_accesses},
    {"sampler-system-headers", &Options::system_headers},
    {"sampler-normal-form", &Options::normal_form},
    {"compare-uninitialized", &Options::compare_uninitialized},
}};

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void choose_scheme(std::string_view name, Options& options, std::optional<std::string>& error) {
  for (std::size_t i = 0; i < kSchemes; ++i) {
    if (name != kFacts[i].name) continue;
    options.schemes[i] = true;
    return;
  }
  error = "there is no scheme '" + std::string(name) + "'";
}

void choose_random(std::string_view name, Options& options, std::optional<std::string>& error) {
  if (name == "online") {
    options.random = Random::kOnline;
  } else if (name == "offline") {
    options.random = Random::kOffline;
  } else if (name == "fixed") {
    options.random = Random::kFixed;
  } else {
    error = "-fsampler-random= takes online, offline or fixed, not '" + std::string(name) + "'";
  }
}

// The rest of "-fexclude-" or "-finclude-".
bool parse_filter(std::string_view rest, bool include, Options& options,
                  std::optional<std::string>& error) {
  FilterRule rule{include, {}, 0};
  if (take_prefix(rest, "function=")) {
    rule.name = rest;
    options.functions.push_back(rule);
    return true;
  }
  if (take_prefix(rest, "file=")) {
    rule.name = rest;
    options.places.push_back(rule);
    return true;
  }
  if (!take_prefix(rest, "location=")) return false;
  const std::size_t colon = rest.rfind(':');
  const std::string_view line = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), rule.line);
  if (line != "*" &&
      (problem != std::errc{} || end != line.data() + line.size() || rule.line == 0)) {
    error = "a location is FILE:LINE or FILE:*, not '" + std::string(rest) + "'";
    return true;
  }
  rule.name = rest.substr(0, colon);
  options.places.push_back(rule);
  return true;
}

constexpr const char* kBlanks = " \t\r";

template <typename Number>
bool is_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

bool parse_reset_point(std::string_view line, Options& options) {
  const std::size_t gap = line.find_last_of(kBlanks);
  if (gap == std::string_view::npos) return false;
  FilterRule point{true, std::string(line.substr(0, line.find_last_not_of(kBlanks, gap) + 1)), 0};
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
  if (!is_number(line.substr(second + 1), scale.units) || scale.units > kMost) return false;
  options.scales.push_back(std::move(scale));
  return true;
}

// A file of lines, empty ones aside. Its text goes into `all`.
template <typename Parse>
std::optional<std::string> read_lines(const std::string& name, const std::string& wanted,
                                      const Parse& parse, std::string& all) {
  if (name.empty()) return std::nullopt;
  std::ifstream file(name);
  if (!file) return "cannot read " + name;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    all += line + '\n';
    line.erase(line.find_last_not_of(kBlanks) + 1);
    if (!line.empty() && !parse(line)) return name + ":" + std::to_string(number) + ": " + wanted;
  }
  return std::nullopt;
}

}  // namespace

const SchemeFacts& facts_of(Scheme scheme) { return kFacts[static_cast<std::size_t>(scheme)]; }

bool Options::any_scheme() const {
  for (const bool on : schemes) {
    if (on) return true;
  }
  return false;
}

bool Options::looks_at_accesses() const {
  return has(Scheme::kData) || has(Scheme::kYields) || has(Scheme::kAtoms) ||
         has(Scheme::kCompareSwap) || has(Scheme::kAtomsRw);
}

bool Options::wants_function(std::string_view name) const {
  for (const FilterRule& rule : functions) {
    if (rule.name == "*" || rule.name == name) return rule.include;
  }
  return true;
}

bool Options::wants_place(std::string_view file, unsigned line) const {
  for (const FilterRule& rule : places) {
    if ((rule.name == "*" || rule.name == file) && (rule.line == 0 || rule.line == line))
      return rule.include;
  }
  return true;
}

std::optional<std::string> read_files(Options& options) {
  const auto point = [&](std::string_view line) { return parse_reset_point(line, options); };
  const auto scale = [&](std::string_view line) { return parse_scale(line, options); };
  std::optional<std::string> error =
      read_lines(options.reset_file, "a point is FILE LINE", point, options.all);
  if (error) return error;
  return read_lines(options.scales_file, "a scale is FUNCTION<TAB>NODE<TAB>UNITS", scale,
                    options.all);
}

bool parse_option(std::string_view word, Options& options, std::optional<std::string>& error) {
  if (!take_prefix(word, "-f")) return false;
  std::string_view rest = word;
  if (take_prefix(rest, "sampler-scheme=")) return choose_scheme(rest, options, error), true;
  if (take_prefix(rest, "sampler-random=")) return choose_random(rest, options, error), true;
  if (take_prefix(rest, "exclude-")) return parse_filter(rest, false, options, error);
  if (take_prefix(rest, "include-")) return parse_filter(rest, true, options, error);
  if (take_prefix(rest, "sampler-reset-at-points=")) return options.reset_file = rest, true;
  if (take_prefix(rest, "sampler-scales=")) return options.scales_file = rest, true;
  const bool on = !take_prefix(rest, "no-");
  for (const Toggle& toggle : kToggles) {
    if (rest == toggle.name) return options.*toggle.field = on, true;
  }
  return false;
}

}  // namespace telltale::instrument
