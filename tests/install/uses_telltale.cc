// Prints what the library says of a recording: uses_telltale RECORDING PROGRAM OUTPUT
#include <telltale/recording.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    telltale::api::OpenOptions options;
    options.files = {argv[1]};
    options.programs = {argv[2]};
    const telltale::api::Recording recording(options);
    const telltale::api::Info info = recording.info();
    std::cout << telltale::api::version() << '\n'
              << info.format << ' ' << info.version << ' ' << info.records << ' '
              << info.threads.size() << ' ' << info.span_ns << ' ' << info.problem_count << ' '
              << info.damaged << '\n';
    for (const telltale::api::FunctionRow& row : recording.top()) {
      std::cout << row.calls << ' ' << row.total_ns << ' ' << row.self_ns << ' ' << row.median_ns
                << ' ' << row.max_ns << ' ' << row.function << '\n';
    }
    recording.export_calls("folded", argv[3]);
  } catch (const telltale::api::Error& error) {
    std::cout << "error: " << error.what() << '\n';
    return 1;
  }
}
