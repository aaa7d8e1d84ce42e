#pragma once

// The constants of Sampler's texts, in one freestanding header for writers (the compiler, the
// runtime; C++17) and the reader. Grammar and worked examples: docs/formats/sampler.md.

#include <math.h>

#include <cstddef>
#include <cstdint>

namespace telltale::sampler {

// ELF sections of static information; not allocated, of type SHT_PROGBITS.
constexpr char kSitesSection[] = ".debug_site_info";
constexpr char kCfgSection[] = ".debug_sampler_cfg";
constexpr char kCfgVersion[] = "0.1";  // "*<TAB>0.1" begins a unit's control flow graphs

constexpr size_t kUnitDigits = 32;  // of a unit's signature: lower-case hexadecimal
constexpr char kSamplesReport[] = "samples";
constexpr char kBacktraceReport[] = "main-backtrace";

constexpr size_t kMaxColumns = 5;     // of a site, besides the four common ones
constexpr size_t kMaxCounters = 9;    // of a site
constexpr size_t kCommonColumns = 4;  // source file, line, function, control flow graph number

// The meaning of a scheme's values.
enum class Values : uint8_t {
  counters,  // unsigned; repeated sections are added
  bounds,    // a minimum and a maximum of the site's type; merged as minimum and maximum
};

// An instrumentation scheme: its columns of static information after the four common ones, and the
// values of a row of samples, in order.
struct SchemeLayout {
  const char* name;  // as in -fsampler-scheme= and in tags
  char code;         // the letter that analyses use
  Values values;
  uint8_t columns;   // of kColumns
  uint8_t counters;  // values in a row
  const char* column_names[kMaxColumns];
  const char* counter_names[kMaxCounters];
};

// In the order in which a unit's `sites` sections are written.
constexpr SchemeLayout kSchemes[] = {
    {"scalar-pairs",
     'S',
     Values::counters,
     5,
     3,
     {"left", "host", "offset", "right", "right_kind"},
     {"<", "==", ">"}},
    {"coverage", 'V', Values::counters, 1, 1, {"statement"}, {"executed"}},
    {"data", 'I', Values::counters, 2, 1, {"lvalue", "access"}, {"accessed"}},
    {"yields", 'Y', Values::counters, 1, 2, {"assignment"}, {"not yielded", "yielded"}},
    {"atoms",
     'A',
     Values::counters,
     2,
     2,
     {"lvalue", "access"},
     {"same thread", "different thread"}},
    {"branches", 'B', Values::counters, 1, 2, {"predicate"}, {"false", "true"}},
    {"bounds", 'D', Values::bounds, 3, 2, {"left", "host", "offset"}, {"minimum", "maximum"}},
    {"function-entries", 'E', Values::counters, 0, 1, {}, {"entered"}},
    {"returns", 'R', Values::counters, 1, 3, {"callee"}, {"<0", "==0", ">0"}},
    {"float-kinds",
     'F',
     Values::counters,
     3,
     9,
     {"left", "host", "offset"},
     {"-Inf", "-normal", "-denormal", "-0", "NaN", "+0", "+denormal", "+normal", "+Inf"}},
    {"g-object-unref",
     'G',
     Values::counters,
     1,
     4,
     {"argument"},
     {"0", "1", ">1", "not a GObject"}},
    {"fun-reentries", 'Z', Values::counters, 1, 2, {"name"}, {"not re-entered", "re-entered"}},
    {"compare-swap",
     'C',
     Values::counters,
     2,
     2,
     {"lvalue", "access"},
     {"same value", "different value"}},
    {"atoms-rw",
     'W',
     Values::counters,
     2,
     2,
     {"lvalue", "access"},
     {"same thread", "different thread"}},
};
constexpr size_t kSchemeCount = sizeof(kSchemes) / sizeof(kSchemes[0]);

// Countdowns: how many sites to skip until the next observation (docs/formats/sampler.md, "The
// documented tools"). Uses POSIX's erand48; begin_uniform() returns the initial `state`.
constexpr size_t kCountdowns = 1021;  // native 32-bit integers in a file of countdowns
constexpr uint64_t kUniformModulus = uint64_t{1} << 48;
// Spreads seeds that differ in one bit: the finaliser of splitmix64 (Steele, Lea, Flood: Fast
// splittable pseudorandom number generators, 2014; its constants by Vigna).
inline uint64_t begin_uniform(uint64_t seed) {
  uint64_t mixed = seed + 0x9E3779B97F4A7C15;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
  return (mixed ^ mixed >> 31) % kUniformModulus;
}
// From 0 to kUniformModulus - 1.
inline uint64_t next_uniform(uint64_t& state) {
  return state = (state * 0x5DEECE66D + 0xB) % kUniformModulus;
}
inline double draw_uniform(uint64_t& state) {
  return static_cast<double>(next_uniform(state)) / static_cast<double>(kUniformModulus);
}
// The logarithm of the probability that a site is not observed, if one in `sparsity`, 1 or more, is
// observed; minus infinity for 1.
inline double log_of_passing(double sparsity) { return ::log1p(-1 / sparsity); }
// Geometrically distributed with the mean that belongs to `log_of_passing`, for a uniform number in
// (0, 1).
inline int32_t geometric_countdown(double uniform, double log_of_passing) {
  const double number = ::log(uniform) / log_of_passing + 1;
  constexpr double kMost = 0x3fffffff;
  if (!(number < kMost)) return static_cast<int32_t>(kMost);
  return number < 1 ? 1 : static_cast<int32_t>(number);
}
inline int32_t draw_countdown(uint64_t& state, double log_of_passing) {
  double uniform = 0;
  while (uniform <= 0) uniform = draw_uniform(state);
  return geometric_countdown(uniform, log_of_passing);
}

}  // namespace telltale::sampler
