// The sites, marks and functions of a translation unit. The frontend fills them while clang parses;
// the LLVM pass of the same compiler process reads them. A call of `kMarkPrefix` in the IR names a
// `Mark` by its number.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace telltale::instrument {

// Functions that exist only between frontend and pass: `T __telltale_mark_N(unsigned mark, T value,
// ...)` returns `value`.
inline constexpr const char* kMarkPrefix = "__telltale_mark_";

enum class ValueKind : std::uint8_t { kNone, kSigned, kUnsigned, kPointer, kFloat };

// One line of `.debug_site_info`.
struct Site {
  Scheme scheme = Scheme::kBranches;
  std::string file;
  unsigned line = 0;
  int function = -1;                // index into TranslationUnit::functions
  std::vector<std::string> fields;  // the columns after the node number
  ValueKind kind = ValueKind::kNone;
  unsigned bits = 0;  // width of the value
  int cfg_node = -1;
  unsigned weight = 1;  // subtracted from the countdown
  int row = -1;         // its line in its scheme's table; -1: it is not in the IR
};

// The right operand of a comparison: a constant, or a variable whose address is the next argument
// of the mark's call.
struct Operand {
  bool is_constant = false;
  std::int64_t number = 0;
};

// One mark. It has one site; scalar-pairs have one for each operand, and atoms, atoms-rw and
// compare-swap a second row for the same access.
struct Mark {
  Scheme scheme = Scheme::kBranches;
  bool is_function_start = false;  // only identifies the function
  bool is_reset = false;           // resets all counters of the process, once
  int function = -1;
  std::vector<unsigned> sites;            // indices into TranslationUnit::sites
  std::vector<unsigned> uncounted_sites;  // rows after those of `sites`; no weight
  bool is_write = false;                  // the marked value is stored; otherwise it was loaded
  std::vector<Operand> operands;
  std::optional<Site> constant_template;  // -fcompare-constants: a site like this for each constant
};

struct Function {
  std::string name;
  std::string file;
  unsigned line = 0;
  bool is_static = false;
};

struct TranslationUnit {
  Options options;
  bool active = false;     // marks were inserted
  bool is_traced = false;  // path tracing follows
  std::string source;      // the main file as named on the command line
  std::array<std::uint8_t, 16> signature{};
  std::deque<Function> functions;
  std::deque<Site> sites;
  std::deque<Mark> marks;
  std::string dataflow;          // -fsampler-dataflow: the section after the signature
  bool drop_debug_info = false;  // line tables were enabled for the plugin only
};

// The unit that this process compiles.
TranslationUnit& current_unit();
// Its signature as 32 hexadecimal digits.
std::string signature_hex(const TranslationUnit& unit);

}  // namespace telltale::instrument
