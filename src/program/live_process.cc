#include "program/live_process.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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
  bool is_vdso = false;
};

std::string proc(pid_t pid, std::string_view name) { return fmt::format("/proc/{}/{}", pid, name); }

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string process_name(pid_t pid) { return fmt::format("process {}", pid); }

// The state of a thread in /proc/PID/task/TID/stat (proc_pid_stat(5)), such as 'S'; 0: none.
char thread_state(pid_t pid, pid_t tid) {
  const std::string stat = read_all(proc(pid, fmt::format("task/{}/stat", tid)));
  const size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? '\0' : stat[name_end + 2];
}

// Also a thread that another one has not waited for yet; the first one of a process stays so until
// all have ended.
bool has_ended(pid_t pid, pid_t tid) {
  const char state = thread_state(pid, tid);
  return state == '\0' || state == 'Z' || state == 'X';
}

// Threads that are stopped; they go on when this ends. The kernel lets them go on when the thread
// that made this ends, too, also those that had not stopped until then.
class StoppedThreads {
 public:
  explicit StoppedThreads(pid_t pid) : pid_(pid) {}
  StoppedThreads(const StoppedThreads&) = delete;
  StoppedThreads& operator=(const StoppedThreads&) = delete;
  ~StoppedThreads() { release(); }

  // Stops also threads that others start meanwhile.
  Result<void> stop_all() {
    do {
      std::error_code failed;
      for (std::filesystem::directory_iterator task(proc(pid_, "task"), failed), end;
           !failed && task != end; task.increment(failed)) {
        const std::string name = task->path().filename();
        pid_t tid = 0;
        std::from_chars(name.data(), name.data() + name.size(), tid);
        if (tid == 0 || stopped_.contains(tid) || left_out_.contains(tid)) continue;
        if (const Result<void> done = interrupt(tid); !done) return done;
      }
      if (failed) return io_error(process_name(pid_), "cannot be read", failed.value());
    } while (wait_for_stops());
    if (!stopped_.empty() || !left_out_.empty()) return {};
    return std::unexpected(Error{Error::Cause::io, process_name(pid_), {}, "it has ended", {}});
  }

  void release() {
    for (const pid_t tid : stopped_) ptrace(PTRACE_DETACH, tid, nullptr, pending_signal(tid));
    stopped_.clear();
  }

  // In the order of their numbers.
  [[nodiscard]] const std::set<pid_t>& threads() const { return stopped_; }
  // That do not stop, such as one that waits for its child in vfork().
  [[nodiscard]] const std::set<pid_t>& left_out() const { return left_out_; }
  // One that has the process's memory: the first one may have ended.
  [[nodiscard]] pid_t memory_owner() const {
    if (stopped_.contains(pid_) || left_out_.contains(pid_) || stopped_.empty()) return pid_;
    return *stopped_.begin();
  }

 private:
  // All others are stopped while one is waited for.
  static constexpr std::chrono::milliseconds kBlockedWait{30};
  static constexpr std::chrono::milliseconds kRunnableWait{200};  // of a busy machine
  static constexpr std::chrono::microseconds kPoll{50};

  // Nothing for a thread that ended meanwhile.
  Result<void> interrupt(pid_t tid) {
    if (ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      const int error = errno;
      if (has_ended(pid_, tid)) return {};  // EPERM, too
      return io_error(process_name(pid_), "cannot be stopped", error);
    }
    if (ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0) interrupted_.push_back(tid);
    return {};
  }

  // False if there was none to wait for.
  bool wait_for_stops() {
    if (interrupted_.empty()) return false;
    auto last_stop = std::chrono::steady_clock::now();
    while (!interrupted_.empty()) {
      const bool is_next =
          std::erase_if(interrupted_, [this](pid_t tid) { return stops_or_ends(tid); }) != 0;
      const auto now = std::chrono::steady_clock::now();
      if (is_next) last_stop = now;
      const auto is_runnable = [this](pid_t tid) { return thread_state(pid_, tid) == 'R'; };
      if (now - last_stop > kRunnableWait ||
          (now - last_stop > kBlockedWait && std::ranges::none_of(interrupted_, is_runnable))) {
        for (const pid_t tid : interrupted_)
          if (!has_ended(pid_, tid)) left_out_.insert(tid);
        interrupted_.clear();
      } else if (!is_next) {
        std::this_thread::sleep_for(kPoll);
      }
    }
    return true;
  }

  bool stops_or_ends(pid_t tid) {
    int status = 0;
    const pid_t waited = waitpid(tid, &status, __WALL | WNOHANG);
    if (waited == 0 || (waited < 0 && errno == EINTR)) return false;
    if (waited < 0 || !WIFSTOPPED(status)) return true;
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
  std::vector<pid_t> interrupted_;  // that have not stopped yet
  std::set<pid_t> stopped_;
  std::set<pid_t> left_out_;
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
    ranges.push_back({.begin = begin,
                      .end = end,
                      .readable = rest.starts_with(" r"),
                      .is_vdso = rest.ends_with("[vdso]")});
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
void copy_stacks(pid_t pid, const std::vector<MemoryRange>& ranges, std::vector<uint64_t> tops,
                 ProcessSnapshot& snapshot) {
  std::ranges::sort(tops);
  uint64_t copied = 0;
  for (const uint64_t top : tops) {
    const auto range = std::ranges::find_if(ranges, [&](const MemoryRange& each) {
      return top >= each.begin && top < each.end && each.readable;
    });
    if (range == ranges.end()) continue;
    const uint64_t begin =
        std::max({range->begin, top - std::min(top, kBelowStackPointer), copied});
    // mlock() and mprotect() on a part of a stack split it into several mappings.
    uint64_t end_of_stack = range->end;
    for (auto next = range + 1;
         next != ranges.end() && next->readable && next->begin == end_of_stack; ++next)
      end_of_stack = next->end;
    const uint64_t end = std::min(end_of_stack, top + kMostStackBytes);
    if (begin >= end) continue;
    copy_memory(pid, begin, end, snapshot);
    copied = end;
  }
}

std::vector<uint64_t> stack_pointers(const ProcessSnapshot& snapshot) {
  std::vector<uint64_t> pointers;
  for (const CoreThread& thread : snapshot.parts.threads)
    pointers.push_back(core_stack_pointer(kCoreMachine, thread));
  return pointers;
}

uint64_t stack_pointer_of([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.sp;
#else
  return 0;
#endif
}

// Where the outermost handler on a signal stack, on which the thread with this stack pointer is,
// interrupted the thread on another stack: the kernel keeps the registers in a frame there, with
// the bounds of the signal stack.
std::optional<uint64_t> interrupted_stack(uint64_t stack_pointer,
                                          const std::vector<MemoryRange>& ranges,
                                          const ProcessSnapshot& snapshot) {
  const auto& memory = snapshot.parts.memory;
  const auto stack = std::ranges::find_if(memory, [&](const ElfSegment& segment) {
    return stack_pointer - segment.address < segment.file_size;
  });
  std::optional<uint64_t> found;
  if (stack == memory.end()) return found;
  const uint64_t end = stack->address + stack->file_size;
  constexpr uint64_t kWord = sizeof(uint64_t);
  for (uint64_t at = stack_pointer / kWord * kWord; at + sizeof(ucontext_t) <= end; at += kWord) {
    ucontext_t context;
    const std::byte* const place = snapshot.memory.data() + stack->offset + (at - stack->address);
    std::memcpy(&context.uc_stack, place + offsetof(ucontext_t, uc_stack),
                sizeof(context.uc_stack));
    const auto begin = reinterpret_cast<uint64_t>(context.uc_stack.ss_sp);
    const uint64_t size = context.uc_stack.ss_size;
    if (begin > stack_pointer || begin >= end || size > end - begin || at - begin >= size) continue;
    std::memcpy(&context, place, sizeof(context));
    const uint64_t interrupted = stack_pointer_of(context);
    const auto has_it = [&](const MemoryRange& range) {
      return range.readable && interrupted >= range.begin && interrupted < range.end;
    };
    if (interrupted - begin >= size && std::ranges::any_of(ranges, has_it)) found = interrupted;
  }
  return found;
}

std::vector<uint64_t> interrupted_stacks(const std::vector<MemoryRange>& ranges,
                                         const ProcessSnapshot& snapshot) {
  std::vector<uint64_t> found;
  for (const uint64_t pointer : stack_pointers(snapshot))
    if (const auto interrupted = interrupted_stack(pointer, ranges, snapshot))
      found.push_back(*interrupted);
  return found;
}

void copy_vdso(pid_t pid, const std::vector<MemoryRange>& ranges, ProcessSnapshot& snapshot) {
  const auto vdso = std::ranges::find_if(ranges, &MemoryRange::is_vdso);
  if (vdso == ranges.end()) return;
  snapshot.parts.vdso_address = vdso->begin;
  copy_memory(pid, vdso->begin, vdso->end, snapshot);
}

// Headers of mapped files.
void copy_headers(pid_t owner, ProcessSnapshot& snapshot) {
  for (const CoreMapping& mapping : std::vector(snapshot.parts.mappings)) {
    if (mapping.file_offset == 0)
      copy_memory(owner, mapping.begin, std::min(mapping.end, mapping.begin + kHeaderBytes),
                  snapshot);
  }
}

Result<ProcessSnapshot> stop_and_copy(pid_t pid) {
  ProcessSnapshot snapshot;
  CoreParts& parts = snapshot.parts;
  parts.machine = kCoreMachine;
  parts.pid = pid;
  std::vector<MemoryRange> ranges;
  const auto begin = std::chrono::steady_clock::now();
  StoppedThreads threads(pid);
  if (const Result<void> done = threads.stop_all(); !done) return std::unexpected(done.error());
  for (const pid_t tid : threads.threads()) {
    Result<CoreThread> thread = read_thread(pid, tid);
    if (!thread) return std::unexpected(thread.error());
    parts.threads.push_back(*std::move(thread));
  }
  for (const pid_t tid : threads.left_out()) {
    parts.threads.push_back({.tid = tid, .registers = {}, .pc = 0});
    snapshot.left_out.insert(tid);
  }
  // The first thread of the process is the first, whatever its number.
  std::ranges::stable_partition(parts.threads,
                                [&](const CoreThread& each) { return each.tid == pid; });
  const pid_t owner = threads.memory_owner();
  read_maps(owner, parts, ranges);
  copy_stacks(owner, ranges, stack_pointers(snapshot), snapshot);
  copy_stacks(owner, ranges, interrupted_stacks(ranges, snapshot), snapshot);
  copy_vdso(owner, ranges, snapshot);
  parts.command = command_line(owner);
  parts.program_headers_address = program_headers_address(owner);
  // Headers do not change: they are read while the process runs, unless the thread that is read
  // through may end.
  if (owner != pid) copy_headers(owner, snapshot);
  threads.release();
  snapshot.stopped = std::chrono::steady_clock::now() - begin;
  if (owner == pid) copy_headers(owner, snapshot);
  return snapshot;
}

}  // namespace

Result<ProcessSnapshot> take_process_snapshot(pid_t pid) {
  // When this thread ends, the kernel forgets that threads which did not stop were to stop.
  return std::async(std::launch::async, stop_and_copy, pid).get();
}

}  // namespace telltale
