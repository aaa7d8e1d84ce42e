// Budget: per-function account of a 157 MB FDR trace of 19.7 million records >= 100 times faster
// than `llvm-xray account`, with at most 64 MB beyond the mapped file.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

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

// `telltale top --json` against the plain computation: exact but for quantiles, which may be 1 %
// off.
void check_top(const std::string& json, const std::map<uint32_t, SlowRow>& expected, uint64_t hz,
               double tolerance) {
  const auto rows = nlohmann::json::parse(json);
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

}  // namespace

int main(int argc, char** argv) {
  using namespace telltale::bench;
  TraceShape shape;
  if (argc > 1) shape.records = std::strtoull(argv[1], nullptr, 10);
  const std::string telltale = TELLTALE_BINARY_DIR "/bin/telltale";
  const std::string peer = "llvm-xray-22";
  const Workspace workspace;
  const std::string trace = workspace.file("trace.fdr");
  uint64_t trace_bytes = 0;
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
  return 0;
}
