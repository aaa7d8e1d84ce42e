// Path metadata: no crash; what was read is written as it was; every number of a path has a path;
// records of any values are decoded in bounded time. The first bytes are such a record.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
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
  return 0;
}
