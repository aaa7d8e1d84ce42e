// The cost per event of reading a StackTrack recording, by verb. The recorder makes the recording
// here: two threads, four million events. Checks the answer first. No other reader of these files
// exists; md5sum of the same bytes shows how fast the machine is.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <telltale/stacktrack.hpp>
#include <thread>

#include "process.h"

namespace {

constexpr uint64_t kRounds = 250'000;  // a thread
constexpr uint64_t kThreads = 2;
constexpr uint64_t kEvents = kThreads * kRounds * 8;

void inner(uint64_t i) {
  TELLTALE_BLOCK("inner");
  asm volatile("" : "+r"(i));
}
void outer(uint64_t i) {
  TELLTALE_BLOCK("outer");
  inner(i);
  inner(i + 1);
  if (i % 2 == 0) {
    TELLTALE_BLOCK("even");
    asm volatile("" : "+r"(i));
  } else {
    TELLTALE_BLOCK("odd");
    asm volatile("" : "+r"(i));
  }
}

bool record(const std::string& path) {
  telltale::st::FileOptions options;
  options.path = path.c_str();
  const int sink = telltale::st::sink_control::open(options);
  if (sink < 0) return false;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      for (uint64_t round = 0; round < kRounds; ++round) outer(round);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return telltale::st::sink_control::close(sink) == 0 &&
         telltale::st::sink_control::statistics().no_space == 0;
}

// Every call is present, with any number of jobs.
bool check(const std::string& json) {
  const std::map<std::string, uint64_t> expected = {{"outer", kThreads * kRounds},
                                                    {"inner", 2 * kThreads * kRounds},
                                                    {"even", kThreads * kRounds / 2},
                                                    {"odd", kThreads * kRounds / 2}};
  std::map<std::string, uint64_t> found;
  const nlohmann::json document = nlohmann::json::parse(json);
  for (const auto& row : document["rows"]) found[row["function"]] = row["calls"];
  return found == expected;
}

}  // namespace

int main() {
  using namespace telltale::bench;
  const std::string telltale = TELLTALE_BINARY_DIR "/bin/telltale";
  const Workspace workspace;
  const std::string recording = workspace.file("recording.tlg");
  const std::string answer = workspace.file("answer");
  if (!record(recording)) {
    fmt::print(stderr, "nothing can be recorded here\n");
    return 1;
  }
  for (const char* jobs : {"1", "2", "8"}) {
    run_or_exit({telltale, "top", "--json", "--jobs", jobs, recording}, answer);
    if (check(read_file(answer))) continue;
    fmt::print(stderr, "wrong: top with {} jobs\n", jobs);
    return 1;
  }
  fmt::print("checked: all calls of {} events, {} bytes\n", kEvents, read_file(recording).size());
  const auto each = [&](const std::vector<std::string>& command) {
    std::vector<double> ns;
    for (int i = 0; i < 5; ++i)
      ns.push_back(run_or_exit(command, "/dev/null").cpu_s * 1e9 / static_cast<double>(kEvents));
    return *std::min_element(ns.begin(), ns.end());
  };
  const double md5sum = each({"md5sum", recording});
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"info"},
        {"top"},
        {"report"},
        {"convert", "--to", "perfetto", "-o", workspace.file("out")}}) {
    std::vector<std::string> command = {telltale};
    command.insert(command.end(), words.begin(), words.end());
    command.push_back(recording);
    const double ns = each(command);
    fmt::print("{:<8} {:6.1f} ns of processor time an event, {:5.2f} x md5sum\n", words[0], ns,
               ns / md5sum);
  }
  fmt::print("{:<8} {:6.1f} ns\n", "md5sum", md5sum);
  return 0;
}
