#include "report/schemas/schemas.h"

#include <array>

#include "report/reports.h"

namespace telltale::schemas {

std::span<const DocumentSchema* const> all() {
  static const std::array kAll = {&kInfo,
                                  &kTop,
                                  &kStacks,
                                  &kGraph,
                                  &kDiff,
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
                                  &kIsolate,
                                  &kStudy,
                                  &kPaths};
  return kAll;
}

}  // namespace telltale::schemas
