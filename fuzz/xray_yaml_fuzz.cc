// llvm-xray's YAML: no crash; what was read can be written and read again.
#include <cstddef>
#include <cstdint>

#include "formats/xray/yaml_trace.h"
#include "xray_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telltale;
  using namespace telltale::xray;
  const Bytes file = std::as_bytes(std::span(data, size));
  ProblemLog problems;
  const Result<YamlTrace> trace = read_yaml_trace(file, "f", problems);
  fuzz::require_placed(problems, file);
  if (!trace) return 0;
  for (const YamlRecord& record : trace->records) {
    fuzz::require(record.offset <= size, "a record is placed inside the input");
    fuzz::require(trace->data_of(record).size() <= size, "payloads are parts of the input");
  }
  if (!looks_like_yaml_trace(file)) return 0;
  static constexpr std::string_view kTargets[] = {"yaml", "basic3", "fdr5", "fdr2"};
  fuzz::check_one_conversion(file, kTargets);
  return 0;
}
