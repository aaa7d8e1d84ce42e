#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/problem.h"
#include "formats/mono/reader.h"
#include "import/mono/mono_methods.h"
#include "import/mono/mono_stacks.h"
#include "import/mono/mono_times.h"
#include "model/events.h"
#include "model/runtime_events.h"

namespace telltale {

// Cache from addresses of recently called methods to the sink's ids.
template <typename Function>
class RecentMethods {
 public:
  RecentMethods() { slots_[0].method = 1 << kUnused; }  // so that no slot fits an address yet

  template <typename Run>
  [[gnu::always_inline]] Function find(uint64_t method, Run& run, MonoMethods::Lookup& methods) {
    Slot& slot = slots_[method >> kUnused & (kSlots - 1)];
    if (slot.method != method) [[unlikely]]
      slot = {method, run.find(methods[method])};
    return slot.function;
  }

 private:
  static constexpr unsigned kUnused = 3;  // lowest bits of an address
  static constexpr size_t kSlots = 256;
  struct Slot {
    uint64_t method = 0;
    Function function{};
  };
  std::array<Slot, kSlots> slots_;
};

// Sinks that inherit enter() and leave() from IgnoreEvents: calls need not be emitted to them.
template <typename Sink>
concept IgnoresCalls = std::same_as<decltype(&Sink::enter), decltype(&IgnoreEvents::enter)> &&
                       std::same_as<decltype(&Sink::leave), decltype(&IgnoreEvents::leave)>;
static_assert(IgnoresCalls<IgnoreEvents>);

// A visitor that emits the events of one thread's buffers as model events. Lives for one shard at
// most. `address_tag` distinguishes several files
// (processes): addresses, and numbers that a process gives to counters and methods.
template <typename Sink>
class MonoToEvents : public MonoTimes {
  using Function = typename EventRun<Sink>::Function;

 public:
  // Emits no event earlier than `first` and no call earlier than `floor`. The file's bytes must
  // outlive this.
  MonoToEvents(Sink& sink, const MonoMethods& methods, const mono::Layout& layout,
               uint64_t address_mask, uint64_t address_tag, Ticks first, Ticks floor)
      : MonoTimes(floor),
        sink_(sink),
        methods_(methods),
        functions_(methods),
        stacks_(methods, address_mask),
        layout_(layout),
        tag_(address_tag),
        first_(first),
        details_(details_for(sink)) {}

  void calls(mono::CallRun& run) {
    if constexpr (IgnoresCalls<Sink>) {
      if constexpr (requires { sink_.ignored_calls(); }) sink_.ignored_calls();
      this->skip_calls(run);
    } else {
      EventRun<Sink> to(sink_);
      CallEmitter emitter{to, recent_, functions_};
      this->play_calls(run, emitter);
      to.end(emitter.events, emitter.latest);
    }
  }

  // Skips events that the sink does not handle.
  [[nodiscard]] mono::SkimRun::Wants wants() const {
    constexpr bool kHandlesStacks = handles<Sink, AllocationEvent> || handles<Sink, HandleEvent> ||
                                    handles<Sink, ThrowEvent> || handles<Sink, MonitorEvent> ||
                                    handles<Sink, SampleEvent>;
    constexpr bool kHandlesReferences = handles<Sink, HeapObjectEvent> ||
                                        handles<Sink, ObjectsMoved> ||
                                        handles<Sink, HeapRootsEvent>;
    return {.stacks = kHandlesStacks && details_.stacks,
            .references = kHandlesReferences && details_.references,
            .clauses = handles<Sink, ClauseEvent> && details_.clauses,
            .encoded_stacks = handles<Sink, AllocationEvent>};
  }
  void skim(mono::SkimRun& run) {
    Skimmer skimmer{&sink_, &stacks_, tag_, floor_};
    run.play(skimmer);
    floor_ = skimmer.floor;
  }

  void event(const mono::EventHead& head, const mono::Alloc& r)
    requires handles<Sink, AllocationEvent>
  {
    sink_.on(AllocationEvent{advance(head), type(r.type), object(r.object), r.size,
                             stack(r.has_backtrace, r.backtrace)});
  }
  void event(const mono::EventHead& head, const mono::GcMove& r)
    requires handles<Sink, ObjectsMoved>
  {
    moves_.clear();
    for (size_t i = 0; i + 1 < r.objects.size(); i += 2)
      moves_.push_back({object(r.objects[i]), object(r.objects[i + 1])});
    sink_.on(ObjectsMoved{advance(head), moves_.size(), moves_});
  }
  void event(const mono::EventHead& head, const mono::GcEvent& r)
    requires handles<Sink, CollectionEvent>
  {
    if (r.event > mono::kLastGcEvent) return;
    sink_.on(CollectionEvent{advance(head), static_cast<CollectionStep>(r.event),
                             static_cast<uint8_t>(std::min<uint64_t>(r.generation, 255))});
  }
  void event(const mono::EventHead& head, const mono::GcResize& r)
    requires handles<Sink, HeapResized>
  {
    sink_.on(HeapResized{advance(head), r.heap_size});
  }
  void event(const mono::EventHead& head, const mono::GcHandle& r)
    requires handles<Sink, HandleEvent>
  {
    if (r.type > mono::kLastHandleType) return;
    sink_.on(HandleEvent{advance(head), r.created, static_cast<HandleEvent::Kind>(r.type), r.handle,
                         r.created ? object(r.object) : ObjectId{},
                         stack(r.has_backtrace, r.backtrace)});
  }
  void event(const mono::EventHead& head, const mono::GcFinalize& r)
    requires handles<Sink, FinalizationEvent>
  {
    const bool one = r.phase >= mono::GcFinalize::Phase::object_start;
    sink_.on(FinalizationEvent{advance(head), static_cast<FinalizationEvent::Phase>(r.phase),
                               one ? object(r.object) : ObjectId{}});
  }

  void event(const mono::EventHead& head, const mono::Metadata& r)
    requires handles<Sink, LoadEvent>
  {
    using Kind = LoadEvent::Kind;
    constexpr Kind kKinds[] = {Kind::type,   Kind::image,   Kind::assembly,      Kind::domain,
                               Kind::thread, Kind::context, Kind::type_in_domain};
    const Kind kind = kKinds[static_cast<size_t>(r.kind) - 1];
    sink_.on(LoadEvent{advance(head), kind, static_cast<LoadEvent::Action>(r.action), r.load_error,
                       kind == Kind::thread ? r.pointer : r.pointer ^ tag_,
                       kind == Kind::type_in_domain ? to_number(type(r.type)) : 0, r.image,
                       r.domain ^ tag_, r.has_name, r.name, r.mvid});
  }
  void event(const mono::EventHead& head, const mono::Jit& r)
    requires handles<Sink, CompiledEvent>
  {
    sink_.on(CompiledEvent{own_time(head.time), methods_.id(r.method),
                           r.code == 0 ? 0 : r.code ^ tag_, r.code_size, r.name});
  }
  void event(const mono::EventHead& head, const mono::JitHelper& r)
    requires handles<Sink, RuntimeCodeEvent>
  {
    sink_.on(RuntimeCodeEvent{advance(head), r.type, r.code, r.size, r.name});
  }

  void event(const mono::EventHead& head, const mono::Throw& r)
    requires handles<Sink, ThrowEvent>
  {
    sink_.on(ThrowEvent{advance(head), object(r.object), stack(r.has_backtrace, r.backtrace)});
  }
  void event(const mono::EventHead& head, const mono::Clause& r)
    requires handles<Sink, ClauseEvent>
  {
    sink_.on(ClauseEvent{advance(head),
                         static_cast<ClauseEvent::Kind>(std::min<uint64_t>(r.type, 255)), r.index,
                         details_.stacks && details_.clauses ? methods_.id(r.method) : FunctionId{},
                         r.object == 0 ? ObjectId{} : object(r.object)});
  }
  void event(const mono::EventHead& head, const mono::Monitor& r)
    requires handles<Sink, MonitorEvent>
  {
    if (r.action < 1 || r.action > 3) return;
    sink_.on(MonitorEvent{advance(head), static_cast<MonitorEvent::Kind>(r.action),
                          object(r.object), stack(r.has_backtrace, r.backtrace)});
  }

  void event(const mono::EventHead& head, const mono::HeapShot& r)
    requires handles<Sink, HeapShotEvent>
  {
    sink_.on(HeapShotEvent{advance(head), r.begin});
  }
  void event(const mono::EventHead& head, const mono::HeapObject& r)
    requires handles<Sink, HeapObjectEvent>
  {
    references_.clear();
    for (const mono::HeapReference& reference : r.references)
      references_.push_back({reference.offset, object(reference.object)});
    sink_.on(HeapObjectEvent{advance(head), object(r.object), type(r.type), r.size, r.generation,
                             references_});
  }
  void event(const mono::EventHead& head, const mono::HeapRoots& r)
    requires handles<Sink, HeapRootsEvent>
  {
    roots_.clear();
    for (const mono::HeapRoot& root : r.roots) {
      roots_.push_back({.object = object(root.object),
                        .address = root.slot == 0 ? 0 : root.slot ^ tag_,
                        .kind = root_kind(root.type),
                        .pinning = (root.type & mono::kRootPinning) != 0,
                        .weak = (root.type & mono::kRootWeak) != 0,
                        .interior = (root.type & mono::kRootInterior) != 0,
                        .extra = root.extra});
    }
    sink_.on(HeapRootsEvent{advance(head), roots_});
  }
  void event(const mono::EventHead& head, const mono::HeapRootArea& r)
    requires handles<Sink, HeapRootAreaEvent>
  {
    using Source = HeapRootAreaEvent::Source;
    const auto source = static_cast<Source>(r.source);
    const bool key_is_type = source == Source::statics || source == Source::context_statics;
    sink_.on(HeapRootAreaEvent{advance(head), r.registered, r.start ^ tag_, r.size, source,
                               key_is_type ? to_number(type(r.key)) : r.key, r.name});
  }

  void event(const mono::EventHead& head, const mono::SampleHit& r)
    requires handles<Sink, SampleEvent>
  {
    stack_.clear();
    if (details_.stacks)
      for (size_t i = r.frames.size(); i-- > 0;) stack_.push_back(methods_.id(r.frames[i].method));
    // Before version 6, the time stamp has an unspecified unit and is ignored.
    Ticks time = floor_;
    if (layout_.every_event_has_time) {
      time = head.time;
    } else if (layout_.hit_has_frames) {
      time = r.timestamp;
    }
    addresses_.clear();
    for (const uint64_t address : r.addresses) addresses_.push_back(address ^ tag_);
    sink_.on(SampleEvent{own_time(time),
                         layout_.hit_has_thread,
                         static_cast<int64_t>(r.thread),
                         addresses_,
                         {!r.frames.empty(), stack_},
                         layout_.hit_has_type,
                         r.type});
  }
  void event(const mono::EventHead& head, const mono::NativeSymbol& r)
    requires handles<Sink, NativeSymbolEvent>
  {
    sink_.on(NativeSymbolEvent{advance(head), r.address ^ tag_, r.size, r.name});
  }
  void event(const mono::EventHead& head, const mono::NativeBinary& r)
    requires handles<Sink, NativeBinaryEvent>
  {
    sink_.on(NativeBinaryEvent{advance(head), r.address ^ tag_, r.file_offset, r.size, r.name});
  }
  void event(const mono::EventHead& head, const mono::CounterDescriptions& r)
    requires handles<Sink, CounterDescribed>
  {
    const Ticks time = advance(head);
    for (const mono::CounterDescription& c : r.counters) {
      sink_.on(CounterDescribed{
          time, c.index ^ tag_,
          c.section_name.empty() ? mono::counter_section_name(c.section) : c.section_name, c.name,
          c.section, c.type, c.unit, c.variance, c.section == mono::kPerformanceCounters});
    }
  }
  void event(const mono::EventHead& head, const mono::Counters& r)
    requires handles<Sink, CounterEvent>
  {
    using Form = CounterEvent::Form;
    // Values are taken before the runtime describes new counters, and written after that.
    const Ticks time =
        own_time(layout_.every_event_has_time ? head.time : first_ + r.timestamp_ms * 1'000'000);
    for (const mono::CounterValue& value : r.values) {
      Form form = Form::signed_number;
      switch (static_cast<mono::CounterType>(value.type)) {
        case mono::CounterType::uint32:
        case mono::CounterType::uint64:
          form = Form::unsigned_number;
          break;
        case mono::CounterType::f64:
          form = Form::real;
          break;
        case mono::CounterType::text:
          form = Form::text;
          break;
        default:
          break;
      }
      sink_.on(CounterEvent{time, value.index ^ tag_, value.type, form, value.number, value.real,
                            value.text});
    }
  }

  void event(const mono::EventHead& head, const mono::CoverageAssembly& r)
    requires handles<Sink, CoverageEvent>
  {
    sink_.on(CoverageEvent{.time = advance(head),
                           .kind = CoverageEvent::Kind::assembly,
                           .assembly = r.name,
                           .name = r.name,
                           .file = r.file,
                           .guid = r.guid,
                           .methods = r.methods,
                           .fully_covered = r.fully_covered,
                           .partially_covered = r.partially_covered});
  }
  void event(const mono::EventHead& head, const mono::CoverageClass& r)
    requires handles<Sink, CoverageEvent>
  {
    sink_.on(CoverageEvent{.time = advance(head),
                           .kind = CoverageEvent::Kind::type,
                           .assembly = r.assembly,
                           .name = r.name,
                           .methods = r.methods,
                           .fully_covered = r.fully_covered,
                           .partially_covered = r.partially_covered});
  }
  void event(const mono::EventHead& head, const mono::CoverageMethod& r)
    requires handles<Sink, CoverageEvent>
  {
    sink_.on(CoverageEvent{.time = advance(head),
                           .kind = CoverageEvent::Kind::method,
                           .assembly = r.assembly,
                           .type = r.type,
                           .name = r.name,
                           .signature = r.signature,
                           .file = r.file,
                           .method = r.id ^ tag_,
                           .token = r.token,
                           .statements = r.statements});
  }
  void event(const mono::EventHead& head, const mono::CoverageStatement& r)
    requires handles<Sink, CoverageEvent>
  {
    sink_.on(CoverageEvent{.time = advance(head),
                           .kind = CoverageEvent::Kind::statement,
                           .method = r.method_id ^ tag_,
                           .offset = r.offset,
                           .count = r.counter,
                           .line = r.line,
                           .column = r.column});
  }
  void event(const mono::EventHead& head, const mono::SyncPoint& r)
    requires handles<Sink, SyncEvent>
  {
    if (r.kind <= 2) sink_.on(SyncEvent{advance(head), static_cast<SyncEvent::Kind>(r.kind)});
  }

  // Reports to the sink that the rest of a buffer is missing.
  void lose(uint64_t bytes, std::string_view reason) {
    sink_.loss(LossEvent{floor_, bytes, reason});
  }

 private:
  // Emits calls with the sink's own method ids.
  struct CallEmitter {
    EventRun<Sink>& to;
    RecentMethods<Function>& recent;
    MonoMethods::Lookup& methods;
    uint64_t events = 0;
    Ticks latest = 0;

    [[gnu::always_inline]] Function find(uint64_t method) {
      return recent.find(method, to, methods);
    }
    [[gnu::always_inline]] void count(uint64_t more, Ticks time) {
      events += more;
      latest = time;
    }
    [[gnu::always_inline]] void enter(Ticks time, uint64_t method) {
      count(1, time);
      to.enter(time, find(method));
    }
    [[gnu::always_inline]] void leave(Ticks time, uint64_t method) {
      count(1, time);
      to.leave(time, find(method), LeaveKind::normal);
    }
    [[gnu::always_inline]] void exception_leave(Ticks time, uint64_t method) {
      count(1, time);
      to.leave(time, find(method), LeaveKind::exception);
    }
    [[gnu::always_inline]] void leaf(Ticks entered, Ticks left, uint64_t method) {
      count(2, left);
      to.leaf(entered, left, find(method));
    }
    [[gnu::noinline]] void call(const mono::TimedCall& call) {
      switch (call.action) {
        case mono::Call::Action::enter:
          return enter(call.time, call.method);
        case mono::Call::Action::leave:
          return leave(call.time, call.method);
        case mono::Call::Action::exception_leave:
          return exception_leave(call.time, call.method);
      }
    }
  };
  // Emits events without the parts that the sink does not use.
  struct Skimmer {
    Sink* sink;
    MonoStacks* stacks;
    uint64_t tag;
    Ticks floor;

    [[gnu::always_inline]] void allocation(Ticks time, uint64_t type, uint64_t bytes)
      requires handles<Sink, AllocationEvent>
    {
      sink->on(AllocationEvent{advance(time), TypeId{type ^ tag}, {}, bytes, {}});
    }
    [[gnu::always_inline]] uint64_t traced_allocation(Ticks time, uint64_t type, uint64_t object,
                                                      uint64_t bytes,
                                                      const mono::EncodedStack& stack)
      requires handles<Sink, AllocationEvent>
    {
      const MonoStacks::Found found = stacks->find(stack);
      sink->on(AllocationEvent{advance(time), TypeId{type ^ tag}, ObjectId{object ^ tag}, bytes,
                               found.stack});
      return found.steps;
    }
    [[gnu::always_inline]] void heap_object(Ticks time, uint64_t type, uint64_t bytes)
      requires handles<Sink, HeapObjectEvent>
    {
      sink->on(HeapObjectEvent{advance(time), {}, TypeId{type ^ tag}, bytes, 0, {}});
    }
    [[gnu::always_inline]] void clause(Ticks time, uint8_t kind)
      requires handles<Sink, ClauseEvent>
    {
      sink->on(ClauseEvent{advance(time), static_cast<ClauseEvent::Kind>(kind), 0, {}, {}});
    }
    void moves(Ticks time, uint64_t addresses)
      requires handles<Sink, ObjectsMoved>
    {
      sink->on(ObjectsMoved{advance(time), addresses / 2, {}});
    }
    void roots(Ticks time)
      requires handles<Sink, HeapRootsEvent>
    {
      sink->on(HeapRootsEvent{advance(time), {}});
    }
    [[gnu::always_inline]] Ticks advance(Ticks time) { return floor = std::max(floor, time); }
  };
  Ticks advance(const mono::EventHead& head) {
    floor_ = std::max(floor_, head.time);
    return floor_;
  }
  // Events stamped by another thread keep their time.
  [[nodiscard]] Ticks own_time(Ticks time) const { return std::max(time, first_); }
  [[nodiscard]] TypeId type(uint64_t address) const { return TypeId{address ^ tag_}; }
  [[nodiscard]] ObjectId object(uint64_t address) const { return ObjectId{address ^ tag_}; }
  RecordedStack stack(bool known, mono::Backtrace backtrace) {
    stack_.clear();
    if (details_.stacks)
      for (const uint64_t method : backtrace) stack_.push_back(methods_.id(method));
    return {known, stack_};
  }
  [[nodiscard]] HeapRootsEvent::Kind root_kind(uint64_t type) const {
    using Kind = HeapRootsEvent::Kind;
    if (layout_.roots_are_slots) return Kind::unknown;
    const uint64_t kind = type & 0xFF;
    if (!layout_.root_type_is_flags) return kind <= 4 ? static_cast<Kind>(kind + 1) : Kind::unknown;
    for (unsigned bit = 0; bit < 5; ++bit)
      if ((kind & (1U << bit)) != 0) return static_cast<Kind>(bit + 1);
    return Kind::unknown;
  }

  Sink& sink_;
  const MonoMethods& methods_;
  MonoMethods::Lookup functions_;  // of calls
  RecentMethods<Function> recent_;
  MonoStacks stacks_;
  const mono::Layout& layout_;
  uint64_t tag_;
  Ticks first_;
  EventDetails details_;
  std::vector<FunctionId> stack_;
  std::vector<uint64_t> addresses_;
  std::vector<ObjectsMoved::Move> moves_;
  std::vector<HeapObjectEvent::Reference> references_;
  std::vector<HeapRootsEvent::Root> roots_;
};

}  // namespace telltale
