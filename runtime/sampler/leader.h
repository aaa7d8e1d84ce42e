// A program and the libraries that it loads may each contain a copy of the runtime. The copy whose
// unit registers first is the leader; the others forward to it, so that the process has one list of
// units, one report and one set of signal handlers.
#pragma once

#include <stdint.h>

#include "abi.h"

namespace telltale::sampler {

// The functions that a leader offers to other copies.
struct EntryPoints {
  decltype(&telltale_sampler_register_v1) register_unit;
  decltype(&telltale_sampler_unregister_v1) unregister_unit;
  decltype(&telltale_sampler_leaving_v1) leaving;
  decltype(&telltale_sampler_ending_v1) ending;
  decltype(&telltale_sampler_quick_exit_v1) quick_exit;
  decltype(&telltale_sampler_reset_v1) reset;
  decltype(&telltale_sampler_tick) tick;
  decltype(&telltale_sampler_trace_v1) trace;
  decltype(&telltale_sampler_next) next;
  decltype(&telltale_sampler_next_r) next_r;
  decltype(&telltale_sampler_region_due_v1) region_due;
  decltype(&telltale_sampler_region_due_r_v2) region_due_r;
  decltype(&telltale_sampler_turn_v1) turn;
  decltype(&telltale_sampler_turn_r_v1) turn_r;
  decltype(&telltale_sampler_atoms_enter_v1) atoms_enter;
  decltype(&telltale_sampler_atoms_leave_v1) atoms_leave;
  decltype(&telltale_sampler_atoms_begin_v1) atoms_begin;
  decltype(&telltale_sampler_swap_enter_v1) swap_enter;
  decltype(&telltale_sampler_swap_leave_v1) swap_leave;
  decltype(&telltale_sampler_swap_begin_v1) swap_begin;
  int32_t (*swap_window)();  // of the calling thread
  bool (*is_tracing)();
  bool (*watches_signals)();
  void (*install_signal_stack)();
};

// Set once, before the first unit of this copy registers.
extern const EntryPoints* the_leader;

// The leader; null if it is this copy, or if no unit of this copy has registered yet.
inline const EntryPoints* leader() { return __atomic_load_n(&the_leader, __ATOMIC_ACQUIRE); }

// Call before a unit registers: finds the leader, or makes this copy the leader. A leader is never
// unloaded, since signal handlers and threads refer to it.
void find_leader();
// Announces that this copy writes the report of the process.
void announce_report();

}  // namespace telltale::sampler
