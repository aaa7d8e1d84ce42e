// What instrumented object files and the runtime say to each other: plain C. instrument/counters.cc
// lays out the same.
#pragma once

#include <stdint.h>

namespace telltale::sampler {

inline constexpr uint32_t kAbiVersion = 6;

enum Random : uint32_t { kOnline = 0, kOffline = 1, kFixed = 2 };
enum UnitFlags : uint32_t { kSamples = 1, kThreads = 2, kTraces = 4 };
// How a bound is to be printed.
enum BoundKind : uint8_t { kSigned = 1, kUnsigned = 2, kPointer = 3 };

// Less, equal, greater.
inline constexpr uint32_t kPairCounters = 3;

// The counters of one scheme in one unit: `rows` sites of `arity` numbers each, in the order of the
// site table.
//
// What is observed seldom finds no counter in a cache, and pairs are many. So they are counted in
// bytes first, side by side: four tables of `rows` bytes, one each for less, equal and greater, and
// one that says at the first site of each group how often it was observed since its bytes were
// added to its counters.
struct SchemeTable {
  const char* name;
  uint64_t* counters;
  uint64_t* first;       // of each site, when it was first seen; null without -ftimestamp-first
  uint64_t* last;        // and last
  const uint8_t* kinds;  // of each site, a BoundKind; null if the numbers are counts
  uint8_t* tallies;      // of scalar-pairs that are sampled; null if there are none
  uint32_t rows;
  uint32_t arity;
};

// Stage 0 is what is always asked about. The calls of a function that takes turns are in the other
// stages, by their numbers: stage k begins with call 2 ** (k - 1) - 1, counted from 0, and of its
// calls one in kFirstCallsPerTurn * 2 ** (k - 1) has its turn, if sparsity / 8 is not less.
inline constexpr uint32_t kStages = 6;
inline constexpr uint32_t kFirstCallsPerSample = 8;

// A unit's countdown of regions, of calls of one stage: how many more may pass before one is
// observed. The fewer calls have their turn the shorter it is.
struct RegionCountdown {
  int32_t left;
  uint32_t stage;
};

// Of a function with loops: how many more calls may go by without any question, and the number,
// from 0, of the call after them.
struct CallCounter {
  int32_t left;
  uint32_t call;
};

// A site of scalar-pairs that compares with a variable that the program may lack. What it counts
// then means nothing.
struct WeakOperand {
  const void* operand;  // null: the program lacks it
  uint32_t scheme;      // index into the unit's schemes
  uint32_t row;
};

// One instrumented compilation unit; lives in its object file.
struct UnitDescriptor {
  uint32_t version;
  uint32_t scheme_count;
  uint32_t random;
  uint32_t flags;
  SchemeTable* schemes;
  UnitDescriptor* next;
  UnitDescriptor* previous;
  uint8_t signature[16];
  RegionCountdown* countdowns;  // of regions, kStages; null if the unit has none of its own
  CallCounter* call_counters;
  const WeakOperand* weak_operands;  // by scheme and row
  uint32_t call_counter_count;
  uint32_t weak_operand_count;
};

// Sites of scalar-pairs at one assignment, side by side in their scheme's table; or all sites of a
// scheme.
struct SiteGroup {
  uint64_t* counters;  // of the scheme
  uint64_t* first;
  uint64_t* last;
  uint32_t row;  // of the group's first site
  uint32_t sites;
  uint32_t flags;  // GroupFlags
  uint32_t unused;
};
enum GroupFlags : uint32_t { kSignedValues = 1, kManyThreads = 2 };

// One access to shared memory, of atoms, atoms-rw or compare-swap: two rows of its scheme's table.
struct AccessDescriptor {
  uint64_t* counters;  // of the first row
  uint64_t* first;
  uint64_t* last;
  uint64_t window;  // 0 atoms, 1 atoms-rw; nothing to compare-swap
};

// A countdown that no generator has set: whatever counts on from here asks for a first one.
inline constexpr int32_t kUnset = -0x40000000;

}  // namespace telltale::sampler

extern "C" {
// Called by each unit's constructor and destructor.
void telltale_sampler_register_v1(telltale::sampler::UnitDescriptor* unit);
void telltale_sampler_unregister_v1(telltale::sampler::UnitDescriptor* unit);

// How many more sites may pass before one is observed; at or below 0 it is time. The second is per
// thread.
extern int32_t telltale_sampler_countdown;
extern thread_local int32_t telltale_sampler_countdown_r __attribute__((tls_model("initial-exec")));
// Takes a countdown at or below 0. The low half of the answer is the next one; the high half is not
// 0 if this site is to be observed.
uint64_t telltale_sampler_next(int32_t countdown);
uint64_t telltale_sampler_next_r(int32_t countdown);

// Passes `units` at which there is nothing to observe; answers the new countdown.
int32_t telltale_sampler_pass_v1(int32_t countdown, uint32_t units);
int32_t telltale_sampler_pass_r_v1(int32_t countdown, uint32_t units);

// Passes all sites of a group with the countdown it is given; answers the new one. `operands` has
// one for each site.
int32_t telltale_sampler_pairs_v1(int32_t countdown, const telltale::sampler::SiteGroup* group,
                                  uint64_t value, const uint64_t* operands);

// Accesses to shared memory. Where a window is open, an access is made between enter and leave;
// enter answers 0 if it is not watched after all, which leave_if is told. begin opens a window if
// the access before it was not watched. `value` is what stands at `place` before and after the
// access.
extern int32_t telltale_sampler_atoms_window;
extern int32_t telltale_sampler_atoms_rw_window;
extern thread_local int32_t telltale_sampler_swap_window __attribute__((tls_model("initial-exec")));
uint32_t telltale_sampler_atoms_enter_v1(const telltale::sampler::AccessDescriptor* access,
                                         const void* place);
void telltale_sampler_atoms_leave_v1(const telltale::sampler::AccessDescriptor* access);
void telltale_sampler_atoms_leave_if_v1(uint32_t watched,
                                        const telltale::sampler::AccessDescriptor* access);
void telltale_sampler_atoms_begin_v1(uint32_t watched,
                                     const telltale::sampler::AccessDescriptor* access);
uint32_t telltale_sampler_swap_enter_v1(const telltale::sampler::AccessDescriptor* access,
                                        const void* place, uint64_t value);
void telltale_sampler_swap_leave_v1(const telltale::sampler::AccessDescriptor* access,
                                    const void* place, uint64_t value);
void telltale_sampler_swap_leave_if_v1(uint32_t watched,
                                       const telltale::sampler::AccessDescriptor* access,
                                       const void* place, uint64_t value);
void telltale_sampler_swap_begin_v1(uint32_t watched,
                                    const telltale::sampler::AccessDescriptor* access);
// The assignment that was counted as not yielded is one that did.
void telltale_sampler_yield_v1(uint64_t* counters);

// The process may be about to end without a word (_exit, exec): reports what was counted so far,
// and counts from zero. Also for programs that run for long and want a report now: what later
// reports say adds up.
void telltale_sampler_leaving_v1(void);
// How many more regions may pass before one is observed: a unit's own, or this thread's. It has
// just been counted down below 0: sets the next one, and answers whether to observe.
uint32_t telltale_sampler_region_due_v1(telltale::sampler::RegionCountdown* countdown);
uint32_t telltale_sampler_region_due_r_v1(int32_t* countdown);
extern thread_local int32_t telltale_sampler_regions_r __attribute__((tls_model("initial-exec")));
// `left` has just been counted down below 0: sets the next one. Answers what becomes of this call:
// 0 it goes by, otherwise its regions are asked about by the unit's countdown of this number,
// from 1.
uint32_t telltale_sampler_turn_v1(telltale::sampler::CallCounter* counter);
// Counts one observation of site `row` under counter `index` of a scheme's table, which is a group.
void telltale_sampler_count_v1(const telltale::sampler::SiteGroup* table, uint64_t index,
                               uint64_t row);
// A group of sites has been observed as often as its tallies may hold: they are added to the
// counters. Of `rows` sites of the scheme they are `count` from `row` on.
void telltale_sampler_add_up_v1(uint64_t* counters, uint8_t* tallies, uint64_t rows, uint64_t row,
                                uint64_t count);
// Observes all sites of a group.
void telltale_sampler_all_pairs_v1(const telltale::sampler::SiteGroup* group, uint64_t value,
                                   const uint64_t* operands);

// All counters of all units begin again at zero, the first time in a process that this is called.
void telltale_sampler_reset_v1(void);

// Tells the trace of an observation, by the counter that it went to. `extra`: of data the address,
// of bounds the value; otherwise 0.
void telltale_sampler_trace_v1(const uint64_t* counter, uint64_t extra);

// The number of this observation among all of the process.
uint64_t telltale_sampler_tick(void);
// For g-object-unref: 0, 1 or 2 for a GObject with 0, 1 or more references; 3 for anything else.
uint64_t telltale_sampler_object_kind(const void* object);
}
