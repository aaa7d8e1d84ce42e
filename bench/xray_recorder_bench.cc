// Budgets of the XRay recorder: a call (two events) with its times <= 3 counter reads of the same
// run; with the clock on every 16th event <= 21 ns (where a read takes 16 ns, so 1.31 reads; the
// lesser demand counts); 8 bytes an event. Beside it, in the same rounds: clang's own FDR handler,
// uftrace, and the same calls unpatched and not instrumented.
#include <fmt/format.h>

#include <optional>

#include "process.h"
#include "telltale/recording.h"

namespace {

using telltale::bench::run;

constexpr int kRounds = 5;
constexpr double kBudgetReads = 3.0;
constexpr double kSparseBudgetReads = 21.0 / 16.1;
constexpr double kSparseBudgetNs = 21.0;

struct Way {
  std::string name;
  std::vector<std::string> command;
  std::string trace;  // what it leaves; checked in the first round, then removed
  double budget = 0;  // in counter reads a call; 0: none
  std::vector<double> call_ns;
  std::vector<double> reads;
};

struct Said {
  double counter_ns = 0;
  double call_ns = 0;
  double calls = 0;
};
std::optional<Said> run_once(const Way& way, const std::string& output) {
  if (run(way.command, output).status != 0) return std::nullopt;
  Said said;
  unsigned long long sum = 0;
  const std::string text = telltale::bench::read_file(output);
  if (std::sscanf(text.c_str(), "%lf %lf %lf %llu", &said.counter_ns, &said.call_ns, &said.calls,
                  &sum) != 4 ||
      sum == 0) {
    return std::nullopt;
  }
  return said;
}

// The recording must hold every call, with entry and exit, in 8 bytes an event.
bool check(const Way& way, double calls, int chunks) {
  if (way.trace.empty()) return true;
  if (::access(way.trace.c_str(), R_OK) != 0) return false;
  const telltale::api::Recording recording({{way.trace}, {}});
  const auto top = recording.top();
  uint64_t found = 0;
  for (const auto& row : top.rows) found += row.calls;
  // The warming call makes about 1.6 times as many.
  const bool all = static_cast<double>(found) > calls * (chunks + 1);
  const auto bytes = static_cast<double>(telltale::bench::read_file(way.trace).size());
  const double bytes_an_event = bytes / (2 * static_cast<double>(found));
  fmt::print("{}: {} calls in the recording, {:.3f} bytes an event\n", way.name, found,
             bytes_an_event);
  return all && !top.skipped.damaged && bytes_an_event < 8.1;
}

}  // namespace

int main() {
  const telltale::bench::Workspace work;
  const std::string source = TELLTALE_SOURCE_DIR "/bench/programs/xray_calls.cc";
  const std::string library = TELLTALE_XRAY_LIBRARY;
  const std::vector<std::string> clang = {"clang++-22", "-O2", "-fno-optimize-sibling-calls",
                                          source};
  const auto build = [&](std::vector<std::string> command, const std::vector<std::string>& more,
                         const std::string& name) {
    command.insert(command.end(), more.begin(), more.end());
    command.insert(command.end(), {"-o", work.file(name)});
    if (run(command).status == 0) return true;
    fmt::print("{}: cannot be built here\n", name);
    return false;
  };
  const int chunks = 9;
  const auto ours = [&](const std::string& name, const std::string& program,
                        const std::string& options, double budget) {
    const std::string trace = work.file("trace");
    return Way{name,
               {"env", "LD_PRELOAD=" + library, "TELLTALE_XRAY=file=" + trace + "," + options,
                work.file(program), std::to_string(chunks)},
               trace,
               budget,
               {},
               {}};
  };
  const auto plain = [&](const std::string& name, const std::string& program) {
    return Way{name, {work.file(program), std::to_string(chunks)}, "", 0, {}, {}};
  };
  std::vector<Way> ways;
  if (!build(clang, {}, "plain") || !build(clang, {"-fxray-instrument"}, "xray")) return 1;
  ways.push_back(plain("not instrumented", "plain"));
  ways.push_back(plain("sleds, unpatched", "xray"));
  ways.push_back(ours("telltale", "xray", "", kBudgetReads));
  ways.push_back(ours("telltale, version 1", "xray", "version=1", kBudgetReads));
  ways.push_back(
      ours("telltale, clock on every 16th event", "xray", "clock=sparse", kSparseBudgetReads));
  ways.push_back(ours("telltale, depth filter", "xray", "depth=100", 0));
  if (build(clang, {"-fxray-instrument", "-DWITH_XRAY_FDR"}, "fdr"))
    ways.push_back(plain("clang's FDR handler", "fdr"));
  const std::vector<std::string> gcc = {"g++", "-O2", source};
  if (build(gcc, {"-finstrument-functions"}, "gcc")) {
    ways.push_back(ours("telltale, gcc", "gcc", "", 0));
    ways.push_back(ours("telltale, gcc, clock on every 16th event", "gcc", "clock=sparse", 0));
  }
  if (run({"uftrace", "--version"}).status == 0 && build(gcc, {"-pg"}, "pg")) {
    ways.push_back(
        {"uftrace",
         {"uftrace", "record", "-d", work.file("uftrace"), work.file("pg"), std::to_string(chunks)},
         "",
         0,
         {},
         {}});
  }

  int failures = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (Way& way : ways) {
      const std::optional<Said> said = run_once(way, work.file("said"));
      if (!said) {
        if (round == 0) fmt::print("{}: does not run here\n", way.name);
        continue;
      }
      if (round == 0 && !check(way, said->calls, chunks)) {
        fmt::print("{}: the recording is not right\n", way.name);
        ++failures;
      }
      if (!way.trace.empty()) run({"rm", "-f", way.trace, way.trace + ".side"});
      way.call_ns.push_back(said->call_ns);
      way.reads.push_back(said->call_ns / said->counter_ns);
    }
  }
  fmt::print("{:>10} {:>8} {:>7}\n", "ns/call", "reads", "budget");
  for (const Way& way : ways) {
    const double reads = telltale::bench::median(way.reads);
    fmt::print("{:>10.1f} {:>8.2f} {:>7}  {}\n", telltale::bench::median(way.call_ns), reads,
               way.budget == 0 ? "" : fmt::format("{:.2f}", way.budget), way.name);
    const bool quick_enough = way.budget == 0 || reads <= way.budget ||
                              (way.budget == kSparseBudgetReads &&
                               telltale::bench::median(way.call_ns) <= kSparseBudgetNs);
    if (!quick_enough) ++failures;
  }
  return failures == 0 ? 0 : 1;
}
