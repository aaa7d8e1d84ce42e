#include "analysis/heap/heap_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/sort_rows.h"

namespace telltale {
namespace {

// Names of root locations; HeapRootAreaEvent::Source by number.
constexpr std::string_view kSourceNames[] = {
    "external roots",   "stack",           "finalizer queue", "static fields",
    "thread statics",   "context statics", "GC handles",      "compiled code",
    "threading",        "domain",          "reflection",      "marshalling",
    "thread pool",      "debugger",        "runtime handles", "ephemerons",
    "toggle references"};
static_assert(std::size(kSourceNames) == HeapRootAreaEvent::kSources);

// HeapRootsEvent::Kind by number.
constexpr std::string_view kKindNames[] = {"unknown root", "stack", "finalizer queue",
                                           "GC handles",   "other", "miscellaneous"};

class RootNames {
 public:
  // The areas that were registered, and not unregistered, at the time of the shot.
  RootNames(std::vector<HeapGraphSink::Area> areas, uint64_t before, const LoadedTypes& types,
            std::span<const EventStream> streams, size_t process)
      : types_(types), streams_(streams), process_(process) {
    sort_rows(areas, {}, &HeapGraphSink::Area::place);
    for (HeapGraphSink::Area& area : areas) {
      if (area.place > before) break;
      if (!area.registered) {
        areas_.erase(area.start);
      } else {
        const uint64_t start = area.start;
        areas_.insert_or_assign(start, std::move(area));
      }
    }
  }

  [[nodiscard]] std::string name(const HeapRootsEvent::Root& root) const {
    if (root.address == 0) return std::string(kKindNames[static_cast<size_t>(root.kind)]);
    const auto after = areas_.upper_bound(root.address);
    if (after == areas_.begin()) return "unregistered place";
    const HeapGraphSink::Area& area = std::prev(after)->second;
    if (root.address - area.start >= std::max<uint64_t>(area.bytes, 1)) return "unregistered place";
    return name(area);
  }

 private:
  [[nodiscard]] std::string name(const HeapGraphSink::Area& area) const {
    using Source = HeapRootAreaEvent::Source;
    const auto source = static_cast<size_t>(area.source);
    if (source >= HeapRootAreaEvent::kSources) return fmt::format("roots of kind {}", source);
    std::string text(kSourceNames[source]);
    if (area.source == Source::statics || area.source == Source::context_statics) {
      const LoadedTypes::Type type = types_.describe(area.key);
      if (!type.name.empty()) return fmt::format("{} of {}", text, type.name);
    }
    if (area.source == Source::stack || area.source == Source::thread_statics) {
      const auto thread = std::ranges::find_if(streams_, [&](const EventStream& stream) {
        return stream.process == process_ && static_cast<uint64_t>(stream.thread.tid) == area.key;
      });
      if (thread != streams_.end() && !thread->thread_name.empty())
        return fmt::format("{} of thread {}", text, thread->thread_name);
      return text;
    }
    if (!area.name.empty()) text += fmt::format(" ({})", area.name);
    return text;
  }

  const LoadedTypes& types_;
  std::span<const EventStream> streams_;
  size_t process_;
  std::map<uint64_t, HeapGraphSink::Area> areas_;  // by start
};

}  // namespace

std::map<size_t, HeapShotSurvey::Choice> HeapShotSurvey::last(
    PlayedWindow window, std::span<const EventStream> streams) const {
  const std::map<size_t, Ticks> ends = end_.by_process(streams);
  std::vector<HeapShotRoots::Extent> shots = extents_.shots();
  sort_rows(shots, {}, &HeapShotRoots::Extent::time);
  const auto at_exit = [&](const HeapShotRoots::Extent& shot) {
    return is_at_exit(shot.time, shot.stream, ends, streams);
  };
  std::map<size_t, Choice> choices;
  for (size_t i = 0; i < shots.size(); ++i) {
    const HeapShotRoots::Extent& shot = shots[i];
    if (!window.holds(shot.time)) continue;
    Choice& choice = choices[streams[shot.stream].process];
    const bool running_is_known = choice.shot && !at_exit(*choice.shot);
    if (!shot.ended || shot.damaged || (running_is_known && at_exit(shot))) {
      using Why = HeapShotLeftOut::Why;
      choice.left_out.push_back({i, shot.time,
                                 !shot.ended    ? Why::unfinished
                                 : shot.damaged ? Why::damaged
                                                : Why::at_exit});
      continue;
    }
    choice.shot = shot;
    choice.number = i;
    choice.left_out.clear();
  }
  return choices;
}

void HeapGraphSink::on(const HeapShotEvent& event) {
  ++place_.event;
  if (!event.begin) {
    if (inside_) {
      found_.shot->end_place = place_.piece;
      // Up to profiler 1.1 the roots of a shot precede it.
      if (found_.shot->roots.empty()) found_.shot->roots = std::move(roots_before_);
    }
    roots_before_.clear();
    inside_ = false;
    return;
  }
  inside_ = place_ == chosen_;
  if (!inside_) return;
  found_.shot.emplace();
  found_.shot->begin = event.time;
  found_.shot->stream = stream_;
}

void HeapGraphSink::on(const HeapObjectEvent& event) {
  if (inside_) found_.shot->log.add(event);
}

void HeapGraphSink::on(const HeapRootsEvent& event) {
  ++place_.event;
  std::vector<HeapRootsEvent::Root>& to = inside_ ? found_.shot->roots : roots_before_;
  to.insert(to.end(), event.roots.begin(), event.roots.end());
}

void HeapGraphSink::Found::append(Found&& next) {
  process = next.process;
  if (next.shot) shot = std::move(next.shot);
  areas.insert(areas.end(), std::make_move_iterator(next.areas.begin()),
               std::make_move_iterator(next.areas.end()));
  types.append(std::move(next.types));
}

namespace {

// Objects in file order, with their references contiguous, although a long array's are recorded in
// several pieces.
void add_objects(const HeapObjectLog& log, ObjectNumbers& numbers, HeapGraph& graph) {
  graph.objects.reserve(log.objects());
  log.for_each(
      [&](uint64_t object, uint64_t type, uint64_t bytes) {
        uint32_t& number = numbers[object];
        if (number != 0) return;
        graph.objects.push_back({object, type, bytes, 0});
        number = static_cast<uint32_t>(graph.objects.size());
      },
      [](uint64_t, uint64_t) {});
  // First each object's number of references; then their start; then, as they are filled in, their
  // end, which is the start of the next object's.
  HeapGraph::Object* from = nullptr;
  const auto begin = [&](uint64_t object, uint64_t, uint64_t) {
    from = &graph.objects[numbers.of(object) - 1];
  };
  log.for_each(begin, [&](uint64_t, uint64_t object) {
    if (numbers.of(object) != 0) {
      ++from->first_reference;
    } else {
      ++graph.dangling;
    }
  });
  uint32_t references = 0;
  for (HeapGraph::Object& object : graph.objects)
    references += std::exchange(object.first_reference, references);
  graph.references.resize(references);
  log.for_each(begin, [&](uint64_t offset, uint64_t object) {
    const uint32_t to = numbers.of(object);
    if (to != 0)
      graph.references[from->first_reference++] = {to - 1, static_cast<uint32_t>(offset)};
  });
  for (size_t i = graph.objects.size(); i-- > 1;)
    graph.objects[i].first_reference = graph.objects[i - 1].first_reference;
  if (!graph.objects.empty()) graph.objects.front().first_reference = 0;
}

}  // namespace

std::optional<HeapGraph> make_heap_graph(HeapGraphSink::Found found,
                                         std::span<const EventStream> streams) {
  if (!found.shot) return std::nullopt;
  HeapGraphSink::Shot& shot = *found.shot;
  HeapGraph graph;
  graph.begin = shot.begin;
  graph.stream = shot.stream;
  graph.types = std::move(found.types);
  const HeapObjectLog log = std::exchange(shot.log, {});
  ObjectNumbers numbers(log.objects());  // 1 + index
  add_objects(log, numbers, graph);
  const RootNames names(std::move(found.areas), shot.end_place, graph.types, streams,
                        found.process);
  for (const HeapRootsEvent::Root& root : shot.roots) {
    const uint32_t object = numbers.of(to_number(root.object));
    if (object == 0) {
      ++graph.dangling;
    } else {
      graph.roots.push_back({object - 1, names.name(root), root.weak});
    }
  }
  return graph;
}

}  // namespace telltale
