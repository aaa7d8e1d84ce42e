#include "report/schemas/schemas.h"

#include <array>

namespace telltale::schemas {

std::span<const DocumentSchema* const> all() {
  static constexpr std::array kAll = {
      &kInfo,          &kTop,           &kStacks,      &kGraph,    &kDiff,    &kReportCalls,
      &kReportRuntime, &kReportObjects, &kReportSites, &kTopSites, &kResolve, &kSites,
      &kCheck,         &kConvert,       &kHeapshot,    &kIsolate,  &kStudy,   &kPaths};
  return kAll;
}

}  // namespace telltale::schemas
