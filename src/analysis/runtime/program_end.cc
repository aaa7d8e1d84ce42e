#include "analysis/runtime/program_end.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace telltale {
namespace {

// Threads of the log profiler itself, by Mono's names. A program's own thread may have a name with
// the same beginning.
constexpr auto kProfilerThreads = std::to_array<std::string_view>(
    {"Profiler Sampler", "Profiler Helper", "Profiler Writer", "Profiler Dumper"});

}  // namespace

void ProgramEnd::on(const LoadEvent& event) {
  if (event.kind != LoadEvent::Kind::thread) return;
  if (event.has_name) {
    const bool profiler = std::ranges::find(kProfilerThreads, event.name) != kProfilerThreads.end();
    marks_.push_back(
        {stream_, profiler ? What::named_profiler : What::named_otherwise, event.time});
  } else if (event.action == LoadEvent::Action::loaded) {
    marks_.push_back({stream_, What::started, event.time});
  } else if (event.action == LoadEvent::Action::unloaded) {
    marks_.push_back({stream_, What::ended, event.time});
  }
}

std::map<size_t, Ticks> ProgramEnd::by_process(std::span<const EventStream> streams) const {
  std::map<size_t, Ticks> ends;
  std::map<size_t, bool> profiler;  // by stream: the thread with that id now
  for (const Mark& mark : marks_) {
    bool& is_profiler = profiler[mark.stream];
    switch (mark.what) {
      case What::started:
        is_profiler = false;
        break;
      case What::named_profiler:
      case What::named_otherwise:
        is_profiler = mark.what == What::named_profiler;
        break;
      case What::ended:
        if (!is_profiler) break;
        const auto [end, first] = ends.try_emplace(streams[mark.stream].process, mark.time);
        if (!first) end->second = std::min(end->second, mark.time);
        break;
    }
  }
  return ends;
}

}  // namespace telltale
