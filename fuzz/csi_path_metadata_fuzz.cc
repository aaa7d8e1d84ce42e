// Path metadata: no crash; what was read is written as it was; every number of a path has a path;
// records of any values are decoded in bounded time, also those of programs that number prefixes
// and count repetitions. The first bytes are such a record.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/paths/path_history.h"
#include "formats/csi/path_metadata.h"
#include "fuzz_checks.h"
#include "import/csi/path_graphs.h"

namespace {

using namespace telltale;

constexpr size_t kRecordBytes = 6;

void decode(const PathGraph& graph, const std::array<uint8_t, kRecordBytes>& bytes) {
  PathRecord record;
  for (size_t i = 2; i < bytes.size(); ++i) record.ring.push_back(bytes[i] == 0xff ? -1 : bytes[i]);
  record.next = bytes[0];
  record.sum = bytes[1];
  std::vector<uint32_t> all(graph.blocks.size());
  std::iota(all.begin(), all.end(), 0U);
  const PathHistory history = read_path_history(graph, record, all);
  for (const PathHistory::Path& path : history.completed) {
    const auto again = graph.numbers.path(path.number);
    fuzz::require(again.has_value(), "a completed path has a number");
    fuzz::require(graph.numbers.number(*again) == path.number, "a path has its number");
  }
  for (const PathHistory::Reading& reading : history.readings) {
    fuzz::require(!reading.partial.empty(), "a reading has blocks");
    fuzz::require(reading.completed <= history.completed.size(), "a reading's paths exist");
  }
}

// Function records that choose back edges by the bits of `repeating`.
std::vector<csi::PathFunctionRecord> prefix_records(const csi::PathMetadata& metadata,
                                                    unsigned repeating) {
  std::vector<csi::PathFunctionRecord> records;
  for (const csi::PathFunction& function : metadata.functions()) {
    csi::PathFunctionRecord& record = records.emplace_back();
    record.key = records.size();
    record.offset = function.offset;
    record.sets_late = record.numbers_prefixes = true;
    const auto blocks = metadata.blocks(function);
    unsigned count = 0;
    for (const csi::PathEdge& edge : metadata.edges(function)) {
      if (edge.back && (repeating >> (count++ % 4) & 1) != 0)
        record.repeats.emplace_back(blocks[edge.from].id, blocks[edge.to].id);
    }
  }
  return records;
}

void decode_prefixes(const PathGraph& graph, const std::array<uint8_t, kRecordBytes>& bytes) {
  const auto slot = [](uint8_t byte) -> int64_t {
    return byte == 0xff ? -1 : (byte & 0x0F) + (byte >> 4) * static_cast<int64_t>(kRepetition);
  };
  PathRecord record;
  if (graph.has_ring()) {
    for (size_t i = 2; i < bytes.size(); ++i) record.ring.push_back(slot(bytes[i]));
  }
  record.next = bytes[0] & 3;
  record.sum = slot(bytes[2]);
  for (uint32_t block = 0; block < graph.blocks.size(); ++block) {
    const PathHistory history = read_path_history(graph, record, std::span(&block, 1));
    for (const PathHistory::Path& path : history.completed) {
      fuzz::require(!path.blocks.empty() && path.times > 0, "a completed path has blocks");
      fuzz::require(path.times < 16, "repetitions are those of a slot");
      fuzz::require(path.ended_with.has_value(), "an edge ended it");
    }
    for (const PathHistory::Reading& reading : history.readings)
      fuzz::require(reading.partial.back() == block, "a reading ends where the function stopped");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kRecordBytes) return 0;
  std::array<uint8_t, kRecordBytes> record{};
  std::memcpy(record.data(), data, record.size());
  const std::string_view text(reinterpret_cast<const char*>(data) + kRecordBytes,
                              size - kRecordBytes);
  const Bytes bytes = as_bytes(text);
  ProblemLog problems;
  const csi::PathMetadata metadata = csi::PathMetadata::read(bytes, "f", 0, problems);
  fuzz::require_placed(problems, bytes);
  PathGraphs graphs;
  ProblemLog of_graphs;
  graphs.add(bytes, "f", 0, {}, of_graphs);
  for (const csi::PathFunction& function : metadata.functions()) {
    std::string written;
    csi::append_path_function(written, metadata, function);
    fuzz::require(text.substr(function.offset, written.size()) == written,
                  "a function is written as it was");
    for (const auto& graph : graphs.find(std::string(function.name))) decode(*graph, record);
  }
  // Now as if the numbers were those of prefixes. Upper bits of the record: which edges repeat, how
  // often they did.
  PathGraphs of_prefixes;
  const auto by_key =
      of_prefixes.add(bytes, "f", 0, prefix_records(metadata, record[1] >> 4), of_graphs);
  for (const auto& [key, graph] : by_key) {
    if (graph->prefixes) decode_prefixes(*graph, record);
  }
  return 0;
}
