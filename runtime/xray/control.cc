// The control socket (docs/formats/xray-recorder.md, "The control socket"): one thread waits for
// connections, and serves one request each.

#include "control.h"

#include <poll.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "options.h"
#include "snapshot.h"
#include "start.h"
#include "syscalls.h"
#include "trace_file.h"

// Declared here because <stdlib.h> in C++ needs long double, which clang lacks with
// -mgeneral-regs-only.
extern "C" [[noreturn]] void exit(int status) noexcept;

namespace telltale::recorder {
namespace {

constexpr size_t kStackBytes = size_t{256} * 1024;
constexpr long kPollNs = 1'000'000'000;
constexpr long kStrangerNs = 100'000'000;
constexpr unsigned kCloseAndUnshare = 2;               // CLOSE_RANGE_UNSHARE
constexpr int kCloseRange = 436;                       // SYS_close_range
constexpr uint64_t kGlibcSignals = uint64_t{3} << 31;  // 32 and 33: cancellation, setuid

using Message = Text<xray::kMostControlBytes>;

// What the last thread of the program needs to end the control thread.
struct Running {
  pthread_t thread;
  bool is_known;  // `thread` is valid
  bool must_end;
  sockaddr_un address;     // of the listener
  uint32_t address_bytes;  // 0: it does not listen
};
Running running;

void add_hex(Text<64>& text, uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) text.add("0123456789abcdef"[number >> shift & 15]);
}

// A listening socket of an abstract name that nobody can take before us; negative: none.
int open_listener() {
  uint64_t random = 0;
  if (sys::call(SYS_getrandom, &random, sizeof(random), 0) != sizeof(random)) return -1;
  Text<64> name;
  name.add(xray::kControlName).add(static_cast<uint64_t>(sys::pid())).add('-');
  add_hex(name, random);
  running.address.sun_family = AF_UNIX;
  running.address.sun_path[0] = '\0';
  copy_bytes(running.address.sun_path + 1, name.c_str(), name.size());
  const long opened = sys::call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (sys::failed(opened)) return -1;
  const auto listener = static_cast<int>(opened);
  const auto bytes = static_cast<uint32_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (!sys::failed(sys::call(SYS_bind, listener, &running.address, bytes)) &&
      !sys::failed(sys::call(SYS_listen, listener, 16))) {
    __atomic_store_n(&running.address_bytes, bytes, __ATOMIC_RELEASE);
    return listener;
  }
  sys::call(SYS_close, listener);
  return -1;
}

// Whether the other end belongs to the one user whose process this is, or to root. A program that
// only lays its privileges aside for a while is nobody's.
bool is_owner(int connection) {
  ucred peer = {0, ~0U, ~0U};
  unsigned bytes = sizeof(peer);
  if (sys::failed(sys::call(SYS_getsockopt, connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) ||
      bytes != sizeof(peer)) {
    return false;
  }
  if (peer.uid == 0) return true;
  unsigned real = 0;
  unsigned effective = 0;
  unsigned saved = 0;
  sys::call(SYS_getresuid, &real, &effective, &saved);
  return peer.uid == real && peer.uid == effective && peer.uid == saved;
}

bool wait_for(int descriptor, long ns) {
  pollfd ready = {descriptor, POLLIN, 0};
  const timespec limit = {ns / 1'000'000'000, ns % 1'000'000'000};
  return sys::call(SYS_ppoll, &ready, 1, &limit, static_cast<void*>(nullptr), 0) > 0;
}

bool begins_with(const char* text, const char* beginning) {
  while (*beginning != '\0' && *text == *beginning) {
    ++text;
    ++beginning;
  }
  return *beginning == '\0';
}

Message& begin_answer(Message& answer, const char* verdict) {
  answer.clear();
  return answer.add(xray::kControlMark)
      .add(uint64_t{xray::kControlVersion})
      .add('\n')
      .add(verdict)
      .add('\n');
}
void refuse(Message& answer, const char* why) {
  begin_answer(answer, "refused").add("reason ").add(why).add('\n');
}
void add_number(Message& answer, const char* key, uint64_t number) {
  answer.add(key).add(' ').add(number).add('\n');
}
void add_text(Message& answer, const char* key, const char* text) {
  answer.add(key).add(' ').add(text).add('\n');
}

void add_status(Message& answer) {
  const bool begun = state.fork_mark->alive != 0;
  const SideHeader& side = *state.side;
  add_text(answer, "state", !state.recording ? "stopped" : begun ? "recording" : "waiting");
  add_text(answer, "mode",
           state.options.mode == Mode::ring       ? "ring"
           : state.options.mode == Mode::snapshot ? "snapshot"
                                                  : "continuous");
  // In snapshot mode there is no file, and in a forked child that has not begun it is the parent's.
  add_text(answer, "file", begun && state.options.mode != Mode::snapshot ? trace_path.c_str() : "");
  add_number(answer, "part", begun ? state.part : 0);
  add_number(answer, "bytes", begun ? recorded_bytes() : 0);
  add_number(answer, "lost",
             begun ? side.lost_no_space + side.lost_reentrant + side.lost_too_large : 0);
  add_number(answer, "overwritten", begun ? side.lost_overwritten : 0);
  add_text(answer, "functions", state.options.functions);
  add_number(answer, "min_ns", state.options.min_ns);
  add_number(answer, "depth", state.options.depth);
}

bool write_memory(Message& answer) {
  Path path;
  if (!write_named_snapshot(path)) return false;
  add_text(answer, "snapshot", path.c_str());
  return true;
}

void do_snapshot(Message& answer) {
  begin_answer(answer, "ok");
  if (write_memory(answer)) {
    add_status(answer);
  } else {
    refuse(answer, "no snapshot was written: nothing is recorded yet, or the file cannot be made");
  }
}

void do_stop(Message& answer) {
  if (!stop_recording()) {
    refuse(answer, "it does not record");
    return;
  }
  begin_answer(answer, "ok");
  if (state.options.mode == Mode::snapshot) write_memory(answer);
  add_status(answer);
}

void do_start(Message& answer) {
  switch (start_recording_again()) {
    case Started::yes:
      begin_answer(answer, "ok");
      add_status(answer);
      break;
    case Started::already:
      refuse(answer, "it records already");
      break;
    case Started::no:
      refuse(answer, "no file can be made for the recording");
      break;
  }
}

void do_filter(Message& answer, const char* filters) {
  static Options wanted;  // large; only this thread uses it
  wanted = state.options;
  Text<256> complaint;
  if (!parse_filters(filters, wanted, complaint)) {
    refuse(answer, complaint.c_str());
  } else if (!change_filters(wanted)) {
    refuse(answer, "no file can be made for the recording; it is stopped");
  } else {
    begin_answer(answer, "ok");
    add_status(answer);
  }
}

// `request`: "telltale-control 1 COMMAND", for "filter" followed by a blank and the filters.
void obey(const char* request, Message& answer) {
  Text<64> expected;
  expected.add(xray::kControlMark).add(uint64_t{xray::kControlVersion}).add(' ');
  if (!begins_with(request, expected.c_str())) {
    refuse(answer, "this version of requests is not known");
    return;
  }
  const char* const command = request + expected.size();
  if (same_text(command, "status")) {
    begin_answer(answer, "ok");
    add_status(answer);
  } else if (same_text(command, "stop")) {
    do_stop(answer);
  } else if (same_text(command, "start")) {
    do_start(answer);
  } else if (same_text(command, "snapshot")) {
    do_snapshot(answer);
  } else if (begins_with(command, "filter ")) {
    do_filter(answer, command + text_length("filter "));
  } else {
    refuse(answer, "this command is not known");
  }
}

void serve(int connection) {
  static Message answer{Message::Zeros{}};
  static char request[xray::kMostControlBytes + 1];
  const bool is_for_us = is_owner(connection);
  // A request that nobody reads would destroy the answer, so others' are read, too.
  if (!wait_for(connection, is_for_us ? kPollNs : kStrangerNs) && is_for_us) return;
  const long bytes =
      sys::call(SYS_recvfrom, connection, static_cast<char*>(request), xray::kMostControlBytes,
                int{MSG_DONTWAIT}, static_cast<void*>(nullptr), static_cast<void*>(nullptr));
  if (!is_for_us) {
    refuse(answer, "the process belongs to another user");
  } else {
    if (sys::failed(bytes) || bytes == 0) return;
    request[bytes] = '\0';
    obey(request, answer);
  }
  sys::call(SYS_sendto, connection, answer.c_str(), answer.size(), int{MSG_NOSIGNAL | MSG_DONTWAIT},
            static_cast<void*>(nullptr), 0);
}

// The number of threads of this process; its first thread counts even if it has ended. 0: not
// known.
uint64_t count_threads() {
  struct stat tasks;  // not set to zeros as a whole: that would be a call of memset
  tasks.st_nlink = 0;
  if (sys::failed(sys::call(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0))) return 0;
  return tasks.st_nlink < 2 ? 0 : tasks.st_nlink - 2;  // a link for each, and two of the folder
}

// The control thread, and those of sparse clocks.
uint64_t own_threads() { return 1 + __atomic_load_n(&state.fork_mark->timers, __ATOMIC_ACQUIRE); }

// Whether the program's threads have all ended by pthread_exit: libc would end the process after
// the last of them, and does not, because this thread lives. That happens if the last one has
// recorded nothing.
bool is_left_alone() {
  const uint64_t threads = count_threads();
  if (threads == 0 || threads > 1 + own_threads()) return false;
  char text[256];
  const long file = sys::open("/proc/self/stat", O_RDONLY);
  if (sys::failed(file)) return false;
  const long bytes = sys::call(SYS_read, file, static_cast<char*>(text), sizeof(text) - 1);
  sys::call(SYS_close, file);
  if (sys::failed(bytes)) return false;
  text[bytes] = '\0';
  // The state follows the program's name, which is in parentheses and may contain some.
  const char* end = nullptr;
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at == ')') end = at;
  }
  return end != nullptr && end[1] == ' ' && end[2] == 'Z';
}

// The program's threads that have begun to end, and perhaps have ended.
class EndingThreads {
 public:
  // Forgets all threads. For a forked child.
  void clear() {
    lock_.reset();
    count_ = 0;
  }

  // Adds the calling thread. True if all threads of the program are ending now, so that this one
  // was the last to begin. False, too, if they are too many to tell.
  bool add_and_ask() {
    const int self = sys::tid();
    const Locked locked(lock_);
    if (!contains(self)) {
      if (count_ == kMost) keep_living();
      if (count_ == kMost) return false;
      threads_[count_++] = self;
    }
    if (!contains(sys::pid())) return false;  // the first thread lives
    while (true) {                            // until none has ended while they were counted
      keep_living();
      const size_t before = count_;
      const uint64_t threads = count_threads();
      keep_living();
      if (count_ == before) return threads == count_ + own_threads();
    }
  }

  // The calling thread lives: it may have the number of one that has ended.
  void remove() {
    const int self = sys::tid();
    const Locked locked(lock_);
    for (size_t i = 0; i < count_; ++i) {
      if (threads_[i] == self) threads_[i--] = threads_[--count_];
    }
  }

 private:
  static constexpr size_t kMost = 256;

  // Forgets those that have ended. The process's first thread stays until the process ends.
  void keep_living() {
    size_t kept = 0;
    for (size_t i = 0; i < count_; ++i) {
      if (!sys::failed(sys::call(SYS_tgkill, sys::pid(), threads_[i], 0)))
        threads_[kept++] = threads_[i];
    }
    count_ = kept;
  }
  [[nodiscard]] bool contains(int thread) const {
    for (size_t i = 0; i < count_; ++i) {
      if (threads_[i] == thread) return true;
    }
    return false;
  }

  SpinLock lock_;
  size_t count_ = 0;
  int threads_[kMost] = {};
};
EndingThreads ending_threads;

void* answer_requests(void*) {
  sys::call(SYS_prctl, PR_SET_NAME, "telltale", 0, 0, 0);
  thread_state.busy = 1;
  // A separate descriptor table: the program sees none of ours, cannot close them, and a
  // forked child does not inherit them; nor do we hold the program's files open.
  if (sys::failed(sys::call(kCloseRange, 0U, ~0U, kCloseAndUnshare))) return nullptr;
  thread_state.has_own_descriptors = true;
  const int listener = open_listener();
  if (listener < 0) return nullptr;
  while (!__atomic_load_n(&running.must_end, __ATOMIC_ACQUIRE)) {
    if (!wait_for(listener, kPollNs)) {
      if (!is_left_alone()) continue;
      thread_state.busy = 0;
      exit(0);
    }
    const long connection = sys::call(SYS_accept4, listener, static_cast<void*>(nullptr),
                                      static_cast<void*>(nullptr), int{SOCK_CLOEXEC});
    if (sys::failed(connection)) continue;
    if (!__atomic_load_n(&running.must_end, __ATOMIC_ACQUIRE)) serve(static_cast<int>(connection));
    sys::call(SYS_close, connection);
  }
  return nullptr;
}

// All signals are for the program's threads. Libc's own are not blocked: setuid() waits until each
// thread has handled one.
class ProgramSignals {
 public:
  ProgramSignals() {
    const uint64_t all = ~(kGlibcSignals | uint64_t{1} << (SIGBUS - 1));
    sys::call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof(all));
  }
  ~ProgramSignals() {
    sys::call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, static_cast<void*>(nullptr),
              sizeof(before_));
  }
  ProgramSignals(const ProgramSignals&) = delete;
  ProgramSignals& operator=(const ProgramSignals&) = delete;

 private:
  uint64_t before_ = 0;
};

// The thread stayed with the parent.
void in_forked_child() {
  ending_threads.clear();
  if (state.options.follow_forks) start_control();
}

}  // namespace

void start_control() {
  if (!state.options.control || getauxval(AT_SECURE) != 0) return;
  if (__atomic_exchange_n(&state.fork_mark->control, 1, __ATOMIC_ACQ_REL) != 0) return;
  static bool watches_forks = false;
  if (!watches_forks) watches_forks = pthread_atfork(nullptr, nullptr, in_forked_child) == 0;
  // A thread that ends while it records is noticed anyway, and so must be the process's first.
  if (state.thread_key >= 0 && sys::tid() == sys::pid())
    pthread_setspecific(static_cast<pthread_key_t>(state.thread_key), &thread_state);
  running.is_known = running.must_end = false;
  running.address_bytes = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const ProgramSignals blocked;
  const bool runs = pthread_create(&running.thread, &attributes, answer_requests, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  __atomic_store_n(&running.is_known, runs, __ATOMIC_RELEASE);
}

void note_thread_for_control() {
  if (__atomic_load_n(&running.is_known, __ATOMIC_ACQUIRE)) ending_threads.remove();
}

void end_control_with_last_thread() {
  if (!__atomic_load_n(&running.is_known, __ATOMIC_ACQUIRE) || state.fork_mark->control == 0 ||
      !ending_threads.add_and_ask()) {
    return;
  }
  __atomic_store_n(&running.must_end, true, __ATOMIC_RELEASE);
  // If it does not listen yet, it sees this when it does, or a second later.
  const uint32_t bytes = __atomic_load_n(&running.address_bytes, __ATOMIC_ACQUIRE);
  const long client = sys::call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (!sys::failed(client)) {
    if (bytes != 0) sys::call(SYS_connect, client, &running.address, bytes);
    sys::call(SYS_close, client);
  }
  pthread_join(running.thread, nullptr);
}

}  // namespace telltale::recorder
