#include "report/report.h"

#include "base/parallel.h"

namespace telltale {

std::vector<Section> make_sections(std::span<const Report* const> reports, const ReportInput& input,
                                   size_t workers) {
  std::vector<Section> sections;
  for (const Report* const report : reports)
    sections.emplace_back(report->name, report->title, report->members);
  parallel_for(reports.size(), worker_count(workers), [&](size_t i, size_t) {
    if (reports[i]->reads != 0) reports[i]->make(input, sections[i]);
  });
  for (size_t i = 0; i < reports.size(); ++i)
    if (reports[i]->reads == 0) reports[i]->make(input, sections[i]);
  return sections;
}

}  // namespace telltale
