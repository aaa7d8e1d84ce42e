// Prints the library's answers about a recording: uses_telltale RECORDING PROGRAM OUTPUT
// An empty PROGRAM is none.
#include <telltale/recording.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    telltale::api::OpenOptions options;
    options.files = {argv[1]};
    if (argv[2][0] != '\0') options.programs = {argv[2]};
    const telltale::api::Recording recording(options);
    const telltale::api::Info info = recording.info();
    std::cout << telltale::api::version() << '\n'
              << info.format << ' ' << info.version << ' ' << info.records << ' '
              << info.threads.size() << ' ' << info.span_ns << ' ' << info.skipped.problem_count
              << ' ' << info.skipped.lost_bytes << '\n';
    const telltale::api::Top top = recording.top();
    for (const telltale::api::FunctionRow& row : top.rows) {
      std::cout << row.calls << ' ' << row.total_ns << ' ' << row.self_ns << ' ' << row.median_ns
                << ' ' << row.max_ns << ' ' << row.function << '\n';
    }
    const telltale::api::Skipped skipped = recording.export_calls("folded", argv[3]);
    if (skipped.flattened != 0) std::cout << "flattened: " << skipped.flattened << '\n';
    for (const telltale::api::Problem& problem : skipped.problems) {
      std::cout << "problem: " << problem.offset << ' ' << problem.record << ' '
                << problem.lost_bytes << '\n';
    }
  } catch (const telltale::api::Error& error) {
    std::cout << "error: " << error.what() << '\n';
    return 1;
  }
}
