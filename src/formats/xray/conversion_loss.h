#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telltale::xray {

// Data that a conversion could not preserve, counted by reason. docs/formats/xray.md, "Conversion",
// explains each.
struct ConversionLoss {
  enum class Reason : uint8_t {
    typed_event,       // not in FDR before version 5 nor in basic mode: dropped
    custom_event,      // basic mode: dropped
    further_argument,  // basic mode keeps the first argument of a call: dropped
    orphan_argument,   // an argument without its entry: dropped
    tail_exit,         // basic mode version 1: written as a plain exit
    process_id,        // FDR before version 3, basic mode before version 3: dropped, counted once a
                       // buffer or record
    function_id,       // more than FDR's 28 bits: the call is dropped
    cpu_number,        // basic mode keeps the low 8 bits
    event_cpu,         // a custom event's own CPU, if it is not the thread's: only version 4 has it
    wait,              // not in basic mode nor YAML: calls include the thread's wait
    wall_clock,        // not in basic mode nor YAML: dropped
    large_payload,     // version 1 writes fixed-size buffers, of 16 MiB at most: event dropped
    untimed_buffer,    // a buffer without a NewCPUId: its times are unknown, so its records are
                       // dropped
    misplaced_record,  // a record that the grammar does not allow there: dropped
    function_name,     // YAML contains names of functions, the binary forms do not; distinct names
    damaged_bytes,     // bytes, not records: unreadable input
  };
  static constexpr size_t kReasons = 16;

  std::array<uint64_t, kReasons> counts{};
  void add(Reason reason, uint64_t n = 1) { counts[static_cast<size_t>(reason)] += n; }
  [[nodiscard]] uint64_t count(Reason reason) const { return counts[static_cast<size_t>(reason)]; }
  [[nodiscard]] bool none() const {
    for (const uint64_t n : counts) {
      if (n != 0) return false;
    }
    return true;
  }
};
// A stable key ("typed_event") and a sentence for people ("typed events have no place before FDR
// version 5").
std::string_view loss_key(ConversionLoss::Reason reason);
std::string_view loss_text(ConversionLoss::Reason reason);

}  // namespace telltale::xray
