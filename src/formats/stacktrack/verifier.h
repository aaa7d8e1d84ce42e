#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/verdict.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/recognise.h"
#include "formats/stacktrack/records.h"

namespace telltale::stacktrack {

struct Violation {
  enum class Kind : uint8_t {
    cut_record,         // the stream begins or ends inside a record
    unreadable_record,  // an unknown type, or no process
    unknown_flags,      // undefined bits
    wrong_flags,        // INFO with HAS_INFO, or another record with INFO_END
    wrong_sequence,     // PROLOGUE, TIMETYPE, TIMEINFO: not 0; records of checkpoints: 0
    no_prologue,        // the stream does not begin with one
    wrong_prologue,     // one that disagrees with the layout
    orphan_info,        // INFO without its record
    unfinished_info,    // INFO_END is missing
    missing_scope,      // a HIT without a SLOC of a lower or the same sequence number (wide layout:
                        // anywhere)
    missing_file,       // an SLOC or FPROPERTY whose FLOC was not posted
  };
  static constexpr size_t kKinds = 11;
  Kind kind = Kind::cut_record;
  uint64_t offset = 0;  // in the file
  std::string record;
  std::string message;
};
std::string_view to_string(Violation::Kind kind);
std::string to_string(const Violation& violation);

using Verdict = VerdictOf<Violation>;

// Checks a stream by the rules of its specification (docs/formats/stacktrack.md, "What check
// checks"); continues after a violation and counts all. `chosen` selects the records that count;
// empty: all. Memory grows with the number of checkpoints and of open texts.
Verdict verify_stream(Bytes file, const StreamFormat& format,
                      const std::function<bool(const Record&)>& chosen = {});

}  // namespace telltale::stacktrack
