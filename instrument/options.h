// What the plugin can be asked, in the words of the manual (docs/formats/sampler.md,
// docs/design/sampler-compiler.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sampler/wire.h"

namespace telltale::instrument {

// Schemes in the order of formats/sampler/wire.h, which defines their names and arities.
enum class Scheme : std::uint8_t {
  kScalarPairs,
  kCoverage,
  kData,
  kYields,
  kAtoms,
  kBranches,
  kBounds,
  kFunctionEntries,
  kReturns,
  kFloatKinds,
  kGObjectUnref,
  kFunReentries,
  kCompareSwap,
  kAtomsRw,
  kCount
};
inline constexpr std::size_t kSchemeCount = static_cast<std::size_t>(Scheme::kCount);
static_assert(kSchemeCount == sampler::kSchemeCount);

// As in -fsampler-scheme= and in reports.
inline const char* scheme_name(Scheme scheme) {
  return sampler::kSchemes[static_cast<std::size_t>(scheme)].name;
}
// Counters of a site.
inline unsigned scheme_arity(Scheme scheme) {
  return sampler::kSchemes[static_cast<std::size_t>(scheme)].counters;
}
// One line for --help.
const char* scheme_help(Scheme scheme);

enum class Random : std::uint8_t { kOnline, kOffline, kFixed };

// `-f{in,ex}clude-{function,file,location}=`; the first rule that matches decides.
struct FilterRule {
  bool include = false;
  std::string name;   // a function or a file; "*" is any
  unsigned line = 0;  // 0 is any
};

// A line of -fsampler-scales=: what a site takes from the countdown.
struct Scale {
  std::string function;          // "*" is any
  std::optional<unsigned> node;  // of the control flow graph; nothing is any
  unsigned weight = 1;           // 0: it is never observed
};

struct Options {
  std::array<bool, kSchemeCount> schemes{};
  bool sample = true;
  Random random = Random::kOnline;
  bool threads = false;
  bool sample_regions = true;
  bool sample_calls = true;
  bool balance_paths = false;
  bool cache_countdown = true;
  bool predict_checks = true;
  bool specialize_empty_regions = true;
  bool specialize_singleton_regions = true;
  bool assume_weighty_externs = true;
  bool assume_weighty_interns = false;
  bool assume_weighty_libraries = false;
  bool compare_constants = false;
  bool assign_across_pointer = false;
  bool assign_into_field = false;
  bool assign_into_index = false;
  bool rename_locals = false;
  bool relative_paths = false;
  bool timestamp_first = false;
  bool timestamp_last = false;
  bool show_stats = false;
  bool trace_sites = false;
  bool implications = false;
  bool use_points_to = false;
  bool annotate_sites = false;  // observations are told to a variable of the function
  bool add_blast_markers = false;
  bool dataflow = false;
  bool dataflow_fields = false;          // members of structures are variables in it
  bool isolate_shared_accesses = false;  // no need: each access is a site of its own anyway
  bool system_headers = false;
  bool normal_form = false;  // texts as the original's front end had them
  bool compare_uninitialized = false;
  bool shared_runtime = false;  // for the driver
  std::vector<FilterRule> function_filters;
  std::vector<FilterRule> location_filters;
  std::string reset_file;                // -fsampler-reset-at-points=
  std::vector<FilterRule> reset_points;  // what stands in it
  std::string scales_file;               // -fsampler-scales=
  std::vector<Scale> scales;             // what stands in it
  std::string signature_input;           // every argument, in order: part of a unit's signature

  [[nodiscard]] bool has(Scheme scheme) const { return schemes[static_cast<std::size_t>(scheme)]; }
  [[nodiscard]] bool any_scheme() const;
  // A scheme that looks at shared memory.
  [[nodiscard]] bool has_access_scheme() const;
  // Is one pass through a region without loops observed as a whole, or each site by itself? Numbers
  // that somebody has chosen count sites, and only there a site takes from the countdown.
  [[nodiscard]] bool uses_region_sampling() const {
    return sample_regions && random == Random::kOnline && !balance_paths && scales_file.empty() &&
           !annotate_sites;
  }
  [[nodiscard]] bool wants_function(std::string_view name) const;
  [[nodiscard]] bool wants_location(std::string_view file, unsigned line) const;
};

// Reads the files of -fsampler-reset-at-points and -fsampler-scales, if there are any; their text
// goes into `all`. A sentence if that fails.
std::optional<std::string> read_files(Options& options);

// Takes one option as the driver spells it ("-fsampler-scheme=returns", "-fno-sample", "-fthreads"
// ...; option_table.cc has all); false if the word is none of ours. `error` gets a sentence if it
// is ours but says nothing that can be done.
bool parse_option(std::string_view word, Options& options, std::optional<std::string>& error);

}  // namespace telltale::instrument
