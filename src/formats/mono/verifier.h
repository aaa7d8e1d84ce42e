#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/verdict.h"
#include "bytes/cursor.h"
#include "formats/mono/reader.h"
#include "formats/mono/record_selector.h"

namespace telltale::mono {

// A violation of the format, with its place.
struct Violation {
  enum class Kind : uint8_t {
    torn_file,         // it ends inside a buffer or a buffer's header
    stray_bytes,       // outside any buffer
    wrong_length,      // of a buffer: the next one begins earlier
    unreadable_event,  // the rest of its buffer is lost
    time_goes_back,    // within a thread; times of methods, hits and counters are taken elsewhere
    odd_moves,         // addresses of moved objects come in pairs
    unknown_value,     // of an enumeration, according to the version's own list
    set_flags,         // where flags must be 0
    misplaced_event,   // heap objects outside a heap shot, ends without a beginning
  };
  static constexpr size_t kKinds = 9;
  Kind kind = Kind::unreadable_event;
  uint64_t offset = 0;  // in the file
  std::string record;
  std::string message;
};
std::string_view to_string(Violation::Kind kind);
std::string to_string(const Violation& violation);  // with place

// Only readable records count, and with a selector only those that it selects.
struct Verdict : VerdictOf<Violation> {
  FileHeader header;
};

// The allowed values of an event's field: 0 to `last`, without `except`. Data, so that the format's
// page and the tests can list them.
struct ValueRule {
  EventKind event;
  std::string_view field;
  uint64_t first;
  uint64_t last;
  uint64_t except;  // inside the range, but unused; ~0: none
  uint8_t since;
  uint8_t until;
};
std::span<const ValueRule> value_rules();

// Checks a file against the grammar and the rules of its version. Violations of events that a
// selector leaves out do not count; those of the file's structure always do. Errors: those of
// read_file_header.
Result<Verdict> verify_recording(Bytes file, RecordSelector* selector = nullptr);

}  // namespace telltale::mono
