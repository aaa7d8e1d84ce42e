// A program worth recording: telltale's own decoder and profiler, compiled with
// -finstrument-functions, reads a trace. It has no code for recording:
//
//   telltale run -o decoder.xray -- traced_decoder TRACE
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/profile.h"
#include "bytes/input_file.h"
#include "import/id_names.h"
#include "import/xray/xray_recording.h"

namespace {

// Writes what both threads found; one line each.
void say(const char* what, size_t number, const telltale::ProblemLog& problems) {
  std::printf("%s: %zu, problems: %llu\n", what, number,
              static_cast<unsigned long long>(problems.count()));
}

// The program's work: a profile and a call tree of a trace, on a thread each.
telltale::Result<void> work(const std::string& path) {
  telltale::Result<telltale::InputFile> input = telltale::InputFile::open(path);
  if (!input) return std::unexpected(input.error());
  std::vector<telltale::InputFile> inputs;
  inputs.push_back(std::move(*input));
  const auto recording =
      telltale::XrayRecording::open(std::move(inputs), std::make_shared<telltale::IdNames>());
  if (!recording) return std::unexpected(recording.error());

  std::thread accountant([&] {
    telltale::ProblemLog problems;
    const telltale::Profile profile =
        telltale::compute_profile(*recording, {.filter = {}, .workers = 1}, problems);
    say("functions", profile.functions.size(), problems);
  });
  std::thread gardener([&] {
    telltale::ProblemLog problems;
    const auto tree = telltale::build_call_tree(*recording, {}, /*workers=*/1, {}, problems);
    if (tree) say("places in the call tree", tree->nodes.size(), problems);
  });
  accountant.join();
  gardener.join();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: traced_decoder TRACE\n");
    return 2;
  }
  const telltale::Result<void> done = work(argv[1]);
  if (!done) {
    std::fprintf(stderr, "traced_decoder: %s\n", telltale::to_string(done.error()).c_str());
    return 1;
  }
  return 0;
}
