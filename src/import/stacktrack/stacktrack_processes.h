#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace telltale {

// What one file has of one process. Times are ticks of its clock.
struct StacktrackPart {
  int64_t pid = 0;
  uint32_t file = 0;
  std::string series;        // series_of() the file's name
  std::string program;       // empty: not recorded
  uint64_t first_cycle = 0;  // write cycles; 0: not recorded
  uint64_t last_cycle = 0;
  double start = 0;         // of the last cycle
  double ticks_per_ms = 0;  // 0: not recorded
  struct Span {
    double first = 0;
    double last = 0;
  };
  std::map<int64_t, Span> threads;  // from the first HIT to the last, by tid
};

// The path of a rotated file without its number and extension: "logs/shop_1" for
// "logs/shop_1_7.tlg". Empty if the name has no number.
[[nodiscard]] std::string series_of(const std::string& path);

// Processes, in order of pid, then of their first file.
struct StacktrackProcesses {
  std::vector<uint32_t> of_parts;   // by part: the number of its process
  std::vector<uint32_t> among_pid;  // by process: as ThreadKey::process
};

// Which parts are of one process. A pid does not say it: containers have the same ones, and the
// kernel reuses them. A part continues another with its pid (rotation, a sink that was closed and
// opened again) if it is of the same program, in a later write cycle (they grow within a process;
// a program that the process executes begins with 1 again), and if each of its threads goes on
// where it was. Of several such parts it continues that of its series, then the one that ended
// last. Parts that share events
// are of one process in any case: of sinks that were open at the same time. `share_events` says it
// of two parts with one pid, by their indexes; empty: none do.
[[nodiscard]] StacktrackProcesses number_processes(
    std::span<const StacktrackPart> parts,
    const std::function<bool(size_t, size_t)>& share_events = {});

}  // namespace telltale
