// Basic-mode logs: no crash; rewriting and conversion keep what they must.
#include <cstddef>
#include <cstdint>

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
  fuzz::require(
      count.records * kBasicRecordBytes + problems.lost_bytes() + kFileHeaderBytes == file.size(),
      "every byte is a record's or lost");
  fuzz::check_binary(file);
  for (const char* to : {"basic1", "basic2", "basic3", "fdr2", "fdr5"})
    fuzz::check_binary_conversion(file, to);
  if (size < 512) fuzz::check_binary_conversion(file, "fdr1");
  const std::string yaml = fuzz::check_conversion(file, "yaml");
  fuzz::require(fuzz::check_conversion(fuzz::as_bytes(yaml), "yaml") == yaml, "YAML reads back");
  return 0;
}
