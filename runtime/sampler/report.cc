#include "report.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../signals/unchecked_memory.h"
#include "backtrace.h"
#include "destination.h"
#include "formats/sampler/wire.h"
#include "settings.h"
#include "spool.h"
#include "tallies.h"
#include "thread_slots.h"
#include "weak_operands.h"
#include "write_signal_blocker.h"
#include "writer.h"

namespace telltale::sampler {
namespace {

constexpr int kMaxFrames = 1024;
Destination report;
int write_failure = 0;     // errno
void* frames[kMaxFrames];  // not on the stack, which may be small
int frame_count = 0;
int reported_frames = -1;  // -1 before the first

// What a report in the spool has in its header; null if the report is not in the spool.
const char* spooled_sparsity = nullptr;
const uint64_t* spooled_seed = nullptr;

// Writers of a report lock the bytes up to this offset, which no report reaches.
// number_among_running() locks single bytes from there on.
constexpr off_t kLockedBytes = off_t{1} << (8 * sizeof(off_t) - 2);

struct flock lock_of(short type, off_t start, off_t bytes) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = bytes;
  return lock;
}

// Locks the file: several processes may write to it.
class Locked {
 public:
  Locked() {
    if (report.open_on_demand()) {
      Writer out(report.descriptor());
      put_run(out, spooled_sparsity, spooled_seed);
    }
    report.reopen_if_replaced();
    set(F_WRLCK);
    ::lseek(report.descriptor(), 0, SEEK_END);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { set(F_UNLCK); }

 private:
  const signals::UncheckedMemory unchecked_;
  // Limited, since the process that holds the lock may be stopped.
  static void set(short type) {
    constexpr int kMaxAttempts = 1000;
    constexpr long kMillisecond = 1'000'000;
    struct flock lock = lock_of(type, 0, kLockedBytes);
    for (int i = 0; i < kMaxAttempts; ++i) {
      if (::fcntl(report.descriptor(), F_SETLK, &lock) == 0) return;
      if (errno != EACCES && errno != EAGAIN && errno != EINTR) return;
      const timespec pause = {0, kMillisecond};
      ::nanosleep(&pause, nullptr);
    }
  }

  WriteSignalBlocker signal_blocker_;
};

// A buffer for one report at a time, but not for reports from signal handlers.
class LargeBuffer {
 public:
  explicit LargeBuffer(bool wanted)
      : mine_(wanted && !__atomic_test_and_set(&taken, __ATOMIC_ACQUIRE)) {}
  LargeBuffer(const LargeBuffer&) = delete;
  LargeBuffer& operator=(const LargeBuffer&) = delete;
  ~LargeBuffer() {
    if (mine_) __atomic_clear(&taken, __ATOMIC_RELEASE);
  }
  [[nodiscard]] bool is_mine() const { return mine_; }
  // Its content is lost if the process is killed, so it is small.
  static constexpr size_t kSize = 4096;
  static char bytes[kSize];

 private:
  static bool taken;
  bool mine_;
};
char LargeBuffer::bytes[LargeBuffer::kSize];
bool LargeBuffer::taken = false;

bool subreport_open = false;

// Closes a subreport that a fault interrupted, so that it does not contain the next one.
void put_report_id(Writer& out, const char* id) {
  if (subreport_open) out.put("\n</report>\n");
  subreport_open = true;
  out.put("<report id=\"");
  out.put(id);
}

void put_report_begin(Writer& out, const char* id) {
  put_report_id(out, id);
  out.put("\">\n");
}

void put_report_end(Writer& out) {
  out.put("</report>\n");
  out.flush();
  subreport_open = false;
}

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

void put_head(Writer& out, const char* tag, const UnitDescriptor& unit, const SchemeTable& scheme) {
  out.put('<');
  out.put(tag);
  out.put(" unit=\"");
  for (const uint8_t byte : unit.signature) out.byte(byte);
  out.put("\" scheme=\"");
  out.put(scheme.name);
}

// A number that was not counted is not written either: its memory may be untouched.
uint64_t value_of(uint64_t& counter, bool take) {
  const uint64_t now = __atomic_load_n(&counter, __ATOMIC_RELAXED);
  return take && now != 0 ? __atomic_exchange_n(&counter, 0, __ATOMIC_RELAXED) : now;
}

// A row of zeros, the most frequent one, for the largest arity.
constexpr char kZeros[] = "0\t0\t0\t0\t0\t0\t0\t0\t0\n";
static_assert(sizeof(kZeros) == 2 * kMaxCounters + 1);

// The numbers of a site. Bounds are not reset: they are merged by minimum and maximum.
void read_row(const UnitDescriptor& unit, const RowCursor& row, bool take, uint64_t* numbers) {
  const SchemeTable& scheme = row.scheme();
  if (is_in_thread_slots(scheme))
    return count_in_thread_slots(row, used_slots(unit), take, numbers);
  uint64_t* const counters = row.counters();
  for (uint32_t i = 0; i < scheme.arity; ++i)
    numbers[i] = value_of(counters[i], take && scheme.kinds == nullptr);
  row.visit_tallies([&](uint64_t place, uint32_t site) {
    add_tallies(scheme.tallies + place, site, take, numbers);
  });
}

void put_samples(Writer& out, const UnitDescriptor& unit, uint32_t index, uint32_t bank, bool take,
                 UntouchedPages& untouched) {
  const SchemeTable& scheme = unit.schemes[index];
  put_head(out, "samples", unit, scheme);
  out.put("\">\n");
  const size_t zeros_size = size_t{2} * scheme.arity;
  const char* const zeros = kZeros + sizeof(kZeros) - 1 - zeros_size;
  const bool is_counted = scheme.kinds == nullptr;
  const bool may_skip = is_counted && !is_in_thread_slots(scheme);
  const bool lacks = lacks_operands(unit);
  for (RowCursor row(scheme, bank, &untouched); !row.is_end();) {
    const uint32_t zero_rows = may_skip ? row.zero_rows() : 0;
    if (zero_rows > 0) {
      out.put_repeated(zeros, zeros_size, zero_rows);
      row.skip(zero_rows);
      continue;
    }
    uint64_t numbers[kMaxCounters] = {};
    read_row(unit, row, take, numbers);
    if (lacks && is_operand_missing(unit, index, row.row())) {
      out.put(zeros, zeros_size);
      row.next();
      continue;
    }
    for (uint32_t i = 0; i < scheme.arity; ++i) {
      if (i > 0) out.put('\t');
      if (is_counted) {
        out.decimal(numbers[i]);
      } else {
        put_bound(out, numbers[i], scheme.kinds[row.row()]);
      }
    }
    out.put('\n');
    row.next();
  }
  out.put("</samples>\n");
}

// The index in `frames`; -1 if it is missing.
int index_of(const void* address, int count) {
  for (int i = 0; i < count; ++i) {
    if (frames[i] == address) return i;
  }
  return -1;
}

void put_timestamps(Writer& out, const UnitDescriptor& unit, uint32_t index, uint64_t* timestamps,
                    const char* when, bool take) {
  if (timestamps == nullptr) return;
  const SchemeTable& scheme = unit.schemes[index];
  put_head(out, "timestamps", unit, scheme);
  out.put("\" when=\"");
  out.put(when);
  out.put("\">\n");
  for (uint32_t row = 0; row < scheme.rows; ++row) {
    const uint64_t timestamp = value_of(timestamps[row], take);
    out.decimal(timestamp == 0 || is_operand_missing(unit, index, row) ? 0 : timestamp);
    out.put('\n');
  }
  out.put("</timestamps>\n");
}

// Of fewer bytes, zeros are read as fast as the list of untouched pages.
constexpr uint64_t kManyBytes = uint64_t{64} * 1024;

uint64_t bytes_of_tables(const UnitDescriptor& unit) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < unit.scheme_count; ++i) {
    const SchemeTable& scheme = unit.schemes[i];
    bytes += scheme.banks * (uint64_t{scheme.rows} * scheme.arity * sizeof(uint64_t) +
                             uint64_t{scheme.blocks} * kTallyBytes);
  }
  return bytes;
}

bool has_counts(const UnitDescriptor& unit, uint32_t index, uint32_t bank,
                UntouchedPages& untouched) {
  const SchemeTable& scheme = unit.schemes[index];
  const bool may_skip = !is_in_thread_slots(scheme);
  for (RowCursor row(scheme, bank, &untouched); !row.is_end();) {
    const uint32_t zero_rows = may_skip ? row.zero_rows() : 0;
    if (zero_rows > 0) {
      row.skip(zero_rows);
      continue;
    }
    uint64_t numbers[kMaxCounters] = {};
    read_row(unit, row, false, numbers);
    for (uint32_t i = 0; i < scheme.arity; ++i) {
      if (numbers[i] != 0) return true;
    }
    row.next();
  }
  return false;
}

// -fsampler-adaptive: the counts of first executions. Most programs have much code that does not
// run, so schemes without counts are left out.
void put_first_samples(Writer& out, const UnitDescriptor& unit, bool take,
                       UntouchedPages& untouched) {
  const Settings* const asked = settings();
  if (unit.budgets == nullptr || asked == nullptr || asked->first_calls == 0) return;
  put_report_id(out, kFirstSamplesReport);
  out.put("\" sparsity=\"");
  out.put(asked->sparsity_text);
  out.put("\" first=\"");
  out.decimal(asked->first_executions);
  out.put("\">\n");
  for (uint32_t i = unit.scheme_count; i-- > 0;) {
    if (unit.schemes[i].banks > 1 && has_counts(unit, i, 1, untouched))
      put_samples(out, unit, i, 1, take, untouched);
  }
  put_report_end(out);
}

}  // namespace

int open_report(const char* descriptor, const char* file, bool append) {
  int error = 0;
  if (descriptor != nullptr) {
    char* end = nullptr;
    const long number = ::strtol(descriptor, &end, 10);
    const int flags =
        end == descriptor || *end != 0 ? -1 : ::fcntl(static_cast<int>(number), F_GETFD);
    if (flags >= 0) {
      report.adopt(static_cast<int>(number));
      ::fcntl(report.descriptor(), F_SETFD, flags | FD_CLOEXEC);
      return 0;
    }
    error = EBADF;
  }
  if (file != nullptr) error = report.open(file, append);
  return error;
}

int open_spooled_report(const char* pattern, const char* sparsity, const uint64_t* seed) {
  spooled_sparsity = sparsity;
  spooled_seed = seed;
  return report.open_later(pattern);
}

int report_failure() { return write_failure; }

bool has_report() { return report.is_open(); }
uint64_t report_bytes() {
  struct stat facts = {};
  if (!report.is_file() || ::fstat(report.descriptor(), &facts) != 0) return 0;
  return static_cast<uint64_t>(facts.st_size);
}

uint32_t number_among_running() {
  constexpr uint32_t kMostPrograms = 4096;
  if (!report_is_file()) return 0;
  for (uint32_t number = 0; number < kMostPrograms; ++number) {
    struct flock lock = lock_of(F_WRLCK, kLockedBytes + static_cast<off_t>(number), 1);
    if (::fcntl(report.descriptor(), F_SETLK, &lock) == 0) return number;
    if (errno != EACCES && errno != EAGAIN) return 0;
  }
  return 0;
}

bool report_is_spooled() { return spooled_sparsity != nullptr; }

bool report_is_file() { return report.is_open() && report.is_file(); }

const char* report_place() {
  if (*report.path() != 0) return report.path();
  static char text[32];
  int number = report.descriptor();
  char* at = text + sizeof(text) - 1;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  constexpr char kName[] = "descriptor ";
  at -= sizeof(kName) - 1;
  ::memcpy(at, kName, sizeof(kName) - 1);
  return at;
}

void report_unit(const UnitDescriptor& unit, bool take) {
  if (!report.is_open()) return;
  const Locked locked;
  const LargeBuffer large(!take);
  Writer out = large.is_mine() ? Writer(report.descriptor(), LargeBuffer::bytes, LargeBuffer::kSize)
                               : Writer(report.descriptor());
  UntouchedPages untouched;
  if (large.is_mine() && bytes_of_tables(unit) >= kManyBytes) untouched.open();
  put_report_begin(out, kSamplesReport);
  // If the process is killed from here on, the report is incomplete rather than empty.
  out.flush();
  for (uint32_t i = unit.scheme_count; i-- > 0;) {
    const SchemeTable& scheme = unit.schemes[i];
    if (scheme.rows == 0 && ::strcmp(scheme.name, "bounds") != 0) continue;
    put_samples(out, unit, i, 0, take, untouched);
    put_timestamps(out, unit, i, scheme.first, "first", take);
    put_timestamps(out, unit, i, scheme.last, "last", take);
  }
  put_report_end(out);
  put_first_samples(out, unit, take, untouched);
  out.flush();
  if (out.failure() != 0) write_failure = out.failure();
}

void take_backtrace(void* interrupted, void* handler_caller) {
  frame_count = 0;
  reported_frames = -1;
  const int found = ::backtrace(frames, kMaxFrames);
  int first = interrupted == nullptr ? -1 : index_of(interrupted, found);
  if (first < 0) {
    first = index_of(handler_caller, found);
    // The kernel's signal trampoline is between the handler and the program.
    if (first >= 0 && interrupted != nullptr) ++first;
  }
  if (first < 0) first = 0;
  for (int i = first; i < found; ++i) frames[i - first] = frames[i];
  frame_count = found - first;
}

void report_backtrace(void* interrupted, bool with_places) {
  if (!report.is_open() || reported_frames == kMaxFrames) return;
  if (frame_count == 0) frames[frame_count++] = interrupted;
  const Locked locked;
  Writer out(report.descriptor());
  if (reported_frames < 0) put_report_begin(out, kBacktraceReport);
  if (reported_frames < 0) reported_frames = 0;
  while (reported_frames < frame_count) {
    // If the lookup faults, the next call writes the rest without places.
    out.flush();
    put_frame(out, frames[reported_frames], with_places);
    ++reported_frames;
  }
  put_report_end(out);
  reported_frames = kMaxFrames;
}

void report_outcome(int signal, int status) {
  if (spooled_sparsity == nullptr || !report.is_open()) return;
  const Locked locked;
  if (!report.is_open()) return;
  {
    Writer out(report.descriptor());
    if (subreport_open) out.put("\n</report>\n");
    subreport_open = false;
    put_outcome(out, signal, status);
  }
  finish_spooled(report.path());
}

bool reopen_report_in_child() {
  subreport_open = false;
  if (report.is_per_process()) {
    report.open_own();
  } else {
    report.close();
  }
  return report.is_open();
}

}  // namespace telltale::sampler
