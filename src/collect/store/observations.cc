#include "collect/store/observations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/tag.h"

namespace telltale::collect {
namespace {

struct Section {
  std::vector<uint16_t> counted;  // by site
  std::vector<uint64_t> times;
};

SectionObservations pack(const std::string& unit, const std::string& scheme,
                         const Section& section) {
  SectionObservations packed{unit, scheme, static_cast<uint32_t>(section.counted.size()),
                             {},   {},     {}};
  for (size_t site = 0; site < section.counted.size(); ++site) {
    if (section.counted[site] == 0) continue;
    packed.sites.push_back(static_cast<int32_t>(site));
    packed.counted.push_back(static_cast<int16_t>(section.counted[site]));
    if (!section.times.empty())
      packed.first.push_back(
          static_cast<int64_t>(site < section.times.size() ? section.times[site] : 0));
  }
  return packed;
}

}  // namespace

std::vector<SectionObservations> read_observations(Bytes report, const std::string& name,
                                                   ProblemLog& problems) {
  std::map<std::pair<std::string, std::string>, Section> sections;
  sampler::ReportReader reader(report, sampler::ReportReader::Sections::all);
  while (const auto item = reader.next()) {
    if (item->complaint) problems.add(problem_of(*item, name));
    const bool is_first =
        item->kind == sampler::ReportItem::Kind::timestamps && item->when == "first";
    if (item->kind != sampler::ReportItem::Kind::samples && !is_first) continue;
    const sampler::SchemeLayout* scheme = sampler::find_scheme(item->scheme);
    if (scheme == nullptr || scheme->values == sampler::Values::bounds) continue;
    Section& section = sections[{std::string(item->unit), std::string(item->scheme)}];
    if (is_first) {
      sampler::merge_timestamps(item->body, true, section.times);
      continue;
    }
    const auto rows = static_cast<size_t>(std::ranges::count(item->body, '\n'));
    section.counted.resize(std::max(section.counted.size(), rows));
    const sampler::RowTally tally =
        sampler::observe_counters(item->body, scheme->counters, section.counted);
    if (!tally.bad_rows.empty())
      problems.add({Problem::Kind::corruption, item->offset, name, "Samples",
                    fmt::format("{} without the columns of scheme {}",
                                counted(tally.bad_rows.size(), "row"), item->scheme),
                    0});
  }
  std::vector<SectionObservations> packed;
  for (const auto& [key, section] : sections)
    packed.push_back(pack(key.first, key.second, section));
  return packed;
}

std::string read_backtrace(Bytes report) {
  using Kind = sampler::ReportItem::Kind;
  std::string backtrace;
  sampler::ReportReader reader(report);
  while (const auto item = reader.next()) {
    const bool begins = item->kind == Kind::report_begin && item->id == sampler::kBacktraceReport;
    if (backtrace.empty() && !begins) continue;
    backtrace += item->bytes;
    if (item->kind == Kind::report_end) break;
  }
  return backtrace;
}

}  // namespace telltale::collect
