#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace telltale::bench {

// One finished run of a command, with the operating system's accounting.
struct Run {
  int status = -1;  // exit status; -1: could not be started, or died of a signal
  double wall_s = 0;
  double cpu_s = 0;       // user and system
  uint64_t peak_kib = 0;  // largest resident set, mapped files included
};

// Runs argv[0] (searched in PATH) to its end, standard output to `output` (a path, or /dev/null).
inline Run run(const std::vector<std::string>& arguments, const std::string& output = "/dev/null") {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (out < 0) ::_exit(127);
    ::dup2(out, STDOUT_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  Run result;
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) return result;
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  result.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.peak_kib = static_cast<uint64_t>(usage.ru_maxrss);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// Several runs of one command: the medians, and the largest peak.
struct Measured {
  double wall_s = 0;
  double cpu_s = 0;
  uint64_t peak_kib = 0;
};

// Runs both commands alternately, so that both see the same machine; the peer once every
// `ours_per_peer` runs. The first run of ours warms the page cache and does not count. Exits if a
// command fails.
struct Duel {
  Measured ours;
  Measured peer;
  [[nodiscard]] double ratio() const { return peer.wall_s / ours.wall_s; }
};
inline Measured summarise(const std::vector<Run>& runs) {
  std::vector<double> walls;
  std::vector<double> cpus;
  Measured measured;
  for (const Run& one : runs) {
    walls.push_back(one.wall_s);
    cpus.push_back(one.cpu_s);
    measured.peak_kib = std::max(measured.peak_kib, one.peak_kib);
  }
  measured.wall_s = median(walls);
  measured.cpu_s = median(cpus);
  return measured;
}
inline Run run_or_exit(const std::vector<std::string>& command, const std::string& output) {
  const Run one = run(command, output);
  if (one.status != 0) {
    std::fprintf(stderr, "%s failed with status %d\n", command[0].c_str(), one.status);
    std::exit(1);
  }
  return one;
}
inline Duel duel(const std::vector<std::string>& ours, const std::vector<std::string>& peer,
                 int peer_runs, int ours_per_peer) {
  std::vector<Run> our_runs;
  std::vector<Run> peer_runs_done;
  run_or_exit(ours, "/dev/null");
  for (int i = 0; i < peer_runs; ++i) {
    for (int j = 0; j < ours_per_peer; ++j) our_runs.push_back(run_or_exit(ours, "/dev/null"));
    peer_runs_done.push_back(run_or_exit(peer, "/dev/null"));
  }
  return {summarise(our_runs), summarise(peer_runs_done)};
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Writes a file to the disk and reads it back, as for a recording that is read some time after it
// was written: pages from read-ahead are mapped several times faster than those that a program
// wrote piece by piece.
inline void read_anew(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) return;
  ::fsync(file);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  std::vector<char> piece(size_t{1} << 20);
  while (::read(file, piece.data(), piece.size()) > 0) {
  }
  ::close(file);
}

// A fresh folder that is removed at the end.
class Workspace {
 public:
  Workspace() {
    const char* const folder = std::getenv("TMPDIR");
    std::string pattern =
        std::string(folder == nullptr ? "/tmp" : folder) + "/telltale-bench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      std::perror("mkdtemp");
      std::exit(1);
    }
    path_ = pattern;
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { run({"rm", "-rf", path_}); }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace telltale::bench
