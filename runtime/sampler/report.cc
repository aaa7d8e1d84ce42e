#include "report.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "path.h"
#include "unharmed.h"
#include "writer.h"

namespace telltale::sampler {
namespace {

constexpr int kMostFrames = 1024;
int report = -1;
constexpr size_t kPathBytes = 4096;
char pattern[kPathBytes];
bool is_per_process = false;

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

void open_file() {
  char path[kPathBytes];
  if (expand_path(pattern, path, sizeof(path)))
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
  Writer out(report);
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
  Writer(report).put("<report id=\"main-backtrace\">\n");
  ::backtrace_symbols_fd(frames, count, report);
  Writer(report).put("</report>\n");
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
