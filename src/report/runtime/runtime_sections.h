#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/heap_growth.h"
#include "analysis/runtime_timeline.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/runtime_events.h"
#include "import/timed_calls.h"
#include "model/call_filter.h"
#include "output/section.h"

namespace telltale {

struct RuntimeSectionsOptions {
  CallFilter filter;
  size_t workers = 0;          // 0: all cores
  std::optional<size_t> rows;  // of each table; none: all
  size_t max_frames = 12;      // of a stack that is shown to people, the innermost
  bool long_tables = false;    // for programs: whole stacks, every value of every counter, ...
};

// The reports of a managed runtime's recording that mprof-report does not have. docs/analysis:
// runtime-timeline.md, heap.md, weighted-stacks.md.
class RuntimeSections {
 public:
  // `source` and `problems` outlive this; the first reading of the recording adds to `problems`.
  RuntimeSections(const RuntimeEvents& source, RuntimeSectionsOptions options, ProblemLog& problems)
      : source_(source), options_(std::move(options)), problems_(problems) {}

  // pauses, growth, retention, contention, hotspots, timelines, series.
  static const std::vector<std::string>& names();
  // REQUIRES: one of names().
  Section make(const std::string& name);
  // What `growth` is made from. Errors: usage, with less than two shots.
  Result<std::vector<TypeGrowth>> growth();
  // Shots without an end that a section leaves out, by number.
  [[nodiscard]] const std::map<size_t, HeapShotLeftOut>& unfinished() const { return unfinished_; }

 private:
  struct Shots {
    std::vector<HeapShots::Shot> shots;  // whole ones of the running program
    std::vector<TypeGrowth> growth;
    struct LeftOut {
      HeapShots::Shot shot;
      HeapShotLeftOut::Why why{};
    };
    std::vector<LeftOut> left_out;
  };
  Section pauses();
  Section growth_section();
  Section retention();
  Section contention();
  Section hotspots();
  Section timelines();
  Section series();

  const RuntimeTimeline& timeline();
  const Shots& shots();
  [[nodiscard]] bool in_window(Ticks time) const;
  [[nodiscard]] bool keeps(size_t stream) const {
    return options_.filter.keeps_thread(source_.calls().streams()[stream].thread);
  }
  [[nodiscard]] uint64_t since_start(Ticks time) const {
    return time - source_.calls().first_time();
  }
  [[nodiscard]] size_t limit() const { return options_.rows.value_or(~size_t{0}); }
  [[nodiscard]] std::string thread_name(size_t stream) const;
  // "outer > inner", and the function that the runtime's own frames are called by.
  [[nodiscard]] std::string stack_text(const StackTable& stacks, StackTable::Id stack) const;
  [[nodiscard]] std::string site(const StackTable& stacks, StackTable::Id stack,
                                 std::string_view runtime_type) const;

  const RuntimeEvents& source_;
  RuntimeSectionsOptions options_;
  // Where a reading tells its problems: later ones find the same as the first.
  ProblemLog& log() { return std::exchange(read_, true) ? same_again_ : problems_; }

  ProblemLog& problems_;
  ProblemLog same_again_;
  bool read_ = false;
  std::optional<RuntimeTimeline> timeline_;
  std::optional<Shots> shots_;
  std::map<size_t, HeapShotLeftOut> unfinished_;
};

}  // namespace telltale
