// Basic-mode logs: no crash; rewriting and conversion preserve what they must.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/xray/basic_runs.h"
#include "xray_checks.h"

namespace {

using namespace telltale;
using namespace telltale::xray;

struct Count {
  uint64_t records = 0;
  void record(const BasicRecord&) { ++records; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  const Result<FileHeader> header = read_file_header(file);
  if (!header || header->type != LogType::basic) return 0;
  ProblemLog problems;
  Count count;
  for (const BasicRun& run : find_basic_runs(file, *header, "f", problems)) {
    walk_basic_records(file, run.begin, run.end, *header, count);
  }
  fuzz::require_placed(problems, file);
  const uint64_t told =
      count.records * kBasicRecordBytes + problems.lost_bytes() + kFileHeaderBytes;
  const std::vector<Problem> kept = problems.kept();
  const bool may_have_copies =
      kept.size() < problems.count() ||
      std::ranges::any_of(
          kept, [](const Problem& problem) { return problem.kind == Problem::Kind::copies; });
  fuzz::require(told == file.size() || (may_have_copies && told < file.size() &&
                                        (file.size() - told) % kBasicRecordBytes == 0),
                "every byte is a record's, a copy's, or lost");
  fuzz::check_binary(file);
  static constexpr std::string_view kTargets[] = {"basic1", "basic2", "basic3", "fdr2",
                                                  "fdr5",   "yaml",   "fdr1"};
  // Last, so that it can be skipped: version 1's fixed-size buffers are large.
  fuzz::check_one_conversion(file, std::span(kTargets).first(size < 512 ? 7 : 6));
  return 0;
}
