#include "configure.h"

#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "clock.h"
#include "crash.h"
#include "emit.h"
#include "fork.h"

namespace telltale::st {
namespace {

uint32_t configuring = 0;

struct CivilTime {
  uint32_t year, month, day, hour, minute, second;
};

// The proleptic Gregorian calendar of UTC: days since 1 March of year 0, in eras of 400 years.
CivilTime civil_time(int64_t seconds) {
  const int64_t days = seconds / 86400 + 719468;
  const uint32_t rest = static_cast<uint32_t>(seconds % 86400);
  const uint32_t era = static_cast<uint32_t>(days / 146097);
  const uint32_t day_of_era = static_cast<uint32_t>(days % 146097);
  const uint32_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const uint32_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t shifted = (5 * day_of_year + 2) / 153;  // months from March
  const uint32_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {era * 400 + year_of_era + (month <= 2 ? 1 : 0),
          month,
          day_of_year - (153 * shifted + 2) / 5 + 1,
          rest / 3600,
          rest / 60 % 60,
          rest % 60};
}

char* digits(char* at, uint32_t number, int count, uint32_t base) {
  for (int i = count - 1; i >= 0; --i, number /= base) at[i] = "0123456789ABCDEF"[number % base];
  return at + count;
}

// Makes `path` absolute; false if it is too long.
bool make_absolute(const char* path, char (&result)[kPathBytes]) {
  size_t used = 0;
  if (path[0] != '/') {
    if (::getcwd(result, kPathBytes) == nullptr) return false;
    used = std::strlen(result);
    if (path[0] == 0) return true;
    result[used++] = '/';
  }
  const size_t bytes = std::strlen(path);
  if (used + bytes + 1 > kPathBytes) return false;
  std::memcpy(result + used, path, bytes + 1);
  return true;
}

int plan_file(FilePlan& plan, const FileOptions& options) {
  std::memset(static_cast<void*>(&plan), 0, sizeof(plan));
  if (options.path != nullptr && !make_absolute(options.path, plan.path)) return -ENAMETOOLONG;
  const char* const directory = options.directory == nullptr ? "" : options.directory;
  if (!make_absolute(directory, plan.directory)) return -ENAMETOOLONG;
  // A forked child's file has a derived name in the same folder.
  if (plan.path[0] != 0) {
    std::memcpy(plan.directory, plan.path, sizeof(plan.path));
    size_t end = std::strlen(plan.directory);
    while (end > 1 && plan.directory[end] != '/') --end;
    plan.directory[end] = 0;
  }
  if (options.layout == Layout::classic && options.ring_bytes != 0) return -EINVAL;
  if (options.clock_every == 0 || options.clock_every > 65536) return -EINVAL;
  constexpr uint64_t kLeast = 1U << 16;
  plan.rotate_bytes =
      options.rotate_bytes != 0 && options.rotate_bytes < kLeast ? kLeast : options.rotate_bytes;
  plan.limit_bytes = default_limit_bytes;
  plan.ring_bytes = options.ring_bytes;
  plan.keep_files = options.keep_files;
  plan.follow_fork = options.follow_fork;
  name_files(plan);
  return 0;
}

int plan_sink(Sink& sink, const detail::OpenRequest& request) {
  const SinkKind kind = static_cast<SinkKind>(request.kind);
  sink.sequence = Sequence::clock;
  Layout layout = Layout::wide;
  int error = 0;
  uint32_t every = 1;
  if (kind == SinkKind::file) {
    error = plan_file(sink.plan, request.file);
    layout = request.file.layout;
    sink.sequence =
        request.file.layout == Layout::classic ? Sequence::count : request.file.sequence;
    every = request.file.clock_every;
  } else if (kind == SinkKind::ring) {
    std::memset(static_cast<void*>(&sink.plan), 0, sizeof(sink.plan));
    sink.plan.ring_bytes = request.ring.bytes < kSmallestRing ? kSmallestRing : request.ring.bytes;
    sink.plan.follow_fork = true;
    every = request.ring.clock_every;
  } else if (kind == SinkKind::callback) {
    if (request.callback.callback == nullptr) return -EINVAL;
    sink.callback = request.callback;
    layout = request.callback.layout;
    if (layout == Layout::classic) sink.sequence = Sequence::count;
    every = request.callback.clock_every;
  } else {
    return -EINVAL;
  }
  if (error != 0) return error;
  if (every == 0 || every > 65536) return -EINVAL;
  if (layout == Layout::classic && process_id() > 0xffff) return -EOVERFLOW;
  __atomic_store_n(&sink.kind, request.kind, __ATOMIC_RELAXED);
  __atomic_store_n(&sink.layout, static_cast<uint32_t>(layout), __ATOMIC_RELAXED);
  __atomic_store_n(&settings.clock_every, every, __ATOMIC_RELAXED);
  return 0;
}

// The loss counts as logged variables, because the classic layout has no record for them. They may
// take a file beyond its limit.
void post_classic_losses(Sink& sink, Store* store) {
  if (store != nullptr) {
    __atomic_store_n(&store->most_bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&store->full_until, 0, __ATOMIC_RELAXED);
  }
  static const char* const kNames[] = {"",
                                       "telltale.lost.no_space",
                                       "telltale.lost.overwritten",
                                       "telltale.lost.reentered",
                                       "telltale.lost.unfit",
                                       "telltale.lost.cut_text",
                                       "telltale.lost.names",
                                       "telltale.lost.processes"};
  static Site sites[stacktrack::kLostReasons + 1];
  for (uint32_t reason = 1; reason <= stacktrack::kLostReasons; ++reason) {
    Site& site = sites[reason];
    const uint64_t count = __atomic_load_n(&sink.lost[reason], __ATOMIC_RELAXED);
    if (count == 0) continue;
    site.name = kNames[reason];
    // After the scope indexes of checkpoints (docs/formats/stacktrack.md, "Classic").
    const uint16_t index = static_cast<uint16_t>(kLastClassicScope + reason);
    const uint64_t sequence = __atomic_add_fetch(&settings.sequence, 1, __ATOMIC_RELAXED);
    post(sink, store, {type_flags(RecordType::source_location), 0, settings.pid, sequence},
         to_payload(stacktrack::classic::SourceLocation{index, kValueStyle, 0, 0, 0}), site.name,
         std::strlen(site.name), false);
    char text[24];
    const size_t bytes = write_number(text, sizeof(text), count);
    post(sink, store, {type_flags(RecordType::hit), 0, settings.pid, sequence},
         to_payload(stacktrack::classic::Hit{Clock::ticks(), index,
                                             static_cast<uint16_t>(thread_id()), 0}),
         text, bytes, false);
  }
}

void wait_for_callbacks(const Sink& sink) {
  if (depth_in_library() != 0) return;  // the callback itself closes its sink
  while (__atomic_load_n(&sink.callback_users, __ATOMIC_ACQUIRE) != 0) yield_processor();
}

int close_sink(Sink& sink) {
  if (!is_open(sink)) return -EBADF;
  int error = 0;
  static char path[kPathBytes];  // only one thread at a time configures
  path[0] = 0;
  {
    const Inside inside;
    Store* const store = sink.store;
    refine_frequency(store);
    if (store != nullptr) tell_cut_events(*store, *store);
    const bool classic_file = store != nullptr && layout_of(sink) == Layout::classic;
    if (classic_file) {
      post_classic_losses(sink, store);
      std::memcpy(path, store->path, sizeof(path));
    }
    __atomic_store_n(&sink.state, kClosed, __ATOMIC_SEQ_CST);
    settle();
    bool any = false;
    for (const Sink& other : settings.sinks) any = any || is_open(other);
    if (!any) announce(0);
    replace_store(sink, nullptr);
  }
  if (kind_of(sink) == SinkKind::callback) wait_for_callbacks(sink);
  if (path[0] != 0) error = put_in_order(path);
  return error;
}

int flush_sink(Sink& sink) {
  const Inside inside;
  Store* const store = __atomic_load_n(&sink.store, __ATOMIC_ACQUIRE);
  refine_frequency(store);
  if (store == nullptr || store->path[0] == 0) return 0;
  const int file = open_file(store->path, O_RDWR | O_NOFOLLOW);
  if (file < 0) return file;
  const int error = sync_file(file);
  close_file(file);
  return error;
}

// A late destructor, because destructors of statics may still record.
__attribute__((destructor)) void refine_at_exit() {
  if (__atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_RELAXED) == 0 ||
      child_is_waiting())
    return;
  const Inside inside;
  for (Sink& sink : settings.sinks) {
    Store* const store = __atomic_load_n(&sink.store, __ATOMIC_ACQUIRE);
    if (!is_open(sink) || store == nullptr) continue;
    refine_frequency(store);
    tell_cut_events(*store, *store);
    if (layout_of(sink) == Layout::classic) post_classic_losses(sink, store);
  }
}

int open_sink(const detail::OpenRequest& request) {
  const Configuring configuring_now;
  notice_copy();
  if (child_is_waiting()) open_in_child();
  int free = 0;
  while (free < kMaxSinks &&
         __atomic_load_n(&settings.sinks[free].state, __ATOMIC_ACQUIRE) != kClosed)
    ++free;
  if (free == kMaxSinks) return -EMFILE;
  Sink& sink = settings.sinks[free];
  const uint32_t every_before = settings.clock_every;
  Clock::start(false);
  watch_forks();
  int error = plan_sink(sink, request);
  const uint32_t cycle = new_cycle();
  if (error == 0) {
    const Inside inside;
    error = start_sink(sink, cycle);
  }
  if (error != 0) {
    __atomic_store_n(&settings.clock_every, every_before, __ATOMIC_RELAXED);
    return error;
  }
  if (kind_of(sink) == SinkKind::ring && request.ring.dump_on_crash != nullptr)
    dump_on_crash(free, request.ring.dump_on_crash);
  if (kind_of(sink) == SinkKind::file) watch_cut_files();
  settle();
  announce(cycle);
  return free;
}

}  // namespace

Configuring::Configuring() {
  uint32_t nobody = 0;
  while (!__atomic_compare_exchange_n(&configuring, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
    nobody = 0;
    yield_processor();
  }
}
Configuring::~Configuring() { __atomic_store_n(&configuring, 0, __ATOMIC_RELEASE); }
void Configuring::reset() { __atomic_store_n(&configuring, 0, __ATOMIC_RELEASE); }

uint64_t default_limit_bytes = 0;

void name_files(FilePlan& plan) {
  char* at = plan.stem;
  const char* const program = program_invocation_short_name;
  for (size_t i = 0; program != nullptr && program[i] != 0 && i < 200; ++i) *at++ = program[i];
  const CivilTime now = civil_time(wall_time().tv_sec);
  *at++ = '_';
  at = digits(digits(digits(at, now.year, 4, 10), now.month, 2, 10), now.day, 2, 10);
  *at++ = '_';
  at = digits(digits(digits(at, now.hour, 2, 10), now.minute, 2, 10), now.second, 2, 10);
  *at++ = '_';
  const uint32_t pid = process_id();
  int places = 4;
  while (places < 8 && pid >> (4 * places) != 0) ++places;
  at = digits(at, pid, places, 16);
  *at = 0;
  plan.number = 0;
}

int start_sink(Sink& sink, uint32_t cycle) {
  Store* store = nullptr;
  int error = 0;
  if (kind_of(sink) == SinkKind::file) error = make_file(sink, &store);
  if (kind_of(sink) == SinkKind::ring)
    store = make_store(layout_of(sink), nullptr, sink.plan.ring_bytes, 0, &error);
  if (error != 0) return error;
  if (store != nullptr) store->cycle = cycle;
  post_header(sink, store, cycle, true);
  publish(sink, store);
  return 0;
}

void settle() {
  uint32_t open = 0;
  uint32_t fast = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < kMaxSinks; ++i) {
    const Sink& sink = settings.sinks[i];
    if (!is_open(sink)) continue;
    ++open;
    if (kind_of(sink) != SinkKind::callback && layout_of(sink) == Layout::wide) fast = i + 1;
    if (sink.sequence == Sequence::count) counted = 1;
  }
  if (open != 1 || counted != 0 || !Clock::is_counter()) fast = 0;
  __atomic_store_n(&settings.counted, counted, __ATOMIC_RELAXED);
  __atomic_store_n(&settings.fast, fast, __ATOMIC_RELAXED);
}

extern "C" {

int telltale_st_open_v1(const detail::OpenRequest* request) {
  const KeepErrno keep;
  return request->size < sizeof(detail::OpenRequest) ? -EINVAL : open_sink(*request);
}

int telltale_st_close_v1(int sink) {
  const KeepErrno keep;
  const Configuring configuring_now;
  if (child_is_waiting()) open_in_child();
  if (sink >= kMaxSinks) return -EBADF;
  if (sink >= 0) return close_sink(settings.sinks[sink]);
  int error = 0;
  for (Sink& each : settings.sinks) {
    const int result = is_open(each) ? close_sink(each) : 0;
    if (error == 0) error = result;
  }
  return error;
}

int telltale_st_flush_v1(void) {
  const KeepErrno keep;
  int error = 0;
  for (Sink& sink : settings.sinks) {
    const int result = is_open(sink) ? flush_sink(sink) : 0;
    if (error == 0) error = result;
  }
  return error;
}

void telltale_st_next_cycle_v1(void) {
  const KeepErrno keep;
  const Configuring configuring_now;
  if (child_is_waiting()) open_in_child();
  if (__atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_RELAXED) == 0) return;
  const Inside inside;
  const uint32_t cycle = new_cycle();
  const View view = look(cycle, false);
  for (int i = 0; i < kMaxSinks; ++i) {
    if (view.open[i]) post_header(settings.sinks[i], view.stores[i], cycle, false);
  }
  __atomic_store_n(&detail::telltale_st_control_v1.cycle, cycle, __ATOMIC_SEQ_CST);
}

int telltale_st_dump_v1(int sink, const char* path) {
  const KeepErrno keep;
  const Inside inside;
  if (sink < 0 || sink >= kMaxSinks || !is_open(settings.sinks[sink])) return -EBADF;
  const Store* const store = __atomic_load_n(&settings.sinks[sink].store, __ATOMIC_ACQUIRE);
  if (store == nullptr || store->chunk_bytes == 0) return -EINVAL;
  const int file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file < 0) return file;
  const int error = dump_ring(*store, file);
  close_file(file);
  if (error != 0) remove_file(path);
  return error;
}

const char* telltale_st_path_v1(int sink) {
  static char path[kPathBytes];
  const KeepErrno keep;
  const Configuring configuring_now;
  const Inside inside;
  if (sink < 0 || sink >= kMaxSinks || !is_open(settings.sinks[sink])) return nullptr;
  const Store* const store = __atomic_load_n(&settings.sinks[sink].store, __ATOMIC_ACQUIRE);
  if (store == nullptr || store->path[0] == 0) return nullptr;
  std::memcpy(path, store->path, sizeof(path));
  return path;
}

void telltale_st_statistics_v1(Statistics* result, size_t size) {
  uint64_t sums[stacktrack::kLostReasons + 1] = {};
  for (const Sink& sink : settings.sinks) {
    for (uint32_t i = 1; i <= stacktrack::kLostReasons; ++i)
      sums[i] += __atomic_load_n(&sink.lost[i], __ATOMIC_RELAXED);
  }
  const Statistics all{sums[1], sums[2], sums[3], sums[4], sums[5], sums[6]};
  std::memcpy(result, &all, size < sizeof(all) ? size : sizeof(all));
}

void telltale_st_property_v1(const char* file, const char* text) {
  SourceFile* const entry = find_source_file(file);
  if (entry == nullptr || add_property(*entry, text) != 0)
    lose(settings.sinks[0], nullptr, LostReason::names, 1);
}
}  // extern "C"

}  // namespace telltale::st
