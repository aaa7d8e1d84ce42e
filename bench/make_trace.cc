// Writes the benchmark trace (xray_trace_maker.h) to a file: make_trace FILE [RECORDS] [FUNCTIONS]
// [SEED]
#include <cstdio>
#include <cstdlib>

#include "support/xray_trace_maker.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_trace FILE [RECORDS] [FUNCTIONS] [SEED]\n");
    return 2;
  }
  telltale::bench::TraceShape shape;
  if (argc > 2) shape.records = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) shape.functions = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  if (argc > 4) shape.seed = static_cast<uint32_t>(std::strtoul(argv[4], nullptr, 10));
  const std::string trace = telltale::bench::XrayTraceMaker(shape).make();
  std::FILE* file = std::fopen(argv[1], "wb");
  if (file == nullptr || std::fwrite(trace.data(), 1, trace.size(), file) != trace.size() ||
      std::fclose(file) != 0) {
    std::perror(argv[1]);
    return 1;
  }
  return 0;
}
