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
// Counts of first executions, apart from the sample (-fsampler-adaptive): rows as in
// kSamplesReport.
constexpr char kFirstSamplesReport[] = "first-samples";
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

// Reports that wait in a folder to be sent (docs/formats/collect.md, "The spool"): what the run is,
// and how it ended. Subreports of lines "KEY VALUE".
constexpr char kRunReport[] = "run";
constexpr char kOutcomeReport[] = "outcome";
constexpr char kSpoolVariable[] = "TELLTALE_COLLECT";  // names the folder; "off": none
constexpr char kSpooled[] = ".report";                 // ending of a report that is complete
constexpr char kSpooling[] = ".part";                  // of one that is being written
constexpr char kSpoolSparsities[] = "sparsity";  // its folder of sparsities that servers asked for
constexpr unsigned kSpoolSparsity = 100;         // without such a wish
constexpr size_t kSpoolLimit = 1000;             // files; programs add no more
constexpr size_t kApplicationBytes = 64;         // longest name of an application
constexpr size_t kIdDigits = 32;                 // random ones, with which a report's id begins

// The user's file of consent, below $XDG_CONFIG_HOME or $HOME/.config.
constexpr char kConsentFile[] = "/telltale/collect";
enum class Consent : uint8_t { unsaid, on, off };

// The name of an application, of a program's path: its last part, in the characters that are
// allowed. `name` has room for kApplicationBytes and a NUL.
inline void put_application_name(const char* path, char* name) {
  const char* last = path;
  for (const char* at = path; *at != 0; ++at) {
    if (*at == '/') last = at + 1;
  }
  size_t size = 0;
  for (; *last != 0 && size < kApplicationBytes; ++last) {
    const char c = *last;
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool sign = size > 0 && (c == '.' || c == '_' || c == '+' || c == '-');
    name[size] = letter || sign ? c : '_';
    if (size > 0 || name[0] != '_') ++size;
  }
  name[size] = 0;
}

// What a file of consent says of an application: the first line that names it or "*". A line that
// is neither "on" nor "off" means off.
inline Consent consent_of(const char* text, size_t size, const char* application) {
  const char* const end = text + size;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (text < end) {
    const char* const line = text;
    while (text < end && *text != '\n') ++text;
    const char* line_end = text;
    if (text < end) ++text;
    const char* word = line;
    while (word < line_end && is_blank(*word)) ++word;
    while (line_end > word && is_blank(line_end[-1])) --line_end;
    if (word == line_end || *word == '#') continue;
    const char* word_end = word;
    while (word_end < line_end && !is_blank(*word_end)) ++word_end;
    const char* name = application;
    const char* at = word;
    while (at < word_end && *name == *at && *name != 0) ++at, ++name;
    const bool named = at == word_end && *name == 0;
    if (!named && !(word_end - word == 1 && *word == '*')) continue;
    while (word_end < line_end && is_blank(*word_end)) ++word_end;
    const bool on = line_end - word_end == 2 && word_end[0] == 'o' && word_end[1] == 'n';
    return on ? Consent::on : Consent::off;
  }
  return Consent::unsaid;
}

// Countdowns: how many sites to skip until the next observation (docs/formats/sampler.md, "The
// documented tools"). Uses POSIX's erand48; begin_uniform() returns the initial `state`.
constexpr size_t kCountdowns = 1021;  // native 32-bit integers in a file of countdowns
constexpr uint64_t kUniformModulus = uint64_t{1} << 48;
// Spreads seeds that differ in one bit: the finaliser of splitmix64 (Steele, Lea, Flood: Fast
// splittable pseudorandom number generators, 2014; its constants by Vigna).
inline uint64_t spread(uint64_t seed) {
  uint64_t mixed = seed + 0x9E3779B97F4A7C15;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
  return mixed ^ mixed >> 31;
}
inline uint64_t begin_uniform(uint64_t seed) { return spread(seed) % kUniformModulus; }
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
