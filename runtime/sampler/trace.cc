#include "trace.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "destination.h"
#include "formats/sampler/wire.h"
#include "leader.h"
#include "write_signal_blocker.h"
#include "writer.h"

namespace telltale::sampler {
namespace {

Destination trace;
int writer_inside = 0;  // the thread that holds EventLock
constexpr char kHeader[] =
    "---\nheader:\n  version:         5\n  type:            1\n  constant-tsc:    true\n"
    "  nonstop-tsc:     true\n  cycle-frequency: 1000000000\n";
bool has_records = false;

void begin() {
  has_records = false;
  if (trace.is_open()) Writer(trace.descriptor()).put(kHeader);
}

// The event's type is the scheme's letter in formats/sampler/wire.h.
unsigned type_of(const char* scheme) {
  for (const SchemeLayout& one : kSchemes) {
    if (::strcmp(one.name, scheme) == 0) return static_cast<unsigned char>(one.code);
  }
  return 0;
}

// The list's head is written with the first event: YAML has no empty block list. The parent of a
// fork may have written it.
void begin_records(Writer& out) {
  if (has_records) return;
  has_records = true;
  struct stat facts = {};
  if (::fstat(trace.descriptor(), &facts) == 0 && facts.st_size == sizeof(kHeader) - 1)
    out.put("records:\n");
}

void put_event(Writer& out, const Traced& where, uint64_t counter, uint64_t extra) {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr uint64_t kSecond = 1'000'000'000;
  out.put("  - { type: ");
  out.decimal(type_of(where.scheme->name));
  out.put(", func-id: 0, function: '', cpu: 0, thread: ");
  out.decimal(static_cast<uint64_t>(::syscall(SYS_gettid)));
  out.put(", process: ");
  out.decimal(static_cast<uint64_t>(::getpid()));
  out.put(", kind: typed-event, tsc: ");
  out.decimal(static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec));
  out.put(", data: '");
  out.put(where.scheme->name);
  out.put(' ');
  for (const uint8_t byte : where.unit->signature) out.byte(byte);
  out.put(' ');
  out.decimal(counter / where.scheme->arity);
  out.put(' ');
  if (extra == 0) {
    out.decimal(counter % where.scheme->arity);
  } else {
    out.put("0x");
    out.hex(extra);
  }
  out.put("' }\n");
}

// Serialises taking the time and writing, so that times are in order.
class EventLock {
 public:
  EventLock() {
    const int self = static_cast<int>(::syscall(SYS_gettid));
    int nobody = 0;
    while (!__atomic_compare_exchange_n(&writer_inside, &nobody, self, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
      if (nobody == self) return;  // a signal handler
      nobody = 0;
      const timespec pause = {0, 1000};
      ::nanosleep(&pause, nullptr);
    }
    mine_ = true;
  }
  EventLock(const EventLock&) = delete;
  EventLock& operator=(const EventLock&) = delete;
  ~EventLock() {
    if (mine_) __atomic_store_n(&writer_inside, 0, __ATOMIC_RELEASE);
  }

 private:
  bool mine_ = false;
};

}  // namespace

void open_trace(const char* file) {
  if (file == nullptr) return;
  trace.open(file, false);
  begin();
}

bool is_tracing() {
  const EntryPoints* const other = leader();
  return other != nullptr ? other->is_tracing() : trace.is_open();
}

void trace_in_child() {
  writer_inside = 0;
  if (!trace.is_open() || !trace.is_per_process()) return;
  trace.open_own();
  begin();
}

}  // namespace telltale::sampler

__attribute__((visibility("default"))) void telltale_sampler_trace_v1(const uint64_t* counter,
                                                                      uint64_t extra) {
  using namespace telltale::sampler;
  if (const EntryPoints* const other = leader(); other != nullptr)
    return other->trace(counter, extra);
  Traced where = {};
  if (!is_tracing() || !find_traced_counter(counter, where)) return;
  const int kept = errno;
  {
    const WriteSignalBlocker blocker;
    const EventLock lock;
    trace.reopen_if_replaced();
    Writer out(trace.descriptor());
    begin_records(out);
    put_event(out, where, static_cast<uint64_t>(counter - where.scheme->counters), extra);
  }
  errno = kept;
}
