#pragma once

#include <cstdint>
#include <span>

#include "formats/xray/conversion_loss.h"
#include "formats/xray/encode.h"
#include "formats/xray/timed_events.h"
#include "formats/xray/writer.h"

namespace telltale::xray {

// Writes events as a basic log of a given version. Events of one thread must come in order of time.
class BasicComposer {
 public:
  BasicComposer(const FileHeader& header, BlockWriter& out, ConversionLoss& loss)
      : header_(header), layout_(basic_layout(header.version)), out_(out), loss_(loss) {}

  struct Thread {
    uint32_t tid = 0;
    uint32_t pid = 0;  // 0: unknown
  };
  // One event with the arguments that follow it (of an entry). Data that the version cannot express
  // is counted as loss.
  void write(const TimedEvent& event, const Thread& thread, std::span<const uint64_t> arguments);

  // For basic to basic, where arguments stay at their place in the writer's flushes.
  void write_argument(uint32_t function_id, const Thread& thread, uint64_t value);
  void write_call(const TimedEvent& event, const Thread& thread);

 private:
  const FileHeader& header_;
  BasicLayout layout_;
  BlockWriter& out_;
  ConversionLoss& loss_;
};

}  // namespace telltale::xray
