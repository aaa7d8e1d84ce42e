#include "report/schemas/schemas.h"

#include <array>

#include "report/calls/flame_document.h"
#include "report/calls/runs_diff_tables.h"
#include "report/calls/sequence_report.h"
#include "report/reports.h"

namespace telltale::schemas {

std::span<const DocumentSchema* const> all() {
  static const std::array kAll = {&kInfo,
                                  &kTop,
                                  &kStacks,
                                  &kGraph,
                                  &kFlame,
                                  &kFlameDiff,
                                  &kDiff,
                                  &kDiffRuns,
                                  &kDiffOrder,
                                  &kReplay,
                                  &kSlow,
                                  &kHistogram,
                                  &report_document(Capability::timed_calls),
                                  &report_document(Capability::runtime_events),
                                  &kReportObjects,
                                  &report_document(Capability::counts_at_sites),
                                  &kTopSites,
                                  &kResolve,
                                  &kSites,
                                  &kCheck,
                                  &kConvert,
                                  &kHeapshot,
                                  &kControl,
                                  &kIsolate,
                                  &kStore,
                                  &kStudy,
                                  &kPaths,
                                  &kCoverage};
  return kAll;
}

}  // namespace telltale::schemas
