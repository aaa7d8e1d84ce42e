#include "option_table.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace telltale::instrument {
namespace {

struct SchemeHelp {
  Scheme scheme;
  const char* text;
};

constexpr std::array<SchemeHelp, kSchemeCount> kSchemeHelp = {{
    {Scheme::kScalarPairs,
     "Compares each assigned value with variables and constants of its type: <, ==, >."},
    {Scheme::kCoverage, "Counts how often each statement runs."},
    {Scheme::kData, "Counts each access to shared memory."},
    {Scheme::kYields,
     "Yields the processor at assignments to shared memory; counts executions without and with a "
     "yield."},
    {Scheme::kAtoms, "Counts whether the same or another thread accessed an address last."},
    {Scheme::kBranches, "Counts how often each condition is false and true."},
    {Scheme::kBounds, "Keeps the minimum and the maximum value of each assignment."},
    {Scheme::kFunctionEntries, "Counts how often each function is entered."},
    {Scheme::kReturns,
     "Counts whether each call returns a number below 0, 0, or a number above 0."},
    {Scheme::kFloatKinds,
     "Counts the kind of each assigned floating-point number: infinite, normal, denormal, zero, "
     "NaN."},
    {Scheme::kGObjectUnref,
     "Counts the references to the argument of g_object_unref: 0, 1, more, no object."},
    {Scheme::kFunReentries, "Counts whether a function is entered while a call of it is active."},
    {Scheme::kCompareSwap,
     "Counts whether another thread changed a value since this thread saw it."},
    {Scheme::kAtomsRw, "Like atoms, but keeps addresses from one window to the next."},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    if (kSchemeHelp[i].scheme != static_cast<Scheme>(i)) return false;
  }
  return true;
}
static_assert(is_in_order());

using Error = std::optional<std::string>;

void choose_scheme(std::string_view name, Options& options, Error& error) {
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    if (name != scheme_name(static_cast<Scheme>(i))) continue;
    options.schemes[i] = true;
    return;
  }
  error = "unknown scheme '" + std::string(name) + "'; telltale-cc --help lists them";
}

void choose_schemes(std::string_view names, Options& options, Error& error) {
  for (std::size_t at = 0; at <= names.size() && !error;) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    choose_scheme(names.substr(at, end - at), options, error);
    at = end + 1;
  }
}

void choose_random(std::string_view name, Options& options, Error& error) {
  if (name == "online") {
    options.random = Random::kOnline;
  } else if (name == "offline") {
    options.random = Random::kOffline;
  } else if (name == "fixed") {
    options.random = Random::kFixed;
  } else {
    error =
        "-fsampler-random= must be online, offline or fixed, but is '" + std::string(name) + "'";
  }
}

void choose_runtime(std::string_view name, Options& options, Error& error) {
  options.shared_runtime = name == "shared";
  if (name != "shared" && name != "static")
    error = "-fsampler-runtime= must be static or shared, but is '" + std::string(name) + "'";
}

template <bool kInclude>
void filter_function(std::string_view name, Options& options, Error&) {
  options.function_filters.push_back({kInclude, std::string(name), 0});
}

template <bool kInclude>
void filter_file(std::string_view name, Options& options, Error&) {
  options.location_filters.push_back({kInclude, std::string(name), 0});
}

template <bool kInclude>
void filter_location(std::string_view place, Options& options, Error& error) {
  FilterRule rule{kInclude, {}, 0};
  const std::size_t colon = place.rfind(':');
  const std::string_view line = colon == std::string_view::npos ? "" : place.substr(colon + 1);
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), rule.line);
  if (line != "*" &&
      (problem != std::errc{} || end != line.data() + line.size() || rule.line == 0)) {
    error = "a location must be FILE:LINE or FILE:*, but is '" + std::string(place) + "'";
    return;
  }
  rule.name = place.substr(0, colon);
  options.location_filters.push_back(rule);
}

void take_reset_file(std::string_view name, Options& options, Error&) { options.reset_file = name; }
void take_scales_file(std::string_view name, Options& options, Error&) {
  options.scales_file = name;
}

constexpr OptionGroup kSites = OptionGroup::kSites;
constexpr OptionGroup kSampling = OptionGroup::kSampling;
constexpr OptionGroup kRecords = OptionGroup::kRecords;
constexpr OptionGroup kProgram = OptionGroup::kProgram;

constexpr Option toggle(OptionGroup group, std::string_view name, bool Options::* field,
                        std::string_view help) {
  return {group, name, "", help, field, nullptr};
}

constexpr Option kOptions[] = {
    {kSites, "sampler-scheme=", "SCHEME[,...]",
     "Adds the sites of a scheme, or of several, separated by commas; may be repeated.", nullptr,
     choose_schemes},
    {kSites, "include-function=", "NAME",
     "Keeps the sites of a function; * and ? as below. The first filter of functions that matches "
     "decides.",
     nullptr, filter_function<true>},
    {kSites, "exclude-function=", "NAME",
     "Leaves out the sites of a function; in names, * and ? stand for any characters.", nullptr,
     filter_function<false>},
    {kSites, "include-file=", "NAME",
     "Keeps the sites in a file; * and ? as below. The first filter of places that matches "
     "decides.",
     nullptr, filter_file<true>},
    {kSites, "exclude-file=", "NAME", "Leaves out the sites in a file; * and ? as above.", nullptr,
     filter_file<false>},
    {kSites, "include-location=", "FILE:LINE", "Keeps the sites of a line; FILE:* is any line.",
     nullptr, filter_location<true>},
    {kSites, "exclude-location=", "FILE:LINE",
     "Leaves out the sites of a line; FILE:* is any line.", nullptr, filter_location<false>},
    toggle(kSites, "compare-constants", &Options::compare_constants,
           "Compares with every integer constant of the translation unit, not only with 0 "
           "(scalar-pairs)."),
    toggle(kSites, "compare-uninitialized", &Options::compare_uninitialized,
           "Also compares with local variables that are not initialized yet (scalar-pairs)."),
    toggle(kSites, "assign-across-pointer", &Options::assign_across_pointer,
           "Adds assignments through pointers (scalar-pairs, bounds, float-kinds)."),
    toggle(kSites, "assign-into-field", &Options::assign_into_field,
           "Adds assignments to members (scalar-pairs, bounds, float-kinds)."),
    toggle(kSites, "assign-into-index", &Options::assign_into_index,
           "Adds assignments to elements of arrays (scalar-pairs, bounds, float-kinds)."),
    toggle(kSites, "isolate-shared-accesses", &Options::isolate_shared_accesses,
           "Accepted and ignored: every access is a separate site."),
    toggle(kSites, "sampler-system-headers", &Options::system_headers,
           "Adds the sites of functions in system headers."),

    toggle(kSampling, "sample", &Options::sample,
           "Observes a sample, as SAMPLER_SPARSITY says; -fno-sample observes everything."),
    {kSampling, "sampler-random=", "KIND",
     "Where countdowns come from: online (the default), offline (from a file) or fixed.", nullptr,
     choose_random},
    toggle(kSampling, "threads", &Options::threads,
           "Counts in programs with threads; on with -pthread and -fopenmp."),
    toggle(kSampling, "sample-regions", &Options::sample_regions,
           "Makes one sampling decision for all sites of a region; -fno-sample-regions makes one "
           "at each site."),
    toggle(kSampling, "sample-turns", &Options::sample_calls,
           "Runs most calls of functions with loops in uninstrumented code. Off: slower, but "
           "samples are more even."),
    toggle(kSampling, "sampler-adaptive", &Options::adaptive,
           "Also observes the first executions of code, however rare it is; reports have their "
           "counts apart from the sample."),
    toggle(
        kSampling, "sampler-adaptive-blocks", &Options::adaptive_blocks,
        "With -fsampler-adaptive: also observes the first executions of rare blocks in hot code. "
        "Shows more, but is slower."),
    {kSampling, "sampler-scales=", "FILE",
     "Reads the countdown cost of each site: lines FUNCTION<TAB>NODE<TAB>COST.", nullptr,
     take_scales_file},
    {kSampling, "sampler-reset-at-points=", "FILE",
     "Resets all counters when a line is first reached: lines FILE LINE.", nullptr,
     take_reset_file},
    toggle(kSampling, "balance-paths", &Options::balance_paths,
           "Makes every path through a region cost the same amount of the countdown."),
    toggle(kSampling, "cache-countdown", &Options::cache_countdown,
           "Keeps the countdown in a local variable in loops."),
    toggle(kSampling, "predict-checks", &Options::predict_checks,
           "Marks the branches of sampling checks as unlikely."),
    toggle(kSampling, "specialize-empty-regions", &Options::specialize_empty_regions,
           "Omits the sampling check in regions without a site."),
    toggle(kSampling, "specialize-singleton-regions", &Options::specialize_singleton_regions,
           "Runs the slow clone in regions with one site."),
    toggle(kSampling, "specialise-empty-regions", &Options::specialize_empty_regions,
           "The same as -fspecialize-empty-regions."),
    toggle(kSampling, "specialise-singleton-regions", &Options::specialize_singleton_regions,
           "The same as -fspecialize-singleton-regions."),
    toggle(kSampling, "assume-weighty-externs", &Options::assume_weighty_externs,
           "Assumes that functions of other modules reach sites."),
    toggle(kSampling, "assume-weighty-interns", &Options::assume_weighty_interns,
           "Assumes that all functions of this module reach sites, even those without any."),
    toggle(kSampling, "assume-weighty-libraries", &Options::assume_weighty_libraries,
           "Assumes that functions of the C library reach sites."),
    toggle(kSampling, "use-points-to", &Options::use_points_to,
           "Determines the possible targets of calls through pointers, within the module."),

    toggle(kRecords, "relative-paths", &Options::relative_paths,
           "Records file names as given to the compiler instead of absolute paths."),
    toggle(kRecords, "rename-locals", &Options::rename_locals,
           "Names local variables FUNCTION$VARIABLE."),
    toggle(kRecords, "sampler-normal-form", &Options::normal_form,
           "Prints expressions in the style of the original's C front end."),
    toggle(kRecords, "timestamp-first", &Options::timestamp_first,
           "Reports when each site was first observed."),
    toggle(kRecords, "timestamp-last", &Options::timestamp_last,
           "Reports when each site was last observed."),
    toggle(kRecords, "trace-sites", &Options::trace_sites,
           "Writes each observation to the file that SAMPLER_TRACE names."),
    toggle(kRecords, "sampler-implications", &Options::implications,
           "Records implications between comparisons with constants."),
    toggle(kRecords, "sampler-dataflow", &Options::dataflow,
           "Records the data flow of each function: assignments, arguments, returns, comparisons."),
    toggle(kRecords, "save-dataflow-fields", &Options::dataflow_fields,
           "Includes members of structures in the data flow."),
    toggle(kRecords, "annotate-sites", &Options::annotate_sites,
           "Marks sites by stores to variables cbi_SCHEME_FUNCTION_dummy and adds no counters."),
    toggle(kRecords, "add-blast-markers", &Options::add_blast_markers,
           "Calls cbi_blastMarker(row, outcome) at each site of branches."),
    toggle(kRecords, "show-stats", &Options::show_stats,
           "Prints the number of sites and regions of a module on standard error."),

    {kProgram, "sampler-runtime=", "KIND",
     "static (the default): the program carries the runtime; shared: it needs "
     "libtelltale_sampler.so.",
     nullptr, choose_runtime, true},
};

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

const char* scheme_help(Scheme scheme) {
  return kSchemeHelp[static_cast<std::size_t>(scheme)].text;
}

std::span<const Option> all_options() { return kOptions; }

std::string_view title_of(OptionGroup group) {
  switch (group) {
    case OptionGroup::kSites:
      return "Sites";
    case OptionGroup::kSampling:
      return "Sampling";
    case OptionGroup::kRecords:
      return "Tables and reports";
    case OptionGroup::kProgram:
      return "Linking";
  }
  return "";
}

std::string spelling_of(const Option& option) {
  const std::string name(option.name);
  if (option.toggle != nullptr) return "-f[no-]" + name;
  return "-f" + name + std::string(option.argument);
}

const Option* find_option(std::string_view word) {
  if (!take_prefix(word, "-f")) return nullptr;
  std::string_view without_no = word;
  take_prefix(without_no, "no-");
  const auto* const found = std::ranges::find_if(kOptions, [&](const Option& option) {
    return option.toggle != nullptr ? option.name == without_no : word.starts_with(option.name);
  });
  return found == std::end(kOptions) ? nullptr : found;
}

bool parse_option(std::string_view word, Options& options, Error& error) {
  const Option* const option = find_option(word);
  if (option == nullptr) return false;
  if (option->toggle != nullptr) {
    options.*(option->toggle) = !word.starts_with("-fno-");
  } else {
    option->take(word.substr(2 + option->name.size()), options, error);
  }
  return true;
}

}  // namespace telltale::instrument
