#include "report.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace telltale::sampler {
namespace {

constexpr int kMostFrames = 1024;
int report = -1;
constexpr size_t kPathBytes = 4096;
char pattern[kPathBytes];
bool is_per_process = false;

class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { flush(); }

  void put(char c) {
    if (used_ == sizeof(buffer_)) flush();
    buffer_[used_++] = c;
  }
  void put(const char* text) {
    while (*text != 0) put(*text++);
  }
  void decimal(uint64_t number) {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) put(digits[--count]);
  }
  void hex(uint64_t number) {
    bool started = false;
    for (int shift = 60; shift >= 0; shift -= 4) {
      const unsigned digit = number >> shift & 15;
      started = started || digit != 0 || shift == 0;
      if (started) put("0123456789abcdef"[digit]);
    }
  }
  void byte(uint8_t value) {
    put("0123456789abcdef"[value >> 4]);
    put("0123456789abcdef"[value & 15]);
  }
  void flush() {
    const char* from = buffer_;
    while (used_ > 0) {
      const ssize_t written = ::write(report, from, used_);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      from += written;
      used_ -= static_cast<size_t>(written);
    }
    used_ = 0;
  }

 private:
  char buffer_[4096];
  size_t used_ = 0;
};

// A pipe that nobody reads and a file that may not grow are no reason to end the program.
class Unharmed {
 public:
  Unharmed() {
    ::sigemptyset(&harm_);
    ::sigaddset(&harm_, SIGPIPE);
    ::sigaddset(&harm_, SIGXFSZ);
    ::sigpending(&waiting_);
    ::pthread_sigmask(SIG_BLOCK, &harm_, &before_);
  }
  Unharmed(const Unharmed&) = delete;
  Unharmed& operator=(const Unharmed&) = delete;
  ~Unharmed() {
    constexpr int kHarm[] = {SIGPIPE, SIGXFSZ};
    for (const int signal : kHarm) {
      sigset_t now;
      ::sigpending(&now);
      if (::sigismember(&now, signal) == 0 || ::sigismember(&waiting_, signal) != 0) continue;
      sigset_t one;
      ::sigemptyset(&one);
      ::sigaddset(&one, signal);
      const timespec at_once = {};
      ::sigtimedwait(&one, nullptr, &at_once);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t harm_;
  sigset_t waiting_;
  sigset_t before_;
};

// Several processes may write to one file.
class Locked {
 public:
  Locked() {
    set(F_WRLCK);
    ::lseek(report, 0, SEEK_END);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { set(F_UNLCK); }

 private:
  static void set(short type) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    while (::fcntl(report, F_SETLKW, &lock) != 0 && errno == EINTR) {
    }
  }

  Unharmed unharmed_;
};

void put_bound(Writer& out, uint64_t number, uint8_t kind) {
  if (kind == kPointer) {
    if (number == 0) return out.put("(nil)");
    out.put("0x");
    return out.hex(number);
  }
  if (kind == kSigned && static_cast<int64_t>(number) < 0) {
    out.put('-');
    number = uint64_t{0} - number;
  }
  out.decimal(number);
}

void put_head(Writer& out, const char* tag, const Unit& unit, const Scheme& scheme) {
  out.put('<');
  out.put(tag);
  out.put(" unit=\"");
  for (const uint8_t byte : unit.signature) out.byte(byte);
  out.put("\" scheme=\"");
  out.put(scheme.name);
}

// Bounds stay: merging takes the least and the greatest.
uint64_t value_of(uint64_t& counter, bool take) {
  return take ? __atomic_exchange_n(&counter, 0, __ATOMIC_RELAXED)
              : __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

void put_samples(Writer& out, const Unit& unit, const Scheme& scheme, bool take) {
  put_head(out, "samples", unit, scheme);
  out.put("\">\n");
  for (uint32_t row = 0; row < scheme.rows; ++row) {
    for (uint32_t i = 0; i < scheme.arity; ++i) {
      if (i > 0) out.put('\t');
      const uint64_t number = value_of(scheme.counters[uint64_t{row} * scheme.arity + i],
                                       take && scheme.kinds == nullptr);
      if (scheme.kinds == nullptr) {
        out.decimal(number);
      } else {
        put_bound(out, number, scheme.kinds[row]);
      }
    }
    out.put('\n');
  }
  out.put("</samples>\n");
}

void put_timestamps(Writer& out, const Unit& unit, const Scheme& scheme, uint64_t* stamps,
                    const char* when, bool take) {
  if (stamps == nullptr) return;
  put_head(out, "timestamps", unit, scheme);
  out.put("\" when=\"");
  out.put(when);
  out.put("\">\n");
  for (uint32_t row = 0; row < scheme.rows; ++row) {
    out.decimal(value_of(stamps[row], take));
    out.put('\n');
  }
  out.put("</timestamps>\n");
}

// `pattern` with the process's number for every "%p", and "%" for "%%".
bool expand(char* path, size_t bytes) {
  size_t used = 0;
  for (const char* from = pattern; *from != 0; ++from) {
    char digits[24];
    size_t count = 1;
    digits[0] = *from;
    if (*from == '%' && from[1] == '%') {
      ++from;
    } else if (*from == '%' && from[1] == 'p') {
      ++from;
      char reversed[24];
      count = 0;
      for (auto number = static_cast<unsigned>(::getpid()); number != 0; number /= 10)
        reversed[count++] = static_cast<char>('0' + number % 10);
      for (size_t i = 0; i < count; ++i) digits[i] = reversed[count - 1 - i];
    }
    if (used + count >= bytes) return false;
    ::memcpy(path + used, digits, count);
    used += count;
  }
  path[used] = 0;
  return true;
}

void open_file() {
  char path[kPathBytes];
  if (expand(path, sizeof(path)))
    report = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

}  // namespace

void open_report(const char* descriptor, const char* file) {
  if (descriptor != nullptr) {
    char* end = nullptr;
    const long number = ::strtol(descriptor, &end, 10);
    const int flags =
        end == descriptor || *end != 0 ? -1 : ::fcntl(static_cast<int>(number), F_GETFD);
    if (flags >= 0) {
      report = static_cast<int>(number);
      ::fcntl(report, F_SETFD, flags | FD_CLOEXEC);
      return;
    }
  }
  if (file == nullptr || *file == 0 || ::strlen(file) >= sizeof(pattern)) return;
  ::memcpy(pattern, file, ::strlen(file) + 1);
  is_per_process = ::strstr(pattern, "%p") != nullptr;
  open_file();
}

bool has_report() { return report >= 0; }

void report_unit(const Unit& unit, bool take) {
  if (report < 0) return;
  const Locked locked;
  Writer out;
  out.put("<report id=\"samples\">\n");
  for (uint32_t i = unit.scheme_count; i-- > 0;) {
    const Scheme& scheme = unit.schemes[i];
    if (scheme.rows == 0 && ::strcmp(scheme.name, "bounds") != 0) continue;
    put_samples(out, unit, scheme, take);
    put_timestamps(out, unit, scheme, scheme.first, "first", take);
    put_timestamps(out, unit, scheme, scheme.last, "last", take);
  }
  out.put("</report>\n");
}

void report_backtrace() {
  if (report < 0) return;
  void* frames[kMostFrames];
  const int count = ::backtrace(frames, kMostFrames);
  const Locked locked;
  Writer().put("<report id=\"main-backtrace\">\n");
  ::backtrace_symbols_fd(frames, count, report);
  Writer().put("</report>\n");
}

void close_report() {
  if (report >= 0) ::close(report);
  report = -1;
}

bool reopen_report_in_child() {
  close_report();
  if (is_per_process) open_file();
  return report >= 0;
}

}  // namespace telltale::sampler
