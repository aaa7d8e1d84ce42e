// What the AST side of the plugin tells its IR side: the sites of one compilation unit. Both run in
// one compiler process and share `unit()`. Calls that the AST side plants (`kMarkPrefix`) name a
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

// Functions that exist only between the two sides: `T __telltale_mark_N(unsigned mark, T value,
// ...)` gives `value` back.
inline constexpr const char* kMarkPrefix = "__telltale_mark_";

enum class ValueKind : std::uint8_t { kNone, kSigned, kUnsigned, kPointer, kFloat };

// One line of `.debug_site_info`: the columns as the published text numbers them, without the node
// number of the control flow graph, which is known only to the IR side.
struct Site {
  Scheme scheme = Scheme::kBranches;
  std::string file;
  unsigned line = 0;
  int function = -1;                // index into Unit::functions
  std::vector<std::string> fields;  // the columns after the node number
  ValueKind kind = ValueKind::kNone;
  unsigned bits = 0;  // width of the value
  int cfg_node = -1;
  unsigned weight = 1;  // what it takes from the countdown
  int row = -1;         // its line among those of its scheme; -1: no code came of it
};

// What a value is compared with: a variable, whose address is the next argument of the mark, or a
// number.
struct Operand {
  bool is_constant = false;
  std::int64_t number = 0;
};

// One planted call, with one site, but for scalar-pairs, which has one for each operand, and for
// atoms and its like, which have a second row of counters for the same site.
struct Mark {
  Scheme scheme = Scheme::kBranches;
  bool is_function_start = false;  // tells which function this is, and nothing else
  bool is_reset = false;           // all counters of the process begin again here, the first time
  int function = -1;
  std::vector<unsigned> sites;  // indices into Unit::sites; each takes one from the countdown
  std::vector<unsigned> uncounted_sites;  // rows that follow those of `sites` and take nothing
  bool is_write = false;  // of an access: the marked value is stored; otherwise it was loaded
  std::vector<Operand> operands;
  std::optional<Site> constant_template;  // -fcompare-constants: one more site like this for each
                                          // constant of the unit
};

struct Function {
  std::string name;
  std::string file;
  unsigned line = 0;
  bool is_static = false;
};

struct TranslationUnit {
  Options options;
  bool active = false;  // the AST side has run
  std::string source;   // the main file as given
  std::array<std::uint8_t, 16> signature{};
  std::deque<Function> functions;
  std::deque<Site> sites;
  std::deque<Mark> marks;
  std::string dataflow;          // -fsampler-dataflow: what stands behind the signature
  bool drop_debug_info = false;  // the AST side asked for line tables, the user did not
};

// The unit that this compiler process is at.
TranslationUnit& current_unit();
// Its signature in 32 hexadecimal digits.
std::string signature_hex(const TranslationUnit& unit);

}  // namespace telltale::instrument
