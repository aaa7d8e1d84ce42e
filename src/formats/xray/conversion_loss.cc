#include "formats/xray/conversion_loss.h"

namespace telltale::xray {
namespace {

struct ReasonRow {
  std::string_view key;
  std::string_view text;
};

// In the order of ConversionLoss::Reason.
constexpr std::array<ReasonRow, ConversionLoss::kReasons> kRows = {{
    {"typed_event", "typed events cannot be represented before FDR version 5; dropped"},
    {"custom_event", "custom events cannot be represented in basic mode; dropped"},
    {"further_argument", "the target holds only some arguments of a call; the rest are dropped"},
    {"orphan_argument", "arguments without the entry that they belong to; dropped"},
    {"tail_exit", "basic mode version 1 has no tail exits; written as plain exits"},
    {"process_id", "process ids cannot be represented before version 3; dropped"},
    {"function_id",
     "function ids over 28 bits cannot be represented in FDR; the calls are dropped"},
    {"cpu_number", "CPU numbers over 255 cannot be represented in basic mode; truncated to 8 bits"},
    {"event_cpu", "the CPU of a custom event can be represented only in FDR version 4; dropped"},
    {"wait", "waits of threads cannot be represented; times of calls include them"},
    {"wall_clock", "wall-time markers cannot be represented; dropped"},
    {"large_payload", "events too large for version 1's fixed-size buffers; dropped"},
    {"untimed_buffer", "buffers without a time base; dropped"},
    {"misplaced_record", "records that the grammar does not allow where they are; dropped"},
    {"function_name", "function names cannot be represented in binary traces; dropped"},
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
