#include "formats/xray/conversion_loss.h"

namespace telltale::xray {
namespace {

struct ReasonRow {
  std::string_view key;
  std::string_view text;
};

// In the order of ConversionLoss::Reason.
constexpr std::array<ReasonRow, ConversionLoss::kReasons> kRows = {{
    {"typed_event", "typed events have no place before FDR version 5; dropped"},
    {"custom_event", "custom events have no place in basic mode; dropped"},
    {"further_argument", "only so many arguments of a call have a place; the rest dropped"},
    {"orphan_argument", "arguments without the entry that they belong to; dropped"},
    {"tail_exit", "basic mode version 1 has no tail exits; written as plain exits"},
    {"process_id", "process ids have no place before version 3; dropped"},
    {"function_id", "function ids over 28 bits have no place in FDR; the calls are dropped"},
    {"cpu_number", "CPU numbers over 255 have no place in basic mode; cut to 8 bits"},
    {"event_cpu", "a custom event's own CPU has a place in FDR version 4 only; dropped"},
    {"wall_clock", "wall-time markers have no place there; dropped"},
    {"large_payload", "events too large for version 1's fixed-size buffers; dropped"},
    {"untimed_buffer", "buffers without a time base; dropped"},
    {"misplaced_record", "records where the grammar has no place for them; dropped"},
    {"function_name", "function names have no place in binary traces; dropped"},
    {"damaged_bytes", "bytes of the input that could not be read"},
}};

}  // namespace

std::string_view loss_key(ConversionLoss::Reason reason) {
  return kRows[static_cast<size_t>(reason)].key;
}
std::string_view loss_text(ConversionLoss::Reason reason) {
  return kRows[static_cast<size_t>(reason)].text;
}

}  // namespace telltale::xray
