// The instrumented units of the process.
#pragma once

namespace telltale::sampler {

// Is there a report, and is it this process's? Async-signal-safe, like all functions here.
bool owns_report();
// Reports the counters of all units. Waits for a limited time for threads that are reporting.
void report_crash();
// -fsampler-adaptive: observes some more executions of each place. Does nothing while units
// register or report.
void renew_budgets();
// The status with which a process in which an error was found ends: that of exit(), or 1 if that
// was 0 or exit() was not called.
int failing_status();
// Releases the lock if report_crash() was left by a jump.
void release_report_lock();

}  // namespace telltale::sampler
