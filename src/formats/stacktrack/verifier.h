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
    unreadable_record,  // a type that the platform does not have, or no process
    unknown_flags,      // bits that have no name
    wrong_flags,        // INFO with HAS_INFO, or another record with INFO_END
    wrong_sequence,     // PROLOGUE, TIMETYPE, TIMEINFO: not 0; records of checkpoints: 0
    no_prologue,        // the stream does not begin with one
    wrong_prologue,     // one that disagrees with the layout
    orphan_info,        // INFO whose record is not in the stream
    unfinished_info,    // INFO_END is missing
    missing_scope,      // a HIT whose SLOC was not posted (in the wide layout: nowhere) before it
    missing_file,       // an SLOC or FPROPERTY whose FLOC was not
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
// checks"); goes on after a violation and counts them all. `chosen` says which records count;
// empty: all. Memory grows with the checkpoints and the texts that are open.
Verdict verify_stream(Bytes file, const StreamFormat& format,
                      const std::function<bool(const Record&)>& chosen = {});

}  // namespace telltale::stacktrack
