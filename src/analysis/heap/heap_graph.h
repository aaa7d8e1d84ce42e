#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/play_pieces.h"
#include "analysis/calls/play_threads.h"
#include "analysis/heap/heap_object_log.h"
#include "analysis/heap/heap_shot_roots.h"
#include "analysis/runtime/loaded_types.h"
#include "analysis/runtime/program_end.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"
#include "model/runtime_events.h"

namespace telltale {

// The objects of one heap shot, their references, and the roots that keep them alive.
// docs/analysis/heap.md. Memory: 32 bytes an object, 8 a reference, for one shot.
struct HeapGraph {
  struct Object {
    uint64_t object = 0;  // its address
    uint64_t type = 0;    // TypeId's number
    uint64_t bytes = 0;
    uint32_t first_reference = 0;  // index into references; they end at those of the next object
  };
  struct Reference {
    uint32_t to = 0;      // index into objects
    uint32_t offset = 0;  // of the field in the object, bytes
  };
  struct Root {
    uint32_t object = 0;  // index into objects
    std::string name;     // "static fields of Cache", "stack", ...
    bool weak = false;
  };
  Ticks begin = 0;
  size_t stream = 0;
  size_t number = 0;            // of the shot: HeapShots::Shot::number
  std::vector<Object> objects;  // in recorded order
  std::vector<Reference> references;
  std::vector<Root> roots;
  uint64_t dangling = 0;  // references and roots to addresses that are not objects of the shot
  LoadedTypes types;

  [[nodiscard]] std::pair<size_t, size_t> references_of(size_t object) const {
    return {objects[object].first_reference,
            object + 1 < objects.size() ? objects[object + 1].first_reference : references.size()};
  }
};

// A shot while it is read.
struct HeapShotAsTold {
  Ticks begin = 0;
  size_t stream = 0;
  uint64_t end_place = ~uint64_t{0};
  HeapObjectLog log;
  std::vector<HeapRootsEvent::Root> roots;
};

// Finds the heap shots of a recording and the ends of its programs. A part.
class HeapShotSurvey : public IgnoreEvents {
 public:
  void on(const PieceEvent& event) {
    extents_.on(event);
    end_.on(event);
  }
  void on(const LoadEvent& event) { end_.on(event); }
  void loss(const LossEvent& event) { extents_.loss(event); }
  void on(const HeapShotEvent& event) { extents_.on(event); }
  void on(const HeapRootsEvent& event) { extents_.on(event); }
  void append(const HeapShotSurvey& next) {
    extents_.append(next.extents_);
    end_.append(next.end_);
  }
  struct Choice {
    std::optional<HeapShotRoots::Extent> shot;
    size_t number = 0;  // as in HeapShots::Shot
    // Shots in the window that begin later.
    std::vector<HeapShotLeftOut> left_out;
  };
  // For each process the last shot that begins in the window, is complete, and was taken while its
  // program ran; if all complete ones were taken at exit, the last of these.
  [[nodiscard]] std::map<size_t, Choice> last(PlayedWindow window,
                                              std::span<const EventStream> streams) const;

 private:
  HeapShotExtents extents_;
  ProgramEnd end_;
};

// Handles all shards of one thread; keeps the heap shot that begins at a given place.
class HeapGraphSink : public IgnoreEvents {
 public:
  struct Area {  // a registered location of roots
    uint64_t place = 0;
    bool registered = true;
    uint64_t start = 0;
    uint64_t bytes = 0;
    HeapRootAreaEvent::Source source{};
    uint64_t key = 0;
    std::string name;
  };
  using Shot = HeapShotAsTold;
  struct Found {
    size_t process = 0;  // EventStream::process
    std::optional<Shot> shot;
    std::vector<Area> areas;
    LoadedTypes types;
    void append(Found&& next);
  };

  HeapGraphSink(size_t process, const HeapPlace& chosen) : chosen_(chosen) {
    found_.process = process;
  }

  void on(const PieceEvent& event) {
    place_ = {event.offset, 0};
    stream_ = event.stream;
    found_.types.on(event);
  }
  void on(const LoadEvent& event) { found_.types.on(event); }
  void on(const HeapShotEvent& event);
  void on(const HeapObjectEvent& event);
  void on(const HeapRootsEvent& event);
  void on(const HeapRootAreaEvent& event) {
    found_.areas.push_back({place_.piece, event.registered, event.start, event.bytes, event.source,
                            event.key, std::string(event.name)});
  }
  Found take() { return std::move(found_); }

 private:
  HeapPlace chosen_;
  HeapPlace place_;
  size_t stream_ = 0;
  bool inside_ = false;  // a shot that is kept
  std::vector<HeapRootsEvent::Root> roots_before_;
  Found found_;
};

// Merges what was found. Null if there was no shot.
std::optional<HeapGraph> make_heap_graph(HeapGraphSink::Found found,
                                         std::span<const EventStream> streams);

// The last heap shot of each process in the filter's window, as defined by HeapShotSurvey, in order
// of EventStream::process. Reads the recording twice, so that only the objects of one shot of each
// process are in memory; the result does not depend on the number of workers. `left_out`, if given,
// gets the later shots of the window.
template <EventSource Source>
std::vector<HeapGraph> last_heap_graphs(const Source& source, const CallFilter& filter,
                                        size_t workers, ProblemLog& problems,
                                        std::vector<HeapShotLeftOut>* left_out = nullptr) {
  HeapShotSurvey survey;
  play_pieces(
      source, workers, [] { return HeapShotSurvey(); },
      [&](HeapShotSurvey&& part) { survey.append(part); }, problems);
  const std::span<const EventStream> streams = source.streams();
  std::map<size_t, HeapShotSurvey::Choice> chosen = survey.last(window_of(source, filter), streams);
  if (left_out != nullptr) left_out->clear();
  for (auto& [process, choice] : chosen) {
    if (left_out != nullptr)
      left_out->insert(left_out->end(), choice.left_out.begin(), choice.left_out.end());
  }
  std::erase_if(chosen, [](const auto& of_process) { return !of_process.second.shot; });
  std::vector<HeapGraph> graphs;
  if (chosen.empty()) return graphs;
  ProblemLog same_again;  // the second pass would report the same problems again
  std::map<size_t, HeapGraphSink::Found> found;
  play_threads(
      source, workers,
      [&](size_t stream) {
        const auto of_process = chosen.find(streams[stream].process);
        return HeapGraphSink(streams[stream].process, of_process == chosen.end()
                                                          ? HeapPlace{~uint64_t{0}, 0}
                                                          : of_process->second.shot->begin);
      },
      [&found](HeapGraphSink::Found&& part) { found[part.process].append(std::move(part)); },
      same_again);
  for (auto& [process, parts] : found) {
    std::optional<HeapGraph> graph = make_heap_graph(std::move(parts), streams);
    if (!graph) continue;
    graph->number = chosen.at(process).number;
    graphs.push_back(*std::move(graph));
  }
  return graphs;
}

}  // namespace telltale
