// Parts of RuntimeFacts: data that spans pieces of a thread gives the same result as in one piece.
#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/heap/gc_handles.h"
#include "analysis/heap/heap_shots.h"
#include "analysis/heap/object_tracking.h"
#include "analysis/runtime/compiled_code.h"
#include "analysis/runtime/counter_values.h"
#include "analysis/runtime/gc_collections.h"
#include "analysis/runtime/loaded_types.h"
#include "analysis/runtime/lock_waits.h"
#include "analysis/runtime/program_end.h"
#include "analysis/runtime/stack_sums.h"

namespace telltale {
namespace {

using ::testing::ElementsAre;

// Passes `events` to a part, in two pieces divided before event `cut`, and merges them.
template <typename Part>
Part told_in_two(const std::vector<std::function<void(Part&)>>& events, size_t cut) {
  Part first;
  Part second;
  first.on(PieceEvent{.offset = 100});
  second.on(PieceEvent{.offset = 200});
  for (size_t i = 0; i < events.size(); ++i) events[i](i < cut ? first : second);
  Part all;
  all.append(std::move(first));
  all.append(std::move(second));
  return all;
}

TEST(RuntimeParts, CollectionsStretchOverPieces) {
  const auto step = [](Ticks time, CollectionStep what, uint8_t generation) {
    return [=](GcCollections& gc) { gc.on(CollectionEvent{time, what, generation}); };
  };
  const std::vector<std::function<void(GcCollections&)>> events = {
      step(10, CollectionStep::start, 0), step(14, CollectionStep::end, 0),
      step(20, CollectionStep::start, 1), step(25, CollectionStep::start, 0),
      step(28, CollectionStep::end, 0),   step(50, CollectionStep::end, 1)};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const GcCollections gc = told_in_two(events, cut);
    const std::vector<EventStream> streams = {{.thread = {1, 1}, .thread_name = {}, .shards = 2}};
    for (const EndsTold ends : {EndsTold::by_any_thread, EndsTold::by_its_thread}) {
      const auto generations = gc.generations(streams, ends);
      EXPECT_EQ(generations[0].collections, 2U) << cut;
      EXPECT_EQ(generations[0].total, 7U) << cut;
      EXPECT_EQ(generations[1].max, 30U) << cut;
    }
  }
}

TEST(RuntimeParts, AConcurrentCollectionEndsInAnyThreadOfItsProcess) {
  const auto step = [](size_t stream, Ticks time, CollectionStep what, uint8_t generation) {
    return [=](GcCollections& gc) {
      gc.on(PieceEvent{.offset = time, .stream = stream, .thread = 0});
      gc.on(CollectionEvent{time, what, generation});
    };
  };
  using Step = CollectionStep;
  const std::vector<EventStream> streams = {
      {.thread = {1, 1}, .thread_name = {}, .shards = 1, .process = 0},
      {.thread = {1, 2}, .thread_name = {}, .shards = 1, .process = 0},
      {.thread = {1, 1}, .thread_name = {}, .shards = 1, .process = 1}};
  // By thread, not in order of time; another process collects at the same time.
  const std::vector<std::function<void(GcCollections&)>> events = {
      step(0, 10, Step::start, 1), step(0, 90, Step::end, 1),   step(0, 100, Step::start, 1),
      step(1, 20, Step::start, 0), step(1, 25, Step::end, 0),   step(1, 52, Step::end, 1),
      step(1, 70, Step::start, 1), step(2, 40, Step::start, 1), step(2, 45, Step::end, 1)};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const GcCollections gc = told_in_two(events, cut);
    const auto all = gc.generations(streams)[1];
    EXPECT_EQ(all.collections, 4U) << cut;
    EXPECT_EQ(all.finished, 3U) << cut;  // the last has no end
    EXPECT_EQ(all.total, 42U + 20U + 5U) << cut;
    EXPECT_EQ(all.max, 42U) << cut;
    const auto like_mprof = gc.generations(streams, EndsTold::by_its_thread)[1];
    EXPECT_EQ(like_mprof.finished, 3U) << cut;
    EXPECT_EQ(like_mprof.total, 80U + 52U + 5U) << cut;
    EXPECT_EQ(like_mprof.max, 80U) << cut;
  }
}

TEST(RuntimeParts, AWaitEndsWithTheNextOutcomeOfItsThread) {
  const auto event = [](Ticks time, MonitorEvent::Kind kind, uint64_t object) {
    return [=](LockWaits& waits) { waits.on(MonitorEvent{time, kind, ObjectId{object}, {}}); };
  };
  using Kind = MonitorEvent::Kind;
  const std::vector<std::function<void(LockWaits&)>> events = {
      event(1, Kind::acquired, 8),   event(10, Kind::contended, 8),  event(15, Kind::acquired, 8),
      event(16, Kind::acquired, 16), event(20, Kind::contended, 16), event(50, Kind::failed, 16)};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const LockWaits waits = told_in_two(events, cut);
    ASSERT_NE(waits.by_object().find(8), nullptr);
    EXPECT_EQ(waits.by_object().find(8)->wait, 5U) << cut;
    EXPECT_EQ(waits.by_object().find(16)->wait, 30U) << cut;
    EXPECT_EQ(waits.by_object().find(16)->failed, 1U) << cut;
    EXPECT_EQ(waits.events(Kind::acquired), 3U) << cut;
  }
}

TEST(RuntimeParts, HandlesAreCountedAlongTheFile) {
  const auto change = [](bool created) {
    return [=](GcHandles& handles) {
      handles.on(HandleEvent{.created = created, .kind = HandleEvent::Kind::normal, .stack = {}});
    };
  };
  const std::vector<std::function<void(GcHandles&)>> events = {
      change(true), change(true), change(false), change(true), change(true), change(false)};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const auto kinds = told_in_two(events, cut).kinds();
    EXPECT_EQ(kinds[2].created, 4U);
    EXPECT_EQ(kinds[2].destroyed, 2U);
    EXPECT_EQ(kinds[2].most, 3) << cut;
  }
}

std::vector<uint64_t> numbers_of(const CounterValues::Series& series) {
  std::vector<uint64_t> numbers;
  series.for_each([&](const CounterValues::Value& value) { numbers.push_back(value.number); });
  return numbers;
}

TEST(RuntimeParts, CounterValuesOfEachFormAreGivenBack) {
  using Form = CounterEvent::Form;
  const std::vector<CounterValues::Value> values = {
      {5, Form::signed_number, ~uint64_t{0}, 0, ""},
      {9, Form::unsigned_number, ~uint64_t{0}, 0, ""},
      {3, Form::real, 0, -0.25, ""},
      {~uint64_t{0}, Form::text, 0, 0, "words"},
      {0, Form::signed_number, uint64_t{1} << 63, 0, ""}};
  for (size_t cut = 0; cut <= values.size(); ++cut) {
    CounterValues::Packed packed;
    CounterValues::Packed later;
    for (size_t i = 0; i < values.size(); ++i) (i < cut ? packed : later).add(values[i]);
    packed.append(later);
    EXPECT_EQ(packed.size(), values.size());
    EXPECT_FALSE(packed.in_order());
    CounterValues::Packed::Reader reader(packed);
    CounterValues::Value value;
    for (const CounterValues::Value& expected : values) {
      ASSERT_TRUE(reader.next(value));
      EXPECT_EQ(value.time, expected.time);
      EXPECT_EQ(value.form, expected.form);
      EXPECT_EQ(value.number, expected.number);
      EXPECT_EQ(value.real, expected.real);
      EXPECT_EQ(value.text, expected.text);
    }
    EXPECT_FALSE(reader.next(value));
  }
}

TEST(RuntimeParts, CountersAddUpInTime) {
  const auto value = [](Ticks time, uint64_t number) {
    return [=](CounterValues& counters) {
      counters.on(CounterEvent{.time = time, .index = 3, .number = number, .text = {}});
    };
  };
  const std::vector<std::function<void(CounterValues&)>> events = {
      [](CounterValues& counters) {
        counters.on(CounterDescribed{.index = 3, .section = "Mono JIT", .name = "Methods"});
      },
      value(10, 5), value(30, 2), value(20, 1)};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const auto series = told_in_two(events, cut).series();
    ASSERT_EQ(series.size(), 1U);
    EXPECT_THAT(numbers_of(series[0]), ElementsAre(5U, 6U, 8U)) << cut;
  }
  CounterValues last(/*keep_all=*/false);
  for (const auto& event : events) event(last);
  EXPECT_THAT(numbers_of(last.series()[0]), ElementsAre(8U));
  last.series()[0].for_each([](const auto& kept) { EXPECT_EQ(kept.time, 30U); });
}

TEST(RuntimeParts, AHeapShotStretchesOverPieces) {
  const auto object = [](uint64_t address, uint64_t type, uint64_t bytes) {
    return [=](HeapShots& shots) {
      shots.on(HeapObjectEvent{
          .object = ObjectId{address}, .type = TypeId{type}, .bytes = bytes, .references = {}});
    };
  };
  const std::vector<std::function<void(HeapShots&)>> events = {
      [](HeapShots& shots) { shots.on(HeapShotEvent{5, true}); },
      object(8, 1, 24),
      object(16, 2, 32),
      object(16, 2, 0),
      [](HeapShots& shots) { shots.on(HeapShotEvent{9, false}); },
      [](HeapShots& shots) { shots.on(HeapShotEvent{20, true}); },
      object(8, 1, 24),
      object(40, 1, 24),
      [](HeapShots& shots) { shots.on(HeapShotEvent{29, false}); }};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    auto shots = told_in_two(events, cut).take_shots().whole;
    ASSERT_EQ(shots.size(), 2U) << cut;
    EXPECT_EQ(shots[0].objects, 2U) << cut;
    EXPECT_EQ(shots[0].bytes, 56U) << cut;
    ASSERT_EQ(shots[1].by_type.size(), 1U) << cut;
    EXPECT_EQ(shots[1].by_type[0].type, 1U) << cut;
    EXPECT_EQ(shots[1].by_type[0].sum.objects, 2U) << cut;
  }
}

TEST(RuntimeParts, TheEndOfAProgramIsWhenTheFirstThreadOfItsProfilerEnds) {
  const auto thread = [](size_t stream, Ticks time, LoadEvent::Action action,
                         std::string_view name = {}) {
    return [=](ProgramEnd& end) {
      end.on(PieceEvent{.offset = time, .stream = stream, .thread = 0});
      end.on(LoadEvent{.time = time,
                       .kind = LoadEvent::Kind::thread,
                       .action = action,
                       .has_name = !name.empty(),
                       .name = name,
                       .mvid = {}});
    };
  };
  using Action = LoadEvent::Action;
  const std::vector<EventStream> streams = {
      {.thread = {1, 10}, .thread_name = {}, .shards = 1, .process = 5},
      {.thread = {1, 11}, .thread_name = {}, .shards = 1, .process = 5},
      {.thread = {1, 10}, .thread_name = {}, .shards = 1, .process = 6}};
  const std::vector<std::function<void(ProgramEnd&)>> events = {
      thread(0, 1, Action::loaded),
      thread(0, 2, Action::named, "Profiler of my own"),
      thread(0, 3, Action::unloaded),
      thread(0, 4, Action::loaded),  // the system reuses the id
      thread(0, 5, Action::named, "Profiler Writer"),
      thread(0, 90, Action::unloaded),
      thread(0, 95, Action::loaded),
      thread(0, 96, Action::unloaded),
      thread(1, 1, Action::named, "Profiler Sampler"),
      thread(1, 80, Action::unloaded),
      thread(2, 6, Action::named, "Profiler Writer")};  // of a process that was killed
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const std::map<size_t, Ticks> ends = told_in_two(events, cut).by_process(streams);
    EXPECT_EQ(ends, (std::map<size_t, Ticks>{{5, 80}})) << cut;
    EXPECT_TRUE(is_at_exit(80, 0, ends, streams));
    EXPECT_FALSE(is_at_exit(79, 0, ends, streams));
    EXPECT_FALSE(is_at_exit(200, 2, ends, streams));
  }
}

TEST(RuntimeParts, HandlesOfSeveralProcessesAreNotAliveTogether) {
  const auto change = [](size_t process, uint64_t place, bool created) {
    return [=](GcHandles& handles) {
      handles.on(PieceEvent{.offset = place, .process = process});
      handles.on(HandleEvent{.time = place,
                             .created = created,
                             .kind = HandleEvent::Kind::normal,
                             .handle = place,
                             .stack = {}});
    };
  };
  const std::vector<std::function<void(GcHandles&)>> events = {
      change(0, 1, true),  change(0, 2, true),  change(0, 3, true),
      change(0, 4, false), change(1, 11, true), change(1, 12, true)};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const auto normal =
        told_in_two(events, cut).kinds()[static_cast<size_t>(HandleEvent::Kind::normal)];
    EXPECT_EQ(normal.created, 5U) << cut;
    EXPECT_EQ(normal.destroyed, 1U) << cut;
    EXPECT_EQ(normal.most, 3) << cut;
  }
}

TEST(RuntimeParts, EachProcessCompilesAMethodForItself) {
  const auto compile = [](size_t process, uint64_t place, uint64_t address, uint64_t bytes) {
    return [=](CompiledCode& code) {
      code.on(PieceEvent{.offset = place, .process = process});
      code.on(CompiledEvent{place, FunctionId{7}, address, bytes, "m"});
    };
  };
  const std::vector<std::function<void(CompiledCode&)>> events = {
      compile(1, 11, 0x30, 9), compile(0, 1, 0x10, 5), compile(0, 2, 0x20, 6)};
  for (size_t cut = 0; cut <= events.size(); ++cut) {
    const auto methods = told_in_two(events, cut).methods();
    ASSERT_EQ(methods.size(), 2U) << cut;
    EXPECT_EQ(methods[0].address, 0x20U) << cut;
    EXPECT_EQ(methods[0].bytes, 6U) << cut;
    EXPECT_EQ(methods[0].compilations, 2U) << cut;
    EXPECT_EQ(methods[1].address, 0x30U) << cut;
    EXPECT_EQ(methods[1].compilations, 1U) << cut;
  }
}

TEST(RuntimeParts, AnAddressMayBeAVtableAndThenAClass) {
  LoadedTypes types;
  using Kind = LoadEvent::Kind;
  const auto load = [&](Kind kind, uint64_t id, uint64_t type, std::string_view name) {
    types.on(LoadEvent{.kind = kind,
                       .action = LoadEvent::Action::loaded,
                       .id = id,
                       .type = type,
                       .has_name = true,
                       .name = name,
                       .mvid = {}});
  };
  load(Kind::type, 0x10, 0, "Old");
  load(Kind::type_in_domain, 0x20, 0x10, "");
  load(Kind::type, 0x20, 0, "New");
  load(Kind::type_in_domain, 0x30, 0x20, "");
  EXPECT_EQ(types.describe(0x30).name, "New");
  EXPECT_EQ(types.describe(0x20).name, "Old");
  EXPECT_EQ(types.describe(0x40).type, 0U);
}

TEST(RuntimeParts, StacksAreCutAndPutTogether) {
  StackTable stacks;
  StackSums sums;
  const std::array<FunctionId, 3> one = {FunctionId{1}, FunctionId{2}, FunctionId{3}};
  const std::array<FunctionId, 3> two = {FunctionId{9}, FunctionId{2}, FunctionId{3}};
  sums.add(0, stacks.intern(one), 10);
  sums.add(0, stacks.intern(two), 5);
  sums.add(0, StackTable::Id::empty, 100);
  const auto inner = stack_lines(*sums.by_owner().find(0), stacks, {.most = 2, .innermost = true});
  ASSERT_EQ(inner.size(), 1U);
  EXPECT_EQ(inner[0].sum.value, 15U);
  EXPECT_THAT(inner[0].functions, ElementsAre(FunctionId{2}, FunctionId{3}));
  const auto outer = stack_lines(*sums.by_owner().find(0), stacks, {.most = 2, .innermost = false});
  ASSERT_EQ(outer.size(), 2U);
  EXPECT_THAT(outer[0].functions, ElementsAre(FunctionId{1}, FunctionId{2}));
}

TEST(RuntimeParts, AnObjectIsFollowedThroughItsMoves) {
  TrackedObjects wanted;
  wanted.type_part = "Leak";
  ObjectTracking tracking(
      wanted, [](TypeId type) { return std::string(type == TypeId{7} ? "My.Leak[]" : "Other"); });
  tracking.on(AllocationEvent{1, TypeId{7}, ObjectId{8}, 24, {}});
  tracking.on(AllocationEvent{2, TypeId{5}, ObjectId{16}, 24, {}});
  const std::array<ObjectsMoved::Move, 2> moves = {
      {{ObjectId{8}, ObjectId{64}}, {ObjectId{16}, ObjectId{8}}}};
  tracking.on(ObjectsMoved{3, moves.size(), moves});
  const std::array<HeapObjectEvent::Reference, 2> references = {
      {{0, ObjectId{64}}, {8, ObjectId{8}}}};
  tracking.on(HeapObjectEvent{
      .time = 4, .object = ObjectId{96}, .type = TypeId{5}, .bytes = 8, .references = references});
  tracking.on(AllocationEvent{5, TypeId{5}, ObjectId{64}, 24, {}});
  using What = ObjectTracking::What;
  std::vector<What> what;
  for (const ObjectTracking::Line& line : tracking.lines()) {
    what.push_back(line.what);
    EXPECT_EQ(line.object, 1U);
  }
  EXPECT_THAT(what, ElementsAre(What::created, What::moved, What::referenced, What::gone));
}

}  // namespace
}  // namespace telltale
