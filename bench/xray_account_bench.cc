// Budget: per-function profile of a 157 MB FDR trace of 19.7 million records >= 100 times faster
// than `llvm-xray account`, with at most 64 MB besides the mapped file; and at most twice the time
// of summing the file's 64-bit words with the same threads. Then a recorded run of a C++ program
// with debug information, so that names, files and lines take part.
//
//   xray_account_bench [RECORDS]        checks the answers, and measures both
//   xray_account_bench RECORDS limit    compares with the sum alone: 375000000 records are 3 GB
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "base/parallel.h"
#include "process.h"
#include "slow_profile.h"
#include "support/xray_trace_maker.h"

namespace {

using telltale::bench::SlowRow;

int mistakes = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  if (++mistakes <= 10) fmt::print(stderr, "wrong: {}\n", what);
}

double to_ns(uint64_t ticks, uint64_t hz) {
  return static_cast<double>(ticks) * 1e9 / static_cast<double>(hz);
}

// `telltale top --json` against the plain computation: equal, except that quantiles may differ by 1
// %.
void check_top(const std::string& json, const std::map<uint32_t, SlowRow>& expected, uint64_t hz,
               double tolerance) {
  const auto rows = nlohmann::json::parse(json)["rows"];
  expect(rows.size() == expected.size(), "number of functions");
  for (const auto& row : rows) {
    const uint32_t id = row["id"];
    const SlowRow& want = expected.at(id);
    const auto exact = [&](const char* key, uint64_t ticks) {
      expect(std::abs(row[key].get<double>() - to_ns(ticks, hz)) <= 0.5 + 1e-9 * to_ns(ticks, hz),
             fmt::format("{} of function {}", key, id));
    };
    expect(row["calls"] == want.durations.size(), fmt::format("calls of function {}", id));
    exact("sum_ns", want.sum);
    exact("total_ns", want.total);
    exact("self_ns", want.self);
    exact("min_ns", want.durations.front());
    exact("max_ns", want.durations.back());
    const std::pair<const char*, double> quantiles[] = {
        {"median_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}};
    for (const auto& [key, fraction] : quantiles) {
      const double right = to_ns(want.at(fraction), hz);
      expect(std::abs(row[key].get<double>() - right) <= 0.5 + tolerance * right,
             fmt::format("{} of function {}", key, id));
    }
  }
}

// `llvm-xray account --format=csv` against the plain computation: its figures have seven digits.
void check_peer(const std::string& csv, const std::map<uint32_t, SlowRow>& expected, uint64_t hz) {
  size_t rows = 0;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);  // headings
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    unsigned id = 0;
    unsigned long long count = 0;
    double figures[6] = {};
    if (std::sscanf(line.c_str(), "%u,%llu,%lf,%lf,%lf,%lf,%lf,%lf", &id, &count, &figures[0],
                    &figures[1], &figures[2], &figures[3], &figures[4], &figures[5]) != 8) {
      continue;
    }
    ++rows;
    const SlowRow& want = expected.at(id);
    const double right[] = {to_ns(want.durations.front(), hz), to_ns(want.at(0.5), hz),
                            to_ns(want.at(0.9), hz),           to_ns(want.at(0.99), hz),
                            to_ns(want.durations.back(), hz),  to_ns(want.sum, hz)};
    expect(count == want.durations.size(), fmt::format("llvm-xray's count of function {}", id));
    for (int i = 0; i < 6; ++i) {
      expect(std::abs(figures[i] * 1e9 - right[i]) <= 1e-6 * right[i] + 1e-3,
             fmt::format("llvm-xray's figure {} of function {}", i, id));
    }
  }
  expect(rows == expected.size(), "number of functions in llvm-xray's table");
}

// The lower bound: maps a file, and sums its words on all cores.
int sum_words(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0) return 1;
  const auto bytes = static_cast<size_t>(status.st_size);
  const void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (mapped == MAP_FAILED) return 1;
  constexpr size_t kPieceBytes = size_t{4} << 20;  // as top's shards
  const size_t words = bytes / sizeof(uint64_t);
  constexpr size_t kPieceWords = kPieceBytes / sizeof(uint64_t);
  std::atomic<uint64_t> sum = 0;
  telltale::parallel_for((words + kPieceWords - 1) / kPieceWords, telltale::worker_count(0),
                         [&](size_t piece, size_t) {
                           const auto* at =
                               static_cast<const uint64_t*>(mapped) + piece * kPieceWords;
                           const size_t count = std::min(kPieceWords, words - piece * kPieceWords);
                           sum += std::accumulate(at, at + count, uint64_t{0});
                         });
  fmt::print("{}\n", sum.load());
  return 0;
}

// Drops the file from memory.
void forget(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) return;
  ::fdatasync(file);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

struct Fastest {
  double wall_s = 1e9;
  double cpu_s = 1e9;
};

void compare_with_sum(const std::string& top, const std::string& self, const std::string& trace) {
  using namespace telltale::bench;
  const std::vector<std::string> commands[] = {{top, "top", trace}, {self, "sum", trace}};
  for (const bool cold : {false, true}) {
    Fastest fastest[2];
    read_anew(trace);
    for (int i = 0; i < (cold ? 3 : 7); ++i) {
      for (size_t which = 0; which < 2; ++which) {
        if (cold) forget(trace);
        const Run one = run_or_exit(commands[which], "/dev/null");
        fastest[which].wall_s = std::min(fastest[which].wall_s, one.wall_s);
        fastest[which].cpu_s = std::min(fastest[which].cpu_s, one.cpu_s);
      }
    }
    const double ratio = fastest[0].wall_s / fastest[1].wall_s;
    fmt::print(
        "  {} page cache: top {:.3f} s wall {:.3f} s cpu, sum of words {:.3f} s wall {:.3f} s cpu; "
        "ratio {:.2f} wall (budget 2){}, {:.2f} cpu\n",
        cold ? "cold" : "warm", fastest[0].wall_s, fastest[0].cpu_s, fastest[1].wall_s,
        fastest[1].cpu_s, ratio, ratio <= 2 ? "" : "  MISSED", fastest[0].cpu_s / fastest[1].cpu_s);
  }
}

// What names, files and lines add, for a C++ program with debug information.
void measure_names(const std::string& telltale, const std::string& self,
                   const telltale::bench::Workspace& workspace) {
  using namespace telltale::bench;
  constexpr const char* kItems = "2000";
  const std::string program = workspace.file("named_calls");
  const std::string recorded = workspace.file("named.xray");
  const std::string trace = workspace.file("named.fdr");
  run_or_exit({"clang-22", "--driver-mode=g++", "-std=c++20", "-g", "-O0", "-fxray-instrument",
               "-fxray-instruction-threshold=1", "-o", program,
               std::string(TELLTALE_SOURCE_DIR) + "/bench/programs/named_calls.cc"},
              "/dev/null");
  // No waits: slow_profile() knows calls alone.
  run_or_exit({telltale, "run", "--set", "waits=off", "-o", recorded, "--", program, kItems},
              "/dev/null");
  run_or_exit({telltale, "convert", "--to", "fdr3", "-o", trace, recorded}, "/dev/null");
  const std::string answer = workspace.file("answer");
  run_or_exit({telltale, "top", "--json", "--exact", "--program", program, trace}, answer);
  const std::string bytes = read_file(trace);
  const auto expected = slow_profile(bytes);
  uint64_t hz = 0;
  std::memcpy(&hz, bytes.data() + 8, sizeof hz);  // the file header's cycle frequency
  check_top(read_file(answer), expected, hz, 0);
  size_t named = 0;
  const auto rows = nlohmann::json::parse(read_file(answer))["rows"];
  for (const auto& row : rows) {
    if (!row["function"].get<std::string>().starts_with("shop::parse")) continue;
    ++named;
    expect(std::to_string(row["calls"].get<uint64_t>()) == kItems, "calls of shop::parse");
    expect(row["file"].get<std::string>().ends_with("named_calls.cc"), "file of shop::parse");
  }
  expect(named == 1, "functions named shop::parse");
  if (mistakes != 0) return;
  fmt::print("a C++ program with debug information, {} bytes; {} functions called, {} bytes\n",
             std::filesystem::file_size(program), expected.size(), bytes.size());
  const std::pair<const char*, std::vector<std::string>> commands[] = {
      {"sum of words", {self, "sum", trace}},
      {"top without the program", {telltale, "top", trace}},
      {"top", {telltale, "top", "--program", program, trace}},
      {"top --json", {telltale, "top", "--json", "--program", program, trace}}};
  read_anew(trace);
  Fastest fastest[std::size(commands)];
  for (int i = 0; i < 7; ++i) {
    for (size_t which = 0; which < std::size(commands); ++which) {
      const Run one = run_or_exit(commands[which].second, "/dev/null");
      fastest[which].wall_s = std::min(fastest[which].wall_s, one.wall_s);
      fastest[which].cpu_s = std::min(fastest[which].cpu_s, one.cpu_s);
    }
  }
  for (size_t which = 0; which < std::size(commands); ++which) {
    fmt::print("  {:<24} {:.3f} s wall {:.3f} s cpu, {:.2f} times the sum\n", commands[which].first,
               fastest[which].wall_s, fastest[which].cpu_s,
               fastest[which].wall_s / fastest[0].wall_s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace telltale::bench;
  if (argc == 3 && std::string_view(argv[1]) == "sum") return sum_words(argv[2]);
  TraceShape shape;
  if (argc > 1) shape.records = std::strtoull(argv[1], nullptr, 10);
  const bool limit_alone = argc > 2;
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  const std::string telltale = TELLTALE_BINARY_DIR "/bin/telltale";
  const std::string peer = "llvm-xray-22";
  const Workspace workspace;
  const std::string trace = workspace.file("trace.fdr");
  uint64_t trace_bytes = 0;
  if (limit_alone) {
    write_file(trace, XrayTraceMaker(shape).make());
    fmt::print("{} records, {} bytes\n", shape.records, std::filesystem::file_size(trace));
    compare_with_sum(telltale, self, trace);
    return 0;
  }
  {
    const std::string bytes = XrayTraceMaker(shape).make();
    trace_bytes = bytes.size();
    write_file(trace, bytes);
    const auto expected = slow_profile(bytes);
    const std::string answer = workspace.file("answer");
    for (const char* jobs : {"1", "2", "8"}) {
      run_or_exit({telltale, "top", "--json", "--jobs", jobs, trace}, answer);
      check_top(read_file(answer), expected, shape.cycle_frequency, 0.01);
    }
    run_or_exit({telltale, "top", "--json", "--exact", trace}, answer);
    check_top(read_file(answer), expected, shape.cycle_frequency, 0);
    run_or_exit({peer, "account", "--format=csv", trace}, answer);
    check_peer(read_file(answer), expected, shape.cycle_frequency);
  }
  if (mistakes != 0) {
    fmt::print(stderr, "{} wrong figures; not timing them\n", mistakes);
    return 1;
  }
  fmt::print("checked: every figure of telltale top (1, 2, 8 threads; --exact) and of {} account\n",
             peer);

  read_anew(trace);
  const Duel result = duel({telltale, "top", trace}, {peer, "account", trace}, 3, 5);
  const uint64_t beyond =
      result.ours.peak_kib * 1024 > trace_bytes ? result.ours.peak_kib * 1024 - trace_bytes : 0;
  fmt::print("account of {} records, {} bytes\n", shape.records, trace_bytes);
  fmt::print("  telltale top       {:8.3f} s wall {:8.3f} s cpu {:8.1f} MB peak\n",
             result.ours.wall_s, result.ours.cpu_s,
             static_cast<double>(result.ours.peak_kib) / 1024);
  fmt::print("  {} account {:6.3f} s wall {:8.3f} s cpu {:8.1f} MB peak\n", peer,
             result.peer.wall_s, result.peer.cpu_s,
             static_cast<double>(result.peer.peak_kib) / 1024);
  fmt::print(
      "  ratio {:.1f} wall, {:.1f} cpu (budget 100); {:.1f} MB beyond the mapped file (budget "
      "64)\n",
      result.ratio(), result.peer.cpu_s / result.ours.cpu_s, static_cast<double>(beyond) / 1e6);
  compare_with_sum(telltale, self, trace);
  measure_names(telltale, self, workspace);
  return mistakes == 0 ? 0 : 1;
}
