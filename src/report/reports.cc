#include "report/reports.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/closest_word.h"
#include "report/calls/call_summary.h"
#include "report/runtime/runtime_reports.h"
#include "report/schemas/schemas.h"
#include "report/sites/site_reports.h"

namespace telltale {
namespace {

constexpr std::array kOnCalls = {&reports::kCallSummary};
// Those of mprof-report first.
constexpr std::array kOnRuntimeEvents = {
    &reports::kHeader,   &reports::kJit,       &reports::kGc,        &reports::kSample,
    &reports::kAlloc,    &reports::kCall,      &reports::kMetadata,  &reports::kException,
    &reports::kMonitor,  &reports::kThread,    &reports::kDomain,    &reports::kContext,
    &reports::kHeapshot, &reports::kCounters,  &reports::kCoverage,  &reports::kStats,
    &reports::kPauses,   &reports::kGrowth,    &reports::kRetention, &reports::kContention,
    &reports::kHotspots, &reports::kTimelines, &reports::kSeries};
constexpr std::array kOnSites = {&reports::kSiteTotals,    &reports::kSchemes, &reports::kBusySites,
                                 &reports::kSiteFunctions, &reports::kOneWay,  &reports::kLastSites,
                                 &reports::kBacktrace};

std::vector<Field> members_of(std::span<const Report* const> reports, Presence presence) {
  std::vector<Field> members;
  for (const Report* const report : reports) {
    Field member = field::object(report->name, report->members, report->sentence);
    member.presence = presence;
    members.push_back(member);
  }
  return members;
}

}  // namespace

std::span<const Report* const> reports_on(Capability capability) {
  switch (capability) {
    case Capability::timed_calls:
      return kOnCalls;
    case Capability::runtime_events:
      return kOnRuntimeEvents;
    case Capability::counts_at_sites:
      return kOnSites;
    case Capability::paths_in_frames:     // the verb `paths` prints them
    case Capability::static_information:  // the verb `sites` lists it
      return {};
  }
  return {};
}

const Report* find_report(Capability capability, std::string_view name) {
  const auto reports = reports_on(capability);
  const auto found = std::ranges::find(reports, name, &Report::name);
  return found == reports.end() ? nullptr : *found;
}

Result<std::vector<const Report*>> choose_reports(Capability capability, std::string_view list,
                                                  bool with_tables) {
  std::vector<const Report*> chosen;
  while (!list.empty()) {
    std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (name.empty()) continue;
    if (with_tables) name = name.substr(0, name.find('.'));
    const Report* const report = find_report(capability, name);
    if (report == nullptr) {
      std::vector<std::string> names;
      for (const Report* known : reports_on(capability)) names.emplace_back(known->name);
      return usage_error("unknown report: " + std::string(name) + did_you_mean(name, names) +
                         (name.find('.') == name.npos ? "" : "; REPORT.TABLE is for --csv"));
    }
    if (std::ranges::find(chosen, report) == chosen.end()) chosen.push_back(report);
  }
  if (!chosen.empty()) return chosen;
  std::ranges::copy_if(reports_on(capability), std::back_inserter(chosen), &Report::by_default);
  return chosen;
}

const DocumentSchema& report_document(Capability capability) {
  static const std::vector<Field> kRuntimeMembers =
      members_of(kOnRuntimeEvents, Presence::sometimes);
  static const std::vector<Field> kSiteMembers = members_of(kOnSites, Presence::always);
  static const DocumentSchema kCalls{"report-calls", 1, "A summary of timed calls.", true,
                                     reports::kCallSummary.members};
  static const DocumentSchema kRuntime{"report-runtime", 1, "Reports on a managed runtime.", true,
                                       kRuntimeMembers};
  static const DocumentSchema kSites{"report-sites", 1, "A summary of feedback reports.", true,
                                     kSiteMembers};
  switch (capability) {
    case Capability::timed_calls:
      return kCalls;
    case Capability::runtime_events:
      return kRuntime;
    case Capability::counts_at_sites:
      return kSites;
    case Capability::paths_in_frames:
      return schemas::kPaths;
    case Capability::static_information:
      return schemas::kSites;
  }
  return kCalls;
}

}  // namespace telltale
