#pragma once

#include "report/report.h"

// The reports on a managed runtime's events. docs/analysis/mono.md has a paragraph for each that
// mprof-report has, too; heap.md, runtime-timeline.md and weighted-stacks.md define the others.
namespace telltale::reports {

extern const Report kHeader;  // recording_reports.cc
extern const Report kStats;
extern const Report kJit;  // code_reports.cc
extern const Report kSample;
extern const Report kCoverage;
extern const Report kGc;  // gc_reports.cc
extern const Report kPauses;
extern const Report kAlloc;      // allocation_report.cc
extern const Report kCall;       // call_report.cc
extern const Report kException;  // exception_reports.cc
extern const Report kHotspots;
extern const Report kMonitor;  // lock_reports.cc
extern const Report kContention;
extern const Report kMetadata;  // loaded_reports.cc
extern const Report kDomain;
extern const Report kContext;
extern const Report kThread;  // thread_reports.cc
extern const Report kTimelines;
extern const Report kHeapshot;  // heap_shot_report.cc
extern const Report kGrowth;    // heap_reports.cc
extern const Report kRetention;
extern const Report kCounters;  // counter_reports.cc
extern const Report kSeries;

}  // namespace telltale::reports
