// Budget, for each workload: telltale report >= 4 times faster than mprof-report in wall
// time on two cores, without more processor time; memory besides the mapped file <= 32 MB without
// --traces, with it or for `retention` <= 100 bytes per object of the largest heap shot.
//
//   mono_report_bench                  makes the recordings with mono and measures all
//   mono_report_bench NAME             measures the workloads whose name contains NAME
//   mono_report_bench FILE.mlpd [OPTION...]    measures this recording
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "process.h"

namespace {

using namespace telltale::bench;

constexpr double kWallBudget = 4;
constexpr double kMegabytesBudget = 32;
constexpr double kObjectBytesBudget = 100;

const std::string kTelltale = TELLTALE_BINARY_DIR "/bin/telltale";
const std::string kSource = TELLTALE_SOURCE_DIR;

struct Program {
  std::string source;    // or an .exe
  std::string profiler;  // options of --profile=log
  std::vector<std::string> arguments;
};
// Placeholders in a program's arguments. {copies}: the path of a generated source file with many
// copies of a program, each in its own namespace. {library}: the path of the library that the
// compiler writes. It is not /dev/null, because mcs replaces its output file, as root also a
// device.
const std::string kCopies = "{copies}";
const std::string kLibrary = "{library}";

struct Workload {
  std::string name;
  Program program;
  std::vector<std::string> options;  // of both reports
};

const std::string kBench = kSource + "/bench/programs/";

const std::vector<Workload>& workloads() {
  static const Program kCalls{kSource + "/tests/programs/mono/deep_calls.cs",
                              "nodefaults,calls,gc,gcalloc,gcmove,heapshot",
                              {"80", "2000"}};
  static const Program kHeap{
      kBench + "object_heap.cs", "nodefaults,heapshot,gcroot", {"56000", "2"}};
  static const Program kServer{kBench + "allocating_server.cs", "", {"4", "300000"}};
  static const Program kCompiler{"/usr/lib/mono/4.5/mcs.exe",
                                 "nodefaults,gcalloc",
                                 {"-target:library", "-out:" + kLibrary, kCopies}};
  static const std::vector<Workload> kAll = {
      {"calls", kCalls, {}},
      {"calls with --traces", kCalls, {"--traces"}},
      {"heap shots", kHeap, {}},
      {"allocations and samples",
       {kBench + "allocating_server.cs", "nodefaults,gcalloc,sample=1000", {"4", "4000"}},
       {}},
      {"a server with the profiler's default options", kServer, {}},
      {"the same server with --traces", kServer, {"--traces"}},
      {"20,000 types",
       {kBench + "many_types.cs", "nodefaults,alloc,gcmove,heapshot", {"142", "3"}},
       {}},
      // A program that was not written for this.
      {"the C# compiler", kCompiler, {}},
      {"the C# compiler with --traces", kCompiler, {"--traces"}},
      // No time budget: mprof-report needs memory for all objects, too.
      {"heap shots with --traces", kHeap, {"--traces"}},
  };
  return kAll;
}

// Recordings by the program that made them.
class Recordings {
 public:
  explicit Recordings(const Workspace& workspace) : workspace_(workspace) {}
  std::string of(const Program& program) {
    std::string& path = made_[program.source + program.profiler];
    if (!path.empty()) return path;
    path = workspace_.file(fmt::format("{}.mlpd", made_.size()));
    std::string executable = program.source;
    if (!executable.ends_with(".exe")) {
      executable = workspace_.file(fmt::format("{}.exe", made_.size()));
      run_or_exit({"mcs", "-out:" + executable, program.source}, "/dev/null");
    }
    std::vector<std::string> command = {"mono",
                                        fmt::format("--profile=log:{}{}output={}", program.profiler,
                                                    program.profiler.empty() ? "" : ",", path),
                                        executable};
    for (const std::string& argument : program.arguments) {
      std::string& word = command.emplace_back(argument == kCopies ? copies() : argument);
      if (const size_t at = word.find(kLibrary); at != std::string::npos)
        word.replace(at, kLibrary.size(), workspace_.file("copies.dll"));
    }
    // mono itself aborts in some of its recordings.
    for (int attempt = 0; run(command).status != 0; ++attempt) {
      if (attempt < 2) continue;
      fmt::print(stderr, "mono cannot record {}\n", program.source);
      std::exit(1);
    }
    return path;
  }

 private:
  [[nodiscard]] std::string copies() const {
    const std::string one = read_file(kBench + "allocating_server.cs");
    const std::string path = workspace_.file("copies.cs");
    std::ofstream all(path);
    for (int i = 0; i < 300; ++i) all << "namespace Copy" << i << " {\n" << one << "}\n";
    return path;
  }
  const Workspace& workspace_;
  std::map<std::string, std::string> made_;
};

// The minimum of several runs: other load on the machine only adds.
struct Best {
  double wall_s = 1e9;
  double cpu_s = 1e9;
  uint64_t peak_kib = 0;
  void add(const Run& one) {
    wall_s = std::min(wall_s, one.wall_s);
    cpu_s = std::min(cpu_s, one.cpu_s);
    peak_kib = std::max(peak_kib, one.peak_kib);
  }
  [[nodiscard]] double megabytes_beyond(uint64_t file) const {
    const auto peak = peak_kib * 1024;
    return peak > file ? static_cast<double>(peak - file) / 1e6 : 0;
  }
};

std::vector<std::string> command(std::vector<std::string> words, const std::string& trace,
                                 const std::vector<std::string>& options) {
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(trace);
  return words;
}

// Objects of the largest heap shot of a recording; 0 if there is none.
uint64_t largest_shot(const std::string& trace, const std::string& answer) {
  run_or_exit({kTelltale, "report", "--csv", "--reports=heapshot.shots", trace}, answer);
  const std::string text = read_file(answer);
  uint64_t largest = 0;
  size_t column = std::string::npos;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::vector<std::string> cells;
    for (size_t cell = at; cell <= end;) {
      const size_t comma = std::min(text.find(',', cell), end);
      cells.push_back(text.substr(cell, comma - cell));
      cell = comma + 1;
    }
    if (column == std::string::npos) {
      column = static_cast<size_t>(std::ranges::find(cells, "objects") - cells.begin());
    } else if (column < cells.size()) {
      largest = std::max<uint64_t>(largest, std::strtoull(cells[column].c_str(), nullptr, 10));
    }
    at = end + 1;
  }
  return largest;
}

std::string verdict(bool met) { return met ? "" : "  MISSED"; }

void print_memory(double megabytes, bool by_object, uint64_t objects) {
  if (by_object && objects != 0) {
    const double each = megabytes * 1e6 / static_cast<double>(objects);
    fmt::print("  {:.1f} MB beyond the mapped file, {:.0f} bytes per object of {} (budget {}){}\n",
               megabytes, each, objects, kObjectBytesBudget, verdict(each <= kObjectBytesBudget));
  } else {
    fmt::print("  {:.1f} MB beyond the mapped file (budget {}){}\n", megabytes, kMegabytesBudget,
               verdict(megabytes <= kMegabytesBudget));
  }
}

// False if a figure is wrong.
bool measure(const std::string& name, const std::string& trace,
             const std::vector<std::string>& options, const std::string& answer) {
  struct stat status{};
  if (::stat(trace.c_str(), &status) != 0) {
    std::perror(trace.c_str());
    std::exit(1);
  }
  const auto bytes = static_cast<uint64_t>(status.st_size);
  fmt::print("{}: {:.1f} MB\n", name, static_cast<double>(bytes) / 1e6);
  std::fflush(stdout);
  std::vector<std::string> check = {kSource + "/bench/check_mono_report.py", kTelltale, trace};
  check.insert(check.end(), options.begin(), options.end());
  if (run(check, answer).status != 0) {
    fmt::print(stderr, "  wrong figures; not timing them\n");
    return false;
  }
  fmt::print("  checked: every figure of mprof-report's; the same report with 1, 2, 8 threads\n");

  read_anew(trace);
  const auto ours_command = command({kTelltale, "report"}, trace, options);
  const auto peer_command = command({"mprof-report"}, trace, options);
  Best ours;
  Best peer;
  run_or_exit(ours_command, "/dev/null");  // warms the page cache
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 3; ++j) ours.add(run_or_exit(ours_command, "/dev/null"));
    peer.add(run_or_exit(peer_command, "/dev/null"));
  }
  const auto row = [&](const char* who, const Best& best) {
    fmt::print("  {:<15} {:8.3f} s wall {:8.3f} s cpu {:8.1f} MB peak\n", who, best.wall_s,
               best.cpu_s, static_cast<double>(best.peak_kib) / 1024);
  };
  row("telltale report", ours);
  row("mprof-report", peer);
  const double wall = peer.wall_s / ours.wall_s;
  const double cpu = peer.cpu_s / ours.cpu_s;
  fmt::print("  ratio {:.1f} wall (budget {}){}, {:.1f} cpu (budget 1){}\n", wall, kWallBudget,
             verdict(wall >= kWallBudget), cpu, verdict(cpu >= 1));
  const bool traces = std::ranges::find(options, "--traces") != options.end();
  const uint64_t objects = traces ? largest_shot(trace, answer) : 0;
  // A small shot says nothing about the memory of an object.
  print_memory(ours.megabytes_beyond(bytes), objects >= 100'000, objects);
  return true;
}

void measure_retention(const std::string& trace, const std::string& answer) {
  struct stat status{};
  if (::stat(trace.c_str(), &status) != 0) return;
  const uint64_t objects = largest_shot(trace, answer);
  Best best;
  for (int i = 0; i < 2; ++i)
    best.add(run_or_exit({kTelltale, "report", "--reports=retention", trace}, "/dev/null"));
  fmt::print("retention of the last heap shot\n  telltale report {:8.3f} s wall {:8.3f} s cpu\n",
             best.wall_s, best.cpu_s);
  print_memory(best.megabytes_beyond(static_cast<uint64_t>(status.st_size)), true, objects);
}

}  // namespace

int main(int argc, char** argv) {
  const Workspace workspace;
  const std::string answer = workspace.file("answer");
  const std::string what = argc > 1 ? argv[1] : "";
  if (what.ends_with(".mlpd"))
    return measure(what, what, std::vector<std::string>(argv + 2, argv + argc), answer) ? 0 : 1;
  Recordings recordings(workspace);
  bool right = true;
  for (const Workload& workload : workloads()) {
    if (workload.name.find(what) == std::string::npos) continue;
    const std::string trace = recordings.of(workload.program);
    right = measure(workload.name, trace, workload.options, answer) && right;
    if (workload.name == "heap shots with --traces") measure_retention(trace, answer);
  }
  return right ? 0 : 1;
}
