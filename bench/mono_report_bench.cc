// Budget: all default reports of a 118 MB recording of calls >= 4 times faster than mprof-report.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>

#include "process.h"

namespace {

int mistakes = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  if (++mistakes <= 10) fmt::print(stderr, "wrong: {}\n", what);
}

// Figures of mprof-report's text.
struct Peer {
  std::multimap<std::string, std::tuple<uint64_t, uint64_t, uint64_t>> calls;  // total, self, calls
  std::multimap<std::string, std::tuple<uint64_t, uint64_t, uint64_t>>
      types;  // bytes, objects, avg
  uint64_t total_calls = 0;
  uint64_t bytes = 0;
  uint64_t objects = 0;
};

Peer read_peer(const std::string& text) {
  Peer peer;
  std::istringstream lines(text);
  std::string line;
  auto* rows = &peer.calls;
  bool in_rows = false;
  while (std::getline(lines, line)) {
    unsigned long long a = 0;
    unsigned long long b = 0;
    unsigned long long c = 0;
    int name = 0;
    if (line.starts_with("Total(ms) Self(ms)") ||
        line.find("Average Type name") != std::string::npos) {
      rows = line.starts_with("Total(ms)") ? &peer.calls : &peer.types;
      in_rows = true;
    } else if (in_rows && std::sscanf(line.c_str(), "%llu %llu %llu %n", &a, &b, &c, &name) == 3) {
      rows->insert({line.substr(static_cast<size_t>(name)), {a, b, c}});
    } else if (std::sscanf(line.c_str(), "Total calls: %llu", &a) == 1) {
      peer.total_calls = a;
      in_rows = false;
    } else if (std::sscanf(line.c_str(), "Total memory allocated: %llu bytes in %llu", &a, &b) ==
               2) {
      peer.bytes = a;
      peer.objects = b;
      in_rows = false;
    }
  }
  return peer;
}

// `--like-mprof` has every figure of mprof-report's, the corrected report those that are right.
void check(const nlohmann::json& like, const nlohmann::json& ours, const Peer& peer) {
  Peer same;
  for (const auto& row : like["call"]["methods"])
    same.calls.insert({row["method"], {row["total_ms"], row["self_ms"], row["calls"]}});
  for (const auto& row : like["alloc"]["types"])
    same.types.insert({row["type"], {row["bytes"], row["objects"], row["average"]}});
  expect(!peer.calls.empty(), "mprof-report printed methods");
  expect(same.calls == peer.calls, "methods with --like-mprof");
  expect(same.types == peer.types, "types with --like-mprof");
  for (const nlohmann::json* report : {&like, &ours}) {
    expect((*report)["call"]["calls"] == peer.total_calls, "number of calls");
    expect((*report)["alloc"]["bytes"] == peer.bytes, "bytes allocated");
    expect((*report)["alloc"]["objects"] == peer.objects, "objects allocated");
  }
  std::map<std::string, std::pair<uint64_t, uint64_t>> self;
  for (const auto& [name, row] : peer.calls) self[name] = {std::get<1>(row), std::get<2>(row)};
  for (const auto& row : ours["call"]["methods"]) {
    const auto found = self.find(row["method"]);
    if (found == self.end() || peer.calls.count(found->first) != 1) continue;
    expect(row["self_ns"].get<uint64_t>() / 1'000'000 == found->second.first &&
               row["calls"] == found->second.second,
           "own time of " + found->first);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace telltale::bench;
  const std::string telltale = TELLTALE_BINARY_DIR "/bin/telltale";
  const Workspace workspace;
  std::string trace = workspace.file("calls.mlpd");
  if (argc > 1) {
    trace = argv[1];
  } else {
    const std::string program = workspace.file("deep_calls.exe");
    run_or_exit(
        {"mcs", "-out:" + program, TELLTALE_SOURCE_DIR "/tests/programs/mono/deep_calls.cs"},
        "/dev/null");
    run_or_exit(
        {"mono", "--profile=log:nodefaults,calls,gc,gcalloc,gcmove,heapshot,output=" + trace,
         program, "105", "2000"},
        "/dev/null");
  }
  struct stat status{};
  if (::stat(trace.c_str(), &status) != 0) {
    std::perror(trace.c_str());
    return 1;
  }
  const std::string answer = workspace.file("answer");
  const auto report = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {telltale, "report", "--json", trace});
    run_or_exit(options, answer);
    return read_file(answer);
  };
  run_or_exit({"mprof-report", trace}, answer);
  const Peer peer = read_peer(read_file(answer));
  const std::string ours = report({});
  check(nlohmann::json::parse(report({"--like-mprof"})), nlohmann::json::parse(ours), peer);
  for (const char* jobs : {"1", "2", "8"})
    expect(report({"--jobs", jobs}) == ours, fmt::format("the same report with {} threads", jobs));
  if (mistakes != 0) {
    fmt::print(stderr, "{} wrong figures; not timing them\n", mistakes);
    return 1;
  }
  fmt::print(
      "checked: methods and types against mprof-report's; the same report with 1, 2, 8 threads\n");

  read_anew(trace);
  const Duel result = duel({telltale, "report", trace}, {"mprof-report", trace}, 5, 3);
  const auto bytes = static_cast<uint64_t>(status.st_size);
  const auto beyond =
      static_cast<double>(result.ours.peak_kib) / 1024 - static_cast<double>(bytes) / (1 << 20);
  fmt::print("all default reports of {} bytes\n", bytes);
  fmt::print("  telltale report {:8.3f} s wall {:8.3f} s cpu {:8.1f} MB peak\n", result.ours.wall_s,
             result.ours.cpu_s, static_cast<double>(result.ours.peak_kib) / 1024);
  fmt::print("  mprof-report    {:8.3f} s wall {:8.3f} s cpu {:8.1f} MB peak\n", result.peer.wall_s,
             result.peer.cpu_s, static_cast<double>(result.peer.peak_kib) / 1024);
  fmt::print("  ratio {:.1f} wall, {:.1f} cpu (budget 4); {:.1f} MB beyond the mapped file\n",
             result.ratio(), result.peer.cpu_s / result.ours.cpu_s, std::max(beyond, 0.0));
  return 0;
}
