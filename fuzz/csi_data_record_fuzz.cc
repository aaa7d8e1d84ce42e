// Data flow of any bytes: no crash; what is read names only what exists; its slice has only steps
// that exist, in bounded time. The first bytes choose the control flow around the record.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "analysis/paths/slice.h"
#include "bytes/cursor.h"
#include "fuzz_checks.h"
#include "import/csi/data_record.h"

namespace {

using namespace telltale;

constexpr size_t kShapeBytes = 4;  // edges, calls, where it stopped, what ran
constexpr size_t kMostBytes = 4096;

void require_uses(const FunctionData& data, const FunctionData::Uses& uses) {
  for (const uint32_t value : uses.values)
    fuzz::require(value < data.parameters + data.results.size(), "a value exists");
  for (const FunctionData::Part& part : uses.contents) {
    fuzz::require(part.object < data.objects.size(), "an object exists");
    fuzz::require(part.begin < part.end, "a part has bytes");
  }
}

// Two functions of the same data; all calls are of the second, or of unknown code.
ProgramFlow flow_of(const FunctionData& data, std::span<const uint8_t> shape) {
  ProgramFlow flow;
  flow.functions.resize(2);
  const auto count = static_cast<uint32_t>(data.blocks.size());
  for (ProgramFlow::Function& function : flow.functions) {
    for (uint32_t i = 0; i < count; ++i) {
      ProgramFlow::Block& block = function.blocks.emplace_back();
      for (uint32_t edge = 0; edge < (shape[0] >> (i % 8) & 1U) + 1U; ++edge)
        block.successors.push_back((i + edge * shape[0] + 1) % count);
      if ((i ^ shape[0]) % 3 == 0) block.successors.clear();
      block.may_resume = (shape[1] & 0x80U) != 0;
      for (const FunctionData::Step& step : data.blocks[i].steps) {
        if (!step.call) continue;
        const bool is_known = (shape[1] >> (block.calls.size() % 7) & 1U) != 0;
        ProgramFlow::Call call;
        call.is_known = is_known;
        if (is_known) call.callees = {1};
        block.calls.push_back(call);
      }
    }
  }
  flow.functions[0].is_start = true;
  flow.functions[1].is_open = true;
  return flow;
}

void slice(const FunctionData& data, std::span<const uint8_t> shape) {
  const auto count = static_cast<uint32_t>(data.blocks.size());
  const ProgramFlow flow = flow_of(data, shape);
  SliceEvidence evidence;
  for (int i = 0; i < 2; ++i) {
    std::vector<Ran>& ran = evidence.ran.emplace_back(count, Ran::maybe);
    for (uint32_t block = 1; block < count; ++block)
      if ((shape[3] >> (block % 8) & 1U) != 0) ran[block] = Ran::no;
  }
  const uint32_t stop = shape[2] % count;
  for (uint32_t i = 0; i < 2; ++i) {
    SliceEvidence::Frame frame;
    frame.function = 1 - i;
    frame.blocks = evidence.ran[i];
    frame.stopped_in = {stop};
    frame.is_in_call = i != 0;
    if ((shape[2] & 0x80U) != 0) {
      frame.ways = {{stop, stop, 0, stop}};
      frame.is_whole = true;
    }
    evidence.frames.push_back(frame);
  }
  evidence.others_write = (shape[3] & 0x80U) != 0;
  for (const Slice::Step& step : slice_backward(flow, {&data, &data}, evidence).steps) {
    fuzz::require(step.function < 2 && step.block < count, "a block of the slice exists");
    fuzz::require(step.step < data.blocks[step.block].steps.size(), "a step of the slice exists");
    fuzz::require(!step.reasons.empty(), "a step of the slice has a reason");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kShapeBytes || size > kMostBytes) return 0;
  std::array<uint8_t, kShapeBytes> shape{};
  std::memcpy(shape.data(), data, shape.size());
  Cursor in(std::as_bytes(std::span(data, size)).subspan(kShapeBytes));
  const auto read = read_data_record(in);
  fuzz::require(!read || !in.error(), "a record that is read has no damage");
  if (!read) return 0;
  for (const FunctionData::Block& block : read->blocks) {
    for (const FunctionData::Step& step : block.steps) {
      require_uses(*read, step.uses);
      if (step.call)
        for (const FunctionData::Uses& argument : step.call->arguments)
          require_uses(*read, argument);
      for (const FunctionData::Incoming& way : step.incoming) require_uses(*read, way.uses);
    }
  }
  if (!read->blocks.empty()) slice(*read, shape);
  return 0;
}
