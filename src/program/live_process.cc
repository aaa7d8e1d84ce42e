#include "program/live_process.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "program/core_registers.h"

namespace telltale {
namespace {

constexpr uint64_t kMostStackBytes = uint64_t{16} << 20;
// What is copied below the stack pointer: the compiler may use 128 bytes (System V ABI, AMD64
// supplement, 3.2.2), and while a function returns, its variables are there.
constexpr uint64_t kBelowStackPointer = 1024;
// ELF header, program headers and build-id are at the beginning of a file.
constexpr uint64_t kHeaderBytes = 4096;

struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool readable = false;
};

std::string proc(pid_t pid, std::string_view name) { return fmt::format("/proc/{}/{}", pid, name); }

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string process_name(pid_t pid) { return fmt::format("process {}", pid); }

// Threads that are stopped; they go on when this ends. The kernel lets them go on if telltale is
// killed, too.
class StoppedThreads {
 public:
  explicit StoppedThreads(pid_t pid) : pid_(pid) {}
  StoppedThreads(const StoppedThreads&) = delete;
  StoppedThreads& operator=(const StoppedThreads&) = delete;
  ~StoppedThreads() { release(); }

  // Stops also threads that others start meanwhile.
  Result<void> stop_all() {
    for (bool found = true; found;) {
      found = false;
      std::error_code failed;
      for (std::filesystem::directory_iterator task(proc(pid_, "task"), failed), end;
           !failed && task != end; task.increment(failed)) {
        const std::string name = task->path().filename();
        pid_t tid = 0;
        std::from_chars(name.data(), name.data() + name.size(), tid);
        if (tid == 0 || stopped_.contains(tid)) continue;
        const Result<bool> stopped = stop(tid);
        if (!stopped) return std::unexpected(stopped.error());
        found = found || *stopped;
      }
      if (failed) return io_error(process_name(pid_), "cannot be read", failed.value());
    }
    if (stopped_.empty()) return io_error(process_name(pid_), "cannot be stopped", ESRCH);
    return {};
  }

  void release() {
    for (const pid_t tid : stopped_) ptrace(PTRACE_DETACH, tid, nullptr, pending_signal(tid));
    stopped_.clear();
  }

  // In the order of their numbers: the first thread of the process is the first.
  [[nodiscard]] const std::set<pid_t>& threads() const { return stopped_; }

 private:
  // False for a thread that ended meanwhile.
  Result<bool> stop(pid_t tid) {
    if (ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      if (errno == ESRCH && tid != pid_) return false;
      return io_error(process_name(pid_), "cannot be stopped", errno);
    }
    if (ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) return false;
    int status = 0;
    while (waitpid(tid, &status, __WALL) < 0) {
      if (errno != EINTR) return false;
    }
    if (!WIFSTOPPED(status)) return false;
    stopped_.insert(tid);
    // A signal that arrived first is delivered when the thread goes on.
    if ((status >> 16) == 0) signals_.emplace_back(tid, WSTOPSIG(status));
    return true;
  }

  [[nodiscard]] long pending_signal(pid_t tid) const {
    const auto found = std::ranges::find(signals_, tid, &std::pair<pid_t, int>::first);
    return found == signals_.end() ? 0 : found->second;
  }

  pid_t pid_;
  std::set<pid_t> stopped_;
  std::vector<std::pair<pid_t, int>> signals_;
};

Result<CoreThread> read_thread(pid_t pid, pid_t tid) {
  std::array<uint64_t, 64> stored{};
  iovec buffer{.iov_base = stored.data(), .iov_len = sizeof(stored)};
  if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &buffer) != 0)
    return io_error(process_name(pid), "registers cannot be read", errno);
  CoreThread thread;
  thread.tid = tid;
  if (!set_core_registers(kCoreMachine, std::span(stored).first(buffer.iov_len / sizeof(uint64_t)),
                          thread))
    return usage_error(fmt::format("{} is not a 64-bit process", process_name(pid)));
  return thread;
}

// "55d0-55d2 r--p 00000000 08:01 1234   /usr/bin/cat" (proc_pid_maps(5))
void read_maps(pid_t pid, CoreParts& parts, std::vector<MemoryRange>& ranges) {
  std::ifstream in(proc(pid, "maps"));
  for (std::string line; std::getline(in, line);) {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t offset = 0;
    const char* at = line.data();
    const char* const stop = line.data() + line.size();
    at = std::from_chars(at, stop, begin, 16).ptr;
    if (at == stop || *at != '-') continue;
    at = std::from_chars(at + 1, stop, end, 16).ptr;
    const auto rest = std::string_view(at, static_cast<size_t>(stop - at));
    ranges.push_back({begin, end, rest.starts_with(" r")});
    constexpr size_t kOffset = 6;  // after " r-xp "
    if (rest.size() < kOffset) continue;
    std::from_chars(at + kOffset, stop, offset, 16);
    const size_t path = rest.find('/');
    if (path == std::string_view::npos) continue;
    parts.mappings.push_back({.begin = begin,
                              .end = end,
                              .file_offset = offset,
                              .path = std::string(rest.substr(path)),
                              .build_id = {}});
  }
}

uint64_t program_headers_address(pid_t pid) {
  const std::string vector = read_all(proc(pid, "auxv"));
  for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= vector.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, vector.data() + at, sizeof(entry));
    if (entry.a_type == AT_PHDR) return entry.a_un.a_val;
  }
  return 0;
}

std::string command_line(pid_t pid) {
  std::string command = read_all(proc(pid, "cmdline"));
  while (command.ends_with('\0')) command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return command;
}

// Appends the process's memory from `begin` to `end`, as far as it can be read.
void copy_memory(pid_t pid, uint64_t begin, uint64_t end, ProcessSnapshot& snapshot) {
  const size_t offset = snapshot.memory.size();
  snapshot.memory.resize(offset + (end - begin));
  iovec here{.iov_base = snapshot.memory.data() + offset, .iov_len = end - begin};
  iovec there{.iov_base = reinterpret_cast<void*>(begin),  // NOLINT(performance-no-int-to-ptr)
              .iov_len = end - begin};
  const ssize_t read = process_vm_readv(pid, &here, 1, &there, 1, 0);
  const auto size = static_cast<size_t>(std::max<ssize_t>(read, 0));
  snapshot.memory.resize(offset + size);
  if (size == 0) return;
  snapshot.parts.memory.push_back({.type = PT_LOAD,
                                   .flags = PF_R,
                                   .offset = offset,
                                   .address = begin,
                                   .file_size = size,
                                   .memory_size = size});
}

// From the stack pointer to the end of the mapping. Stacks of threads in one mapping (goroutines,
// split stacks) would overlap: what was copied is not copied again.
void copy_stacks(pid_t pid, const std::vector<MemoryRange>& ranges, ProcessSnapshot& snapshot) {
  std::vector<uint64_t> tops;
  for (const CoreThread& thread : snapshot.parts.threads)
    tops.push_back(core_stack_pointer(kCoreMachine, thread));
  std::ranges::sort(tops);
  uint64_t copied = 0;
  for (const uint64_t top : tops) {
    const auto range = std::ranges::find_if(ranges, [&](const MemoryRange& each) {
      return top >= each.begin && top < each.end && each.readable;
    });
    if (range == ranges.end()) continue;
    const uint64_t begin =
        std::max({range->begin, top - std::min(top, kBelowStackPointer), copied});
    const uint64_t end = std::min(range->end, top + kMostStackBytes);
    if (begin >= end) continue;
    copy_memory(pid, begin, end, snapshot);
    copied = end;
  }
}

}  // namespace

Result<ProcessSnapshot> take_process_snapshot(pid_t pid) {
  ProcessSnapshot snapshot;
  CoreParts& parts = snapshot.parts;
  parts.machine = kCoreMachine;
  parts.pid = pid;
  parts.command = command_line(pid);
  parts.program_headers_address = program_headers_address(pid);
  std::vector<MemoryRange> ranges;
  {
    const auto begin = std::chrono::steady_clock::now();
    StoppedThreads threads(pid);
    if (const Result<void> done = threads.stop_all(); !done) return std::unexpected(done.error());
    for (const pid_t tid : threads.threads()) {
      Result<CoreThread> thread = read_thread(pid, tid);
      if (!thread) return std::unexpected(thread.error());
      parts.threads.push_back(*std::move(thread));
    }
    // The first thread of the process is the first, whatever its number.
    std::ranges::stable_partition(parts.threads,
                                  [&](const CoreThread& each) { return each.tid == pid; });
    read_maps(pid, parts, ranges);
    copy_stacks(pid, ranges, snapshot);
    threads.release();
    snapshot.stopped = std::chrono::steady_clock::now() - begin;
  }
  // Headers of mapped files do not change: they are read while the process runs.
  for (const CoreMapping& mapping : std::vector(parts.mappings)) {
    if (mapping.file_offset == 0)
      copy_memory(pid, mapping.begin, std::min(mapping.end, mapping.begin + kHeaderBytes),
                  snapshot);
  }
  return snapshot;
}

}  // namespace telltale
