#include "analysis/heap_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace telltale {
namespace {

// Words for where a root lies; HeapRootAreaEvent::Source by number.
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
  // Of the areas those that were registered, and not yet taken back, when the shot was told.
  RootNames(std::vector<HeapGraphSink::Area> areas, uint64_t before, const LoadedTypes& types,
            std::span<const EventStream> streams)
      : types_(types), streams_(streams) {
    std::ranges::stable_sort(areas, {}, &HeapGraphSink::Area::place);
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
        return static_cast<uint64_t>(stream.thread.tid) == area.key;
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
  std::map<uint64_t, HeapGraphSink::Area> areas_;  // by start
};

}  // namespace

std::string HeapGraph::type_name(uint64_t type) const {
  const LoadedTypes::Type known = types.describe(type);
  if (!known.name.empty()) return std::string(known.name);
  return fmt::format("#0x{:x}", known.type == 0 ? type : known.type);
}

HeapShotSurvey::Choice HeapShotSurvey::last(PlayedWindow window,
                                            std::span<const EventStream> streams) const {
  const std::map<int64_t, Ticks> ends = end_.by_process(streams);
  std::vector<HeapShotRoots::Extent> shots = extents_.shots();
  std::ranges::stable_sort(shots, {}, &HeapShotRoots::Extent::time);
  const auto at_exit = [&](const HeapShotRoots::Extent& shot) {
    return is_at_exit(shot.time, shot.stream, ends, streams);
  };
  Choice choice;
  for (size_t i = 0; i < shots.size(); ++i) {
    const HeapShotRoots::Extent& shot = shots[i];
    if (!window.holds(shot.time)) continue;
    const bool running_is_known = choice.shot && !at_exit(*choice.shot);
    if (!shot.ended || (running_is_known && at_exit(shot))) {
      choice.left_out.push_back(
          {i, shot.time,
           shot.ended ? HeapShotLeftOut::Why::at_exit : HeapShotLeftOut::Why::unfinished});
      continue;
    }
    choice.shot = shot;
    choice.number = i;
    choice.left_out.clear();
  }
  return choice;
}

void HeapGraphSink::on(const HeapShotEvent& event) {
  ++place_.event;
  if (!event.begin) {
    if (inside_) {
      found_.shot->end_place = place_.piece;
      // Up to profiler 1.1 the roots of a shot stand before it.
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
  if (!inside_) return;
  Shot& shot = *found_.shot;
  uint32_t& index = shot.index[to_number(event.object)];
  if (index == 0) {
    shot.objects.push_back({to_number(event.object), to_number(event.type), event.bytes, 0});
    index = static_cast<uint32_t>(shot.objects.size());
  }
  for (const HeapObjectEvent::Reference& reference : event.references)
    shot.references.push_back(
        {index - 1, static_cast<uint32_t>(reference.offset), to_number(reference.object)});
}

void HeapGraphSink::on(const HeapRootsEvent& event) {
  ++place_.event;
  std::vector<HeapRootsEvent::Root>& to = inside_ ? found_.shot->roots : roots_before_;
  to.insert(to.end(), event.roots.begin(), event.roots.end());
}

void HeapGraphSink::Found::append(Found&& next) {
  if (next.shot) shot = std::move(next.shot);
  areas.insert(areas.end(), std::make_move_iterator(next.areas.begin()),
               std::make_move_iterator(next.areas.end()));
  types.append(next.types);
}

std::optional<HeapGraph> make_heap_graph(HeapGraphSink::Found found,
                                         std::span<const EventStream> streams) {
  if (!found.shot) return std::nullopt;
  HeapGraphSink::Shot& shot = *found.shot;
  HeapGraph graph;
  graph.begin = shot.begin;
  graph.stream = shot.stream;
  graph.types = std::move(found.types);
  graph.objects = std::move(shot.objects);
  // A long array's references are told in several pieces.
  std::ranges::stable_sort(shot.references, {}, &HeapGraphSink::Shot::Reference::from);
  graph.references.reserve(shot.references.size());
  size_t next = 0;
  for (uint32_t object = 0; object < graph.objects.size(); ++object) {
    graph.objects[object].first_reference = static_cast<uint32_t>(graph.references.size());
    for (; next < shot.references.size() && shot.references[next].from == object; ++next) {
      const uint32_t* to = shot.index.find(shot.references[next].to);
      if (to == nullptr) {
        ++graph.dangling;
      } else {
        graph.references.push_back({*to - 1, shot.references[next].offset});
      }
    }
  }
  const RootNames names(std::move(found.areas), shot.end_place, graph.types, streams);
  for (const HeapRootsEvent::Root& root : shot.roots) {
    const uint32_t* object = shot.index.find(to_number(root.object));
    if (object == nullptr) {
      ++graph.dangling;
    } else {
      graph.roots.push_back({*object - 1, names.name(root), root.weak});
    }
  }
  return graph;
}

}  // namespace telltale
