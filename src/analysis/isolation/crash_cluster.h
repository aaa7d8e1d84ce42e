#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace telltale::isolation {

// A frame of the stack with which a run ended. Text is as in the program, never trusted.
struct StackFrame {
  std::string function;  // demangled; empty: unknown
  std::string file;      // of the source; empty: unknown
  uint64_t line = 0;     // 0: unknown
  std::string module;    // path of the program or library; empty: unknown

  bool operator==(const StackFrame&) const = default;
};

// How a failed run ended.
struct Crash {
  std::string ending;             // "SIGSEGV", "status 3", "timeout"
  std::vector<StackFrame> stack;  // the innermost frame first; empty: unknown
  bool by_signal = true;          // else the program ended by itself
};

// Failed runs with the same ending and the same normalised stack.
struct CrashCluster {
  std::string id;  // eight hexadecimal digits: a hash of the other two, so it is the same in all
                   // studies
  std::string ending;
  std::string stack;            // normalise_stack()
  std::vector<size_t> members;  // indices of crashes, ascending
};

// The names of the three innermost functions of the program, "merge < add < main". Frames of the
// system's libraries, of Telltale's runtime and of what reports a fault (abort, assertions,
// sanitizers, allocators) are left out. A function that repeats counts once, since the depth of a
// recursion varies. If nothing else is left, the innermost frames as they are, if a signal ended
// the run: a program that ended by itself, after main() had returned, has only frames of what calls
// main. Empty: no stack.
std::string normalise_stack(std::span<const StackFrame> stack, bool by_signal = true);

// The clusters of `crashes`: the largest first, of equal ones the one with the earliest member.
std::vector<CrashCluster> cluster_crashes(std::span<const Crash> crashes);

}  // namespace telltale::isolation
