#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/heap/heap_graph.h"
#include "analysis/heap/heap_shot_roots.h"
#include "analysis/heap/object_tracking.h"
#include "analysis/runtime/event_stacks.h"
#include "analysis/runtime/mprof_calls.h"
#include "analysis/runtime/runtime_facts.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/clock.h"
#include "model/event_sizes.h"
#include "model/runtime_events.h"
#include "output/runtime_answers.h"

namespace telltale {

class TimedCalls;

// Properties of a managed runtime's recording and of the run.
struct RuntimeHeader {
  struct Environment {
    std::string arguments;
    std::string architecture;
    std::string operating_system;
  };
  std::string profiler_version;  // "3.0"
  uint64_t data_version = 0;
  uint64_t pointer_bytes = 0;
  std::optional<Environment> environment;  // none: the recording does not say
  uint64_t timer_overhead_ns = 0;
  uint64_t startup_ms = 0;       // since 1970
  uint64_t pid = 0;              // 0: unknown
  uint16_t port = 0;             // command port of the program; 0: none
  bool types_by_domain = false;  // a class has one type per application domain
};

// Capability: events of a managed runtime other than calls (model/runtime_events.h). Each answer
// reads the recording once or twice on `workers` threads (0: all cores), adds damage to `problems`,
// and does not depend on the number of workers. Safe to use from several threads.
class RuntimeEvents : public RuntimeAnswers {
 public:
  // The calls of the same recording, with its threads, functions and clock.
  [[nodiscard]] virtual const TimedCalls& calls() const = 0;
  [[nodiscard]] virtual RuntimeHeader header() const = 0;  // of the first file
  // The time of the first buffer of the first file: the origin of mprof-report's times.
  [[nodiscard]] virtual Ticks first_buffer_time() const = 0;
  // The meaning of TypeIds. The first call reads the whole recording.
  [[nodiscard]] virtual const TypeNames& types() const = 0;
  // The address that an id of a type or object denotes, and the ids of an address: one per file.
  [[nodiscard]] virtual uint64_t address_of(uint64_t id) const = 0;
  [[nodiscard]] virtual std::vector<uint64_t> ids_of(uint64_t address) const = 0;
  // The process whose type or object an id is: an EventStream::process.
  [[nodiscard]] virtual size_t process_of(uint64_t id) const = 0;

  // More functions collect_NAME or compute_NAME of analysis/, with what they require.
  [[nodiscard]] virtual RuntimeAnswer runtime_facts(const RuntimeFactsOptions& options,
                                                    CallsWanted calls,
                                                    ProblemLog& problems) const = 0;
  [[nodiscard]] virtual MprofCalls mprof_calls(const CallFilter& filter, Ticks zero, size_t workers,
                                               ProblemLog& problems) const = 0;
  [[nodiscard]] virtual EventStacks event_stacks(const EventStacksOptions& options,
                                                 ProblemLog& problems) const = 0;
  // Emits the events of all threads in file order, and no problems.
  virtual void track_objects(ObjectTracking& tracking) const = 0;
  [[nodiscard]] virtual EventSizes event_sizes(size_t workers, ProblemLog& problems) const = 0;
};

}  // namespace telltale
