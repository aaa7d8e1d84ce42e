// The units that are loaded.
#pragma once

namespace telltale::sampler {

// There is a report, and this process is the one that it is of. Async-signal-safe, as all here.
bool owns_report();
// What was counted so far, from every unit. Waits a while for threads that report just now.
void report_crash();
// After a fault in report_crash that was jumped out of.
void release_report_lock();

}  // namespace telltale::sampler
