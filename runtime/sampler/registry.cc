#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../signals/unchecked_memory.h"
#include "abi.h"
#include "access_windows.h"
#include "async_signal_blocker.h"
#include "generator.h"
#include "leader.h"
#include "progress_timeout.h"
#include "report.h"
#include "settings.h"
#include "signals.h"
#include "tallies.h"
#include "thread_slots.h"
#include "trace.h"
#include "verbose.h"
#include "weak_operands.h"

namespace telltale::sampler {
namespace {

UnitDescriptor* newest = nullptr;
unsigned unit_count = 0;
pid_t owner = 0;              // the process that the report is about
uint64_t reported_units = 0;  // of unloaded units
uint64_t ticks = 0;

// Held while units register, unregister and report. A signal handler of the thread that holds it
// proceeds without; other threads wait for a limited time.
class Lock {
 public:
  Lock() {
    const auto self = static_cast<int>(::syscall(SYS_gettid));
    ProgressTimeout timeout;
    do {
      const int other = enter(self);
      mine_ = other == 0;
      if (mine_ || other == self) return;
    } while (timeout.wait());
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (mine_) __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
  }
  // Other threads wait until the process has ended.
  void keep() { mine_ = false; }
  static void reset() { owner = 0; }
  // Returns whether it was free; call leave() then.
  static bool try_enter() { return enter(static_cast<int>(::syscall(SYS_gettid))) == 0; }
  static void leave() {
    auto self = static_cast<int>(::syscall(SYS_gettid));
    __atomic_compare_exchange_n(&owner, &self, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }

 private:
  // Returns the thread that holds it, or 0 if this one does from now on.
  static int enter(int self) {
    int other = 0;
    __atomic_compare_exchange_n(&owner, &other, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    return other;
  }

  static int owner;
  bool mine_ = false;
};
int Lock::owner = 0;

// -fsampler-adaptive: from now on, first executions are observed again.
void set_budgets(const UnitDescriptor& unit) {
  if (unit.budgets == nullptr) return;
  const Settings* const asked = settings();
  const bool wanted = asked != nullptr && asked->sparsity >= 1;
  ::memset(unit.budgets, wanted ? asked->first_executions : 0, unit.budget_count);
}

// How many executions are observed of a place whose first executions are over.
constexpr uint8_t kFurtherExecutions = 8;

void renew_budgets(const UnitDescriptor& unit, uint8_t executions) {
  for (uint32_t i = 0; i < unit.renewed_budget_count; ++i) {
    uint8_t* const budget = &unit.budgets[i];
    if (__atomic_load_n(budget, __ATOMIC_RELAXED) < executions)
      __atomic_store_n(budget, executions, __ATOMIC_RELAXED);
  }
}

void reset_counters(UnitDescriptor& unit) {
  set_budgets(unit);
  for (uint32_t i = 0; i < unit.scheme_count; ++i) {
    const SchemeTable& scheme = unit.schemes[i];
    // Bounds are monotone and are never reset.
    if (scheme.rows == 0 || scheme.kinds != nullptr) continue;
    clear_tallies(scheme);
    if (is_in_thread_slots(scheme)) {
      reset_thread_slots(scheme, used_slots(unit));
    } else {
      ::memset(scheme.counters, 0, sizeof(uint64_t) * scheme.rows * scheme.arity * scheme.banks);
    }
    if (scheme.first != nullptr) ::memset(scheme.first, 0, sizeof(uint64_t) * scheme.rows);
    if (scheme.last != nullptr) ::memset(scheme.last, 0, sizeof(uint64_t) * scheme.rows);
  }
}

void reset_all_counters() {
  unsigned left = unit_count;
  for (UnitDescriptor* unit = newest; unit != nullptr && left > 0; unit = unit->next, --left)
    reset_counters(*unit);
}

void forget_tallies() {
  unsigned left = unit_count;
  for (const UnitDescriptor* unit = newest; unit != nullptr && left > 0;
       unit = unit->next, --left) {
    if ((unit->flags & kThreads) == 0) continue;
    for (uint32_t i = 0; i < unit->scheme_count; ++i)
      forget_tallies_of_threads(unit->schemes[i], used_slots(*unit));
  }
}

void redraw_countdowns(const UnitDescriptor& unit) {
  if (unit.countdowns == nullptr) return;
  for (uint32_t i = 0; i <= kNeverStage; ++i) unit.countdowns[i].left = kUnset;
}

// Of the calling thread, if each has its own. Both variables are in the part of a thread's storage
// that is laid out when the program starts.
CallCounter* call_counters(const UnitDescriptor& unit) {
  if ((unit.flags & kThreads) == 0 || unit.call_counters == nullptr) return unit.call_counters;
  return reinterpret_cast<CallCounter*>(reinterpret_cast<char*>(&telltale_sampler_slot_r) +
                                        unit.call_counters_offset);
}

void note_call_counters(UnitDescriptor& unit) {
  if (unit.call_counters == nullptr) return;
  unit.call_counters_offset = reinterpret_cast<char*>(unit.call_counters) -
                              reinterpret_cast<char*>(&telltale_sampler_slot_r);
}

// The child of a fork must not repeat the parent's sample.
void redraw_all() {
  unsigned left = unit_count;
  for (UnitDescriptor* unit = newest; unit != nullptr && left > 0; unit = unit->next, --left) {
    redraw_countdowns(*unit);
    CallCounter* const counters = call_counters(*unit);
    for (uint32_t i = 0; i < unit->call_counter_count; ++i) redraw_call_counter(counters[i]);
  }
}

void reset_in_child() {
  const signals::UncheckedMemory unchecked;
  owner = ::getpid();
  Lock::reset();
  forget_reporter();
  forget_windows();
  restart_generators();
  redraw_all();
  trace_in_child();
  if (!has_report() || !reopen_report_in_child()) return;
  forget_tallies();
  reset_all_counters();
}

void log_report(uint64_t units) {
  log_line("units in the report: ", units);
  if (report_failure() != 0) {
    log_line("report: incomplete; a write failed with error number ",
             static_cast<uint64_t>(report_failure()));
  }
}

void report_units() {
  unsigned left = unit_count;
  for (UnitDescriptor* unit = newest; unit != nullptr && left > 0; unit = unit->next, --left)
    report_unit(*unit, true);
  log_report(unit_count);
}

// Later reports add to this one; the program may continue.
void report_so_far() {
  if (!owns_report()) return;
  const AsyncSignalBlocker blocker(!report_is_file());
  const Lock lock;
  report_units();
}

// Before an exec, and for programs that ask for a report while they run. In the spool a report
// counts only when it is complete: a part of one would stay there if exec succeeds, and many would
// fill the folder.
void report_before_leaving() {
  if (!report_is_spooled()) report_so_far();
}

// The calling thread is about to end the process. If several threads are, the first one says with
// which status.
void report_end(int status) {
  if (!owns_report()) return;
  const AsyncSignalBlocker blocker(!report_is_file());
  Lock lock;
  report_units();
  report_outcome(0, status);
  lock.keep();
}

// exit(3) was called with this status. Units are still to report, most of them.
bool exiting = false;
int exit_status = 0;

void report_exit() {
  if (exiting && unit_count == 0 && owns_report()) report_outcome(0, exit_status);
}

void note_exit(int status, void*) {
  exiting = true;
  exit_status = status;
  report_exit();
}

// quick_exit(3) was called with this status by code that is instrumented. Handlers do not get it.
bool exiting_quickly = false;
int quick_exit_status = 0;

void report_quick_exit() {
  if (exiting_quickly) {
    report_end(quick_exit_status);
  } else {
    report_before_leaving();
  }
}

void begin() {
  static bool begun = false;
  if (begun) return;
  begun = true;
  const signals::UncheckedMemory unchecked;
  owner = ::getpid();
  read_settings();
  begin_generators();
  prepare_windows();
  ::pthread_atfork(count_fork, nullptr, reset_in_child);
  if (!has_report()) return;
  announce_report();
  watch_signals();
  ::at_quick_exit(report_quick_exit);
  ::on_exit(note_exit, nullptr);
}

}  // namespace

// A child made by vfork or a plain clone shares our memory or descriptors, but has another pid.
bool owns_report() { return has_report() && ::getpid() == owner; }

bool find_traced_counter(const uint64_t* counter, Traced& found) {
  unsigned left = unit_count;
  for (const UnitDescriptor* unit = newest; unit != nullptr && left > 0;
       unit = unit->next, --left) {
    if ((unit->flags & kTraces) == 0) continue;
    for (uint32_t i = 0; i < unit->scheme_count; ++i) {
      const SchemeTable& scheme = unit->schemes[i];
      if (scheme.rows == 0 || counter < scheme.counters ||
          counter >= scheme.counters + size_t{scheme.rows} * scheme.arity)
        continue;
      found = {unit, &scheme};
      return !is_operand_missing(*unit, i, (counter - scheme.counters) / scheme.arity);
    }
  }
  return false;
}

void renew_budgets() {
  const Settings* const asked = settings();
  if (asked == nullptr || asked->first_executions == 0 || !Lock::try_enter()) return;
  const uint8_t executions =
      asked->first_executions < kFurtherExecutions ? asked->first_executions : kFurtherExecutions;
  unsigned left = unit_count;
  for (const UnitDescriptor* unit = newest; unit != nullptr && left > 0; unit = unit->next, --left)
    renew_budgets(*unit, executions);
  Lock::leave();
}

void report_crash() { report_so_far(); }

int failing_status() { return exiting && exit_status != 0 ? exit_status : 1; }

void release_report_lock() { Lock::leave(); }

}  // namespace telltale::sampler

using telltale::sampler::UnitDescriptor;

__attribute__((visibility("default"))) void telltale_sampler_register_v1(UnitDescriptor* unit) {
  if (unit->version != telltale::sampler::kAbiVersion) return;
  if ((unit->flags & telltale::sampler::kThreads) != 0) telltale::sampler::use_thread_slots(*unit);
  telltale::sampler::find_leader();
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->register_unit(unit);
  const telltale::sampler::Lock lock;
  if ((unit->flags & telltale::sampler::kSamples) != 0)
    telltale::sampler::choose_random(unit->random);
  telltale::sampler::begin();
  telltale::sampler::log_first_unit(*unit);
  if (unit->budgets != nullptr) telltale::sampler::observe_first_calls();
  telltale::sampler::set_budgets(*unit);
  telltale::sampler::note_call_counters(*unit);
  telltale::sampler::redraw_countdowns(*unit);  // code that ran before may have disabled it
  unit->previous = nullptr;
  unit->next = telltale::sampler::newest;
  if (unit->next != nullptr) unit->next->previous = unit;
  telltale::sampler::newest = unit;
  ++telltale::sampler::unit_count;
}

__attribute__((visibility("default"))) void telltale_sampler_unregister_v1(UnitDescriptor* unit) {
  if (unit->version != telltale::sampler::kAbiVersion) return;
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->unregister_unit(unit);
  // If the process ended now, the report would contain this unit twice, once incomplete.
  const telltale::sampler::AsyncSignalBlocker blocker(!telltale::sampler::report_is_file());
  const telltale::sampler::Lock lock;
  bool known = false;
  unsigned left = telltale::sampler::unit_count;
  for (const UnitDescriptor* one = telltale::sampler::newest; one != nullptr && left > 0;
       one = one->next, --left)
    known = known || one == unit;
  if (!known) return;
  if (telltale::sampler::owns_report()) {
    telltale::sampler::report_unit(*unit, false);
    ++telltale::sampler::reported_units;
  }
  telltale::sampler::forget_first_calls();
  if (unit->next != nullptr) unit->next->previous = unit->previous;
  if (unit->previous != nullptr) {
    unit->previous->next = unit->next;
  } else {
    telltale::sampler::newest = unit->next;
  }
  if (--telltale::sampler::unit_count == 0 && telltale::sampler::owns_report())
    telltale::sampler::log_report(telltale::sampler::reported_units);
  telltale::sampler::report_exit();
}

__attribute__((visibility("default"))) void telltale_sampler_leaving_v1() {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->leaving();
  telltale::sampler::report_before_leaving();
}

__attribute__((visibility("default"))) void telltale_sampler_ending_v1(int status) {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->ending(status);
  telltale::sampler::report_end(status);
}

__attribute__((visibility("default"))) void telltale_sampler_quick_exit_v1(int status) {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->quick_exit(status);
  // The child of a vfork has its parent's variables.
  if (!telltale::sampler::owns_report()) return;
  telltale::sampler::quick_exit_status = status;
  telltale::sampler::exiting_quickly = true;
}

__attribute__((visibility("default"))) void telltale_sampler_reset_v1() {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->reset();
  static bool done = false;
  if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED)) return;
  const telltale::sampler::Lock lock;
  telltale::sampler::reset_all_counters();
}

__attribute__((visibility("default"))) uint64_t telltale_sampler_tick(void) {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr) return other->tick();
  return __atomic_add_fetch(&telltale::sampler::ticks, 1, __ATOMIC_RELAXED);
}
