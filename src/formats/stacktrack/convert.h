#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/recognise.h"

namespace telltale::stacktrack {

// Data that a conversion could not preserve, counted by reason.
struct ConversionLoss {
  enum class Reason : uint8_t {
    number,         // a record with a number (process, thread, line ...) too large for the target
    kind,           // a record of a kind that the target does not have
    field,          // a number other than 0 that the target cannot store
    exit,           // an exit that the target can neither mark nor number like its entry: dropped
    damaged_bytes,  // bytes, not records: unreadable input
  };
  static constexpr size_t kReasons = 5;
  std::array<uint64_t, kReasons> counts{};
  void add(Reason reason, uint64_t n = 1) { counts[static_cast<size_t>(reason)] += n; }
  [[nodiscard]] uint64_t count(Reason reason) const { return counts[static_cast<size_t>(reason)]; }
  [[nodiscard]] uint64_t dropped_records() const {
    return count(Reason::number) + count(Reason::kind) + count(Reason::exit);
  }
};
std::string_view loss_text(ConversionLoss::Reason reason);

// Writes a stream for another platform: layout, byte order, width of texts and form of times
// (docs/formats/stacktrack.md, "Conversion"). A stream of the target's own platform is copied
// whole, damage included. From the wide layout records are sorted, context first, and their
// sequence numbers counted anew; in conversions to it they are in chunks of all threads. Memory: 24
// bytes a record if they have to be sorted; otherwise it only grows with checkpoints and threads.
// Damage in the input goes to `problems`. Errors: the sink's; no
// record fits the target.
Result<ConversionLoss> convert_stream(Bytes file, const std::string& file_name,
                                      const StreamFormat& from, const FormatDescription& to,
                                      const ByteSink& sink, ProblemLog& problems);

}  // namespace telltale::stacktrack
