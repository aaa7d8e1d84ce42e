#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/verdict.h"
#include "bytes/cursor.h"
#include "formats/xray/record_selector.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// --- The grammar as data
// --------------------------------------------------------------------------

// The symbols of a buffer's grammar: the records, with function records split by whether arguments
// may follow, and a buffer's beginning and end.
enum class Symbol : uint8_t {
  buffer_begins,
  new_buffer,
  end_of_buffer,
  new_cpu_id,
  tsc_wrap,
  walltime_marker,
  custom_event,
  call_argument,
  buffer_extents,
  typed_event,
  pid,
  function,
  function_with_arguments,
  buffer_ends,
};
constexpr size_t kSymbols = 14;
std::string_view symbol_name(Symbol symbol);
Symbol symbol_of(const FdrPayload& payload);

// A set of symbols.
using SymbolSet = uint16_t;
constexpr SymbolSet set_of(Symbol symbol) {
  return static_cast<SymbolSet>(1U << static_cast<unsigned>(symbol));
}

// The symbols allowed after each symbol within a buffer of an FDR file of `version` (1 to 5).
// Version 1: the specification's "Format Grammar and Invariants"; later ones: docs/formats/xray.md,
// "Grammar", which contains this table.
using GrammarTable = std::array<SymbolSet, kSymbols>;
const GrammarTable& fdr_grammar(uint16_t version);

// --- The check
// ------------------------------------------------------------------------------------

struct Violation {
  enum class Kind : uint8_t {
    misplaced_record,    // the table does not allow it there
    incomplete_buffer,   // the table does not allow a buffer to end there
    unreadable_record,   // unknown kind or action, negative size, the beginning of another buffer
    cut_record,          // the buffer ends inside a record
    wrong_extents,       // BufferExtents disagrees with the following bytes
    stray_bytes,         // bytes between buffers
    torn_file,           // the file ends inside a buffer or record
    unknown_to_version,  // basic mode: a record kind that the version does not have
    orphan_argument,     // basic mode: an argument without its entry
  };
  static constexpr size_t kKinds = 9;
  Kind kind = Kind::misplaced_record;
  uint64_t offset = 0;  // in the file
  std::string record;   // affected kind of record
  std::string message;
};
std::string_view to_string(Violation::Kind kind);
std::string to_string(const Violation& violation);

// Only whole records count.
struct Verdict : VerdictOf<Violation> {
  FileHeader header;
};

// Checks a whole binary trace against its grammar; continues after a violation and counts all.
// Errors: only those that make the file unreadable (read_file_header). Memory does not grow with
// the file, but for basic logs with the number of threads. The whole trace is checked, but only
// records and violations at records that `selector` selects are counted; null selects all.
Result<Verdict> verify_trace(Bytes file, RecordSelector* selector = nullptr);

}  // namespace telltale::xray
