// The plugin's options (docs/sampler-options.md).
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

// The name of a scheme in -fsampler-scheme= and in reports.
inline const char* scheme_name(Scheme scheme) {
  return sampler::kSchemes[static_cast<std::size_t>(scheme)].name;
}
// Counters of a site.
inline unsigned scheme_arity(Scheme scheme) {
  return sampler::kSchemes[static_cast<std::size_t>(scheme)].counters;
}
// Does an observation only increment one of the site's counters? Pairs of an assignment do, too,
// but are observed together.
constexpr bool only_counts(Scheme scheme) {
  switch (scheme) {
    case Scheme::kCoverage:
    case Scheme::kBranches:
    case Scheme::kFunctionEntries:
    case Scheme::kReturns:
    case Scheme::kFloatKinds:
    case Scheme::kFunReentries:
      return true;
    default:
      return false;
  }
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

// A line of -fsampler-scales=: how much a site subtracts from the countdown.
struct Scale {
  std::string function;          // "*" is any
  std::optional<unsigned> node;  // of the control flow graph; nothing is any
  unsigned weight = 1;           // 0: never observed
};

struct Options {
  std::array<bool, kSchemeCount> schemes{};
  bool sample = true;
  Random random = Random::kOnline;
  bool threads = false;
  bool sample_regions = true;
  bool sample_calls = true;
  bool adaptive = false;
  bool adaptive_blocks = false;
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
  bool annotate_sites = false;  // observations go to a variable of the function
  bool add_blast_markers = false;
  bool dataflow = false;
  bool dataflow_fields = false;          // members are variables in it
  bool isolate_shared_accesses = false;  // no effect: each access has its own site
  bool system_headers = false;
  bool normal_form = false;  // texts as the original's front end printed them
  bool compare_uninitialized = false;
  bool shared_runtime = false;  // for the driver
  std::vector<FilterRule> function_filters;
  std::vector<FilterRule> location_filters;
  std::string reset_file;                // -fsampler-reset-at-points=
  std::vector<FilterRule> reset_points;  // its contents
  std::string scales_file;               // -fsampler-scales=
  std::vector<Scale> scales;             // its contents
  std::string signature_input;           // all arguments in order, and the contents of files

  [[nodiscard]] bool has(Scheme scheme) const { return schemes[static_cast<std::size_t>(scheme)]; }
  [[nodiscard]] bool any_scheme() const;
  // Is a scheme on that observes accesses to shared memory?
  [[nodiscard]] bool has_access_scheme() const;
  // Is region sampling on, rather than site sampling? Countdowns from files, weights and balanced
  // paths count sites.
  [[nodiscard]] bool uses_region_sampling() const {
    return sample_regions && random == Random::kOnline && !balance_paths && scales_file.empty() &&
           !annotate_sites;
  }
  // Are first executions observed in addition to the sample? They have counters of their own, which
  // only schemes that count on x86-64 have.
  [[nodiscard]] bool observes_first() const;
  [[nodiscard]] bool wants_function(std::string_view name) const;
  [[nodiscard]] bool wants_location(std::string_view file, unsigned line) const;
};

// Reads the files of -fsampler-reset-at-points and -fsampler-scales, and appends their text to
// `signature_input`. Returns an error message on failure.
std::optional<std::string> read_files(Options& options);

// Parses one option as the driver spells it ("-fsampler-scheme=returns", "-fno-sample", "-fthreads"
// ...; option_table.cc has all). Returns false if it is not one of ours. Sets `error` if its value
// is invalid.
bool parse_option(std::string_view word, Options& options, std::optional<std::string>& error);

}  // namespace telltale::instrument
