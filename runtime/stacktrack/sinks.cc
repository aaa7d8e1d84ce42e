#include "sinks.h"

#include <cstring>

#include "clock.h"
#include "emit.h"

namespace telltale::st {
namespace {

// Passes records to a callback in batches.
class CallbackBatch {
 public:
  explicit CallbackBatch(const Sink& sink) : sink_(sink), layout_(layout_of(sink)) {}
  ~CallbackBatch() { hand_over(); }
  CallbackBatch(const CallbackBatch&) = delete;
  CallbackBatch& operator=(const CallbackBatch&) = delete;

  void add(const RecordHead& head, const Payload& payload) {
    const size_t bytes = slot_bytes(layout_);
    if ((count_ + 1) * bytes > sizeof(words_)) hand_over();
    store_record(layout_, reinterpret_cast<uint8_t*>(words_) + count_ * bytes, head, payload);
    ++count_;
  }

 private:
  void hand_over() {
    if (count_ != 0) sink_.callback.callback(words_, count_, sink_.callback.user);
    count_ = 0;
  }

  const Sink& sink_;
  const Layout layout_;
  size_t count_ = 0;
  uint64_t words_[96];
};

void call_back(const Sink& sink, RecordHead head, const Payload& payload, const char* text,
               size_t bytes) {
  CallbackBatch batch(sink);
  if (bytes > 0) head.flags |= stacktrack::kHasInfo;
  batch.add(head, payload);
  for (size_t at = 0; at < bytes; at += stacktrack::kInfoBytes) {
    const size_t left = bytes - at;
    Payload part{};
    std::memcpy(&part, text + at, left < sizeof(part) ? left : sizeof(part));
    head.flags = type_flags(RecordType::info, left <= sizeof(part) ? stacktrack::kInfoEnd : 0);
    batch.add(head, part);
  }
}

template <typename Wide, typename Classic>
Payload pick(Layout layout, const Wide& wide, const Classic& classic) {
  return layout == Layout::wide ? to_payload(wide) : to_payload(classic);
}

constexpr uint64_t kClassicMost = 0x7fff;  // the largest number that the specification calls int16
// Larger values become the largest; ids that are too large never get here.
uint16_t narrow(uint64_t number) {
  return static_cast<uint16_t>(number > 0xffff ? 0xffff : number);
}

Payload prologue(const Sink& sink, const Store* store) {
  using namespace stacktrack;
  const Layout layout = store != nullptr ? store->layout : layout_of(sink);
  const uint32_t ring_bytes = store == nullptr ? 0 : static_cast<uint32_t>(store->chunk_bytes);
  return pick(layout,
              wide::Prologue{kMagic, kWideVersion, kInfoBytes, wide::kEntryBytes,
                             wide::kPayloadOffset, 0, ring_bytes},
              classic::Prologue{kMagic, kClassicVersion, kInfoBytes, classic::kEntryBytes,
                                classic::kPayloadOffset});
}

// Slots for the rest of the first chunk: the loss counts are at fixed places from the beginning.
void post_lost_counts(Store& store) {
  for (uint32_t reason = 1; reason <= stacktrack::kLostReasons; ++reason) {
    uint8_t* const slot = take_shared_slots(store, 1);
    if (slot == nullptr) return;
    store_record(store.layout, slot, {type_flags(RecordType::lost), 0, store.pid, 0},
                 to_payload(stacktrack::wide::Lost{0, reason, 0}));
    store.lost[reason] = reinterpret_cast<uint64_t*>(slot + stacktrack::wide::kPayloadOffset);
  }
}

void post_file(Sink& sink, Store* store, const SourceFile& file, const char* name,
               uint64_t sequence, bool nested) {
  using namespace stacktrack;
  const Layout layout = store != nullptr ? store->layout : layout_of(sink);
  RecordHead head{type_flags(RecordType::file_location), 0, settings.pid, sequence};
  const uint32_t id = number_of(file);
  const bool fits =
      layout == Layout::wide || (id <= kClassicMost && sequence <= kLastClassicSequence);
  if (!fits) return lose(sink, store, LostReason::names, 1);
  const uint32_t count = __atomic_load_n(&file.property_count, __ATOMIC_RELAXED);
  const uint32_t before = __atomic_load_n(&file.cycle, __ATOMIC_RELAXED);
  size_t bytes = std::strlen(name);
  if (bytes > kMaxTextBytes) {
    lose(sink, store, LostReason::cut_text, 1);
    bytes = truncated(name, bytes);
  }
  if (!post(sink, store, head,
            pick(layout, wide::FileLocation{id, before, count, 0},
                 classic::FileLocation{narrow(id), narrow(before), narrow(count)}),
            name, bytes, nested)) {
    lose(sink, store, LostReason::names, 1);
  }
  head.flags = type_flags(RecordType::file_property);
  uint32_t number = 0;
  for (const Property* property = __atomic_load_n(&file.properties, __ATOMIC_ACQUIRE);
       property != nullptr; property = property->next) {
    ++number;
    if (!post(sink, store, head,
              pick(layout, wide::FileProperty{id, before, number, 0},
                   classic::FileProperty{narrow(id), narrow(before), narrow(number)}),
              property->text, property->bytes, nested)) {
      lose(sink, store, LostReason::names, 1);
    }
  }
}

void post_site(Sink& sink, Store* store, const Site& site, uint32_t index, uint32_t filenum,
               uint64_t sequence, bool nested) {
  using namespace stacktrack;
  const Layout layout = store != nullptr ? store->layout : layout_of(sink);
  uint32_t line = site.line;
  if (layout == Layout::classic) {
    if (index > kLastClassicScope || sequence > kLastClassicSequence)
      return;  // its events are counted
    if (line > kClassicMost || filenum > kClassicMost) lose(sink, store, LostReason::names, 1);
    if (line > kClassicMost) line = 0;
    if (filenum > kClassicMost) filenum = 0;
  }
  const uint32_t before = __atomic_load_n(&site.cycle, __ATOMIC_RELAXED);
  char function[kMaxTextBytes + kMaxCharacterBytes];
  const char* name = site.name;
  size_t bytes = 0;
  if (site.style == kFunctionStyle) {
    bytes = write_function_name(site.name, function, sizeof(function));
    name = function;
  } else {
    bytes = std::strlen(site.name);
  }
  if (bytes > kMaxTextBytes) {
    lose(sink, store, LostReason::cut_text, 1);
    bytes = truncated(name, bytes);
  }
  if (!post(sink, store, {type_flags(RecordType::source_location), 0, settings.pid, sequence},
            pick(layout,
                 wide::SourceLocation{index, line, before, narrow(site.style), narrow(filenum)},
                 classic::SourceLocation{narrow(index), narrow(site.style), narrow(line),
                                         narrow(before), narrow(filenum)}),
            name, bytes, nested)) {
    lose(sink, store, LostReason::names, 1);
  }
}

// Appends; truncates what does not fit.
char* append(char* at, char* end, const char* text) {
  while (*text != 0 && at + 1 < end) *at++ = *text++;
  *at = 0;
  return at;
}

bool numbered_path(const FilePlan& plan, uint32_t number, char (&path)[kPathBytes]) {
  char* const end = path + kPathBytes;
  char* at = append(path, end, plan.directory);
  at = append(at, end, "/");
  at = append(at, end, plan.stem);
  at = append(at, end, "_");
  at += write_number(at, static_cast<size_t>(end - at), number);
  at = append(at, end, ".tlg");
  return at + 1 < end;
}

}  // namespace

Settings settings;

uint32_t scope_index(Site& site) {
  static uint32_t last = 0;
  uint32_t index = __atomic_load_n(&site.index, __ATOMIC_RELAXED);
  if (index != 0) return index;
  const uint32_t fresh = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  return __atomic_compare_exchange_n(&site.index, &index, fresh, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)
             ? fresh
             : index;
}

namespace {
View look_once(uint32_t cycle, bool nested) {
  View view{cycle, nested, {}, {}};
  for (int i = 0; i < kMaxSinks; ++i) {
    const Sink& sink = settings.sinks[i];
    view.open[i] = is_open(sink);
    view.stores[i] = view.open[i] ? __atomic_load_n(&sink.store, __ATOMIC_ACQUIRE) : nullptr;
    if (view.stores[i] == nullptr) {
      view.open[i] = view.open[i] && kind_of(sink) == SinkKind::callback;
    } else if (view.stores[i]->cycle > view.cycle) {
      view.cycle = view.stores[i]->cycle;
    }
  }
  return view;
}
}  // namespace

View look(uint32_t cycle, bool nested) {
  // Must not mix two states: a checkpoint would count as posted in a cycle whose store it missed.
  for (;;) {
    const uint32_t before = __atomic_load_n(&settings.generation, __ATOMIC_SEQ_CST);
    const View view = look_once(cycle, nested);
    if (__atomic_load_n(&settings.generation, __ATOMIC_SEQ_CST) == before) return view;
  }
}

void lose(Sink& sink, Store* store, LostReason reason, uint64_t count) {
  if (count == 0) return;
  __atomic_fetch_add(&sink.lost[static_cast<uint32_t>(reason)], count, __ATOMIC_RELAXED);
  if (store == nullptr) return;
  uint64_t* const in_file = store->lost[static_cast<uint32_t>(reason)];
  if (in_file != nullptr) __atomic_fetch_add(in_file, count, __ATOMIC_RELAXED);
}

bool post(Sink& sink, Store* store, const RecordHead& head, const Payload& payload,
          const char* text, size_t bytes, bool nested) {
  if (store == nullptr) {
    if (nested) return false;
    // The thread that closes the sink waits for this one.
    __atomic_fetch_add(&sink.callback_users, 1, __ATOMIC_SEQ_CST);
    const bool there = kind_of(sink) == SinkKind::callback && (is_open(sink) || head.sequence == 0);
    if (there) {
      const InLibrary in_library;
      call_back(sink, head, payload, text, bytes);
    }
    __atomic_fetch_sub(&sink.callback_users, 1, __ATOMIC_RELEASE);
    return there;
  }
  uint8_t* const slots = take_shared_slots(*store, 1 + info_records(bytes));
  if (slots == nullptr) return false;
  store_group(store->layout, slots, head, payload, text, bytes);
  return true;
}

void post_header(Sink& sink, Store* store, uint32_t cycle, bool first) {
  using namespace stacktrack;
  const Layout layout = store != nullptr ? store->layout : layout_of(sink);
  const uint32_t pid = settings.pid;
  post(sink, store, {type_flags(RecordType::prologue), 0, pid, 0}, prologue(sink, store), nullptr,
       0, false);
  char program[kMaxTextBytes + kMaxCharacterBytes];
  const int length =
      layout == Layout::wide ? read_link("/proc/self/exe", program, sizeof(program)) : 0;
  post(sink, store, {type_flags(RecordType::process_info), 0, pid, 0},
       pick(layout, wide::ProcessInfo{pid, cycle, parent_process_id(), settings.clock_every},
            classic::ProcessInfo{narrow(pid), narrow(cycle)}),
       program, length < 0 ? 0 : truncated(program, static_cast<size_t>(length)), false);
  const uint16_t kind = Clock::is_counter() ? kTimeCounter : kTimeMonotonic;
  const uint64_t frequency = Clock::frequency();
  const RecordHead time_type{type_flags(RecordType::time_type), 0, pid, 0};
  const Payload time_type_payload =
      pick(layout, wide::TimeType{frequency, kind}, classic::TimeType{frequency, kind});
  uint8_t* const slot = first && store != nullptr ? take_shared_slots(*store, 1) : nullptr;
  if (slot != nullptr) {
    store_record(layout, slot, time_type, time_type_payload);
    const size_t at = layout == Layout::wide ? wide::kPayloadOffset : classic::kPayloadOffset;
    store->frequency = reinterpret_cast<uint64_t*>(slot + at);
  } else {
    post(sink, store, time_type, time_type_payload, nullptr, 0, false);
  }
  const Clock::Moment now = Clock::moment();
  const uint32_t seconds = static_cast<uint32_t>(now.wall.tv_sec);
  post(sink, store, {type_flags(RecordType::time_info), 0, pid, 0},
       pick(layout, wide::TimeInfo{now.ticks, seconds, static_cast<uint32_t>(now.wall.tv_nsec)},
            classic::TimeInfo{now.ticks, seconds}),
       nullptr, 0, false);
  if (first && store != nullptr && layout == Layout::wide) post_lost_counts(*store);
}

void post_context(Site& site, const View& view, uint64_t sequence) {
  const uint32_t index = scope_index(site);
  SourceFile* const file = find_source_file(site.file);
  const bool file_too =
      file != nullptr && __atomic_load_n(&file->cycle, __ATOMIC_RELAXED) != view.cycle;
  for (int i = 0; i < kMaxSinks; ++i) {
    if (!view.open[i]) continue;
    Sink& sink = settings.sinks[i];
    Store* const store = view.stores[i];
    if (file_too) post_file(sink, store, *file, site.file, sequence, view.nested);
    if (file == nullptr) lose(sink, store, LostReason::names, 1);
    post_site(sink, store, site, index, file == nullptr ? 0 : number_of(*file), sequence,
              view.nested);
  }
  if (file_too) __atomic_store_n(&file->cycle, view.cycle, __ATOMIC_RELAXED);
  __atomic_store_n(&site.cycle, view.cycle, __ATOMIC_RELEASE);
}

uint32_t new_cycle() { return __atomic_add_fetch(&settings.last_cycle, 1, __ATOMIC_RELAXED); }

int make_file(Sink& sink, Store** store) {
  FilePlan& plan = sink.plan;
  int error = 0;
  if (plan.path[0] != 0) {
    *store = make_store(layout_of(sink), plan.path, plan.ring_bytes, plan.limit_bytes, &error);
    return error;
  }
  char path[kPathBytes];
  constexpr int kTries = 1000;  // files with that name may exist
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (!numbered_path(plan, ++plan.number, path)) return -ENAMETOOLONG;
    *store = make_store(layout_of(sink), path, plan.ring_bytes,
                        plan.rotate_bytes != 0 ? plan.rotate_bytes : plan.limit_bytes, &error);
    if (error != -EEXIST) break;
  }
  return error;
}

// Only when there is a new current file: until then, threads take chunks of the previous one.
static void remove_oldest_file(const FilePlan& plan) {
  char path[kPathBytes];
  if (plan.keep_files != 0 && plan.number > plan.keep_files &&
      numbered_path(plan, plan.number - plan.keep_files, path)) {
    remove_file(path);
  }
}

void raise_generation() { __atomic_fetch_add(&settings.generation, 1, __ATOMIC_SEQ_CST); }

void replace_store(Sink& sink, Store* store) {
  raise_generation();
  Store* const old = __atomic_exchange_n(&sink.store, store, __ATOMIC_SEQ_CST);
  raise_generation();
  Threads::interrupt_all();
  if (old != nullptr) retire_store(old);
}

void publish(Sink& sink, Store* store) {
  raise_generation();
  __atomic_store_n(&sink.store, store, __ATOMIC_SEQ_CST);
  __atomic_store_n(&sink.state, kOpen, __ATOMIC_SEQ_CST);
  raise_generation();
}

// Unless recording ended meanwhile, or a later cycle began.
static void begin_cycle(uint32_t cycle) {
  uint32_t now = __atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_RELAXED);
  while (now < cycle &&
         !__atomic_compare_exchange_n(&detail::telltale_st_control_v1.cycle, &now, cycle, true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
}

void announce(uint32_t cycle) {
  raise_generation();
  Threads::interrupt_all();
  // Last: inlined code that sees the new cycle has a place in the new stores, or takes the slow
  // path.
  if (cycle != 0) return begin_cycle(cycle);
  __atomic_store_n(&detail::telltale_st_control_v1.cycle, 0, __ATOMIC_SEQ_CST);
}

Rotation rotate(Sink& sink, const Store& full) {
  const bool at_limit = sink.plan.rotate_bytes == 0 || sink.plan.path[0] != 0;
  if (at_limit && __atomic_load_n(&full.cut, __ATOMIC_RELAXED) == 0) return Rotation::failed;
  uint32_t nobody = 0;
  if (!__atomic_compare_exchange_n(&sink.rotating, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED))
    return Rotation::busy;
  Store* const old = __atomic_load_n(&sink.store, __ATOMIC_ACQUIRE);
  Store* store = nullptr;
  const bool done = old != &full;  // by another thread
  if (!done) refine_frequency(old);
  const bool made = !done && make_file(sink, &store) == 0;
  if (made) {
    store->cycle = new_cycle();
    post_header(sink, store, store->cycle, true);
    tell_cut_events(*old, *store);
    replace_store(sink, store);
    remove_oldest_file(sink.plan);
    if (__atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_RELAXED) != 0)
      begin_cycle(store->cycle);
  }
  __atomic_store_n(&sink.rotating, 0, __ATOMIC_RELEASE);
  return done || made ? Rotation::done : Rotation::failed;
}

void refine_frequency_now_and_then(Store* store) {
  constexpr uint64_t kTimesPerSecond = 20;
  const uint64_t now = Clock::ticks();
  if (store->frequency == nullptr) return;
  const uint64_t frequency = __atomic_load_n(store->frequency, __ATOMIC_RELAXED);
  if (now - __atomic_load_n(&store->refined, __ATOMIC_RELAXED) < frequency / kTimesPerSecond)
    return;
  __atomic_store_n(&store->refined, now, __ATOMIC_RELAXED);
  refine_frequency(store);
}

void refine_frequency(Store* store) {
  if (store == nullptr || store->frequency == nullptr || !Clock::is_counter()) return;
  __atomic_store_n(store->frequency, Clock::frequency(), __ATOMIC_RELAXED);
}

}  // namespace telltale::st
