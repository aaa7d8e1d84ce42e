#include "import/sampler/sampler_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "base/parallel.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "import/sampler/first_truth.h"
#include "import/sampler/sampler_ranges.h"

namespace telltale {
namespace {

using isolation::LabelledRun;
using isolation::ObservedSite;
using isolation::RunEvidence;
using sampler::ReportItem;

enum class Ending : uint8_t { read, without_report, unresolved };

// What became of one report.
struct ReadRun {
  Ending ending = Ending::without_report;
  std::optional<LabelledRun> run;
  uint64_t observations = 0;
  std::vector<SiteRange> ranges;
};

// Reads one report after the other. Not thread-safe; one for each worker.
class EvidenceReader {
 public:
  // `ranges`: the number of all readers together; references outlive it.
  EvidenceReader(const SamplerSites& sites, const SamplerPredicates& predicates,
                 std::atomic<uint64_t>& ranges)
      : ranges_(predicates, ranges),
        sites_(sites),
        predicates_(predicates),
        counted_(predicates.reading().site_count()),
        first_truth_(predicates.table()) {}

  ReadRun read(const RunReport& report, const OpenReport& open) {
    ReadRun read;
    const Result<InputFile> file = open(report);
    if (!file) {
      problems_.add({Problem::Kind::loss, 0, report.path, "Report", file.error().detail, 0});
      return read;
    }
    problems_.merge(file->problems());
    if (file->bytes().empty()) {
      problems_.add({Problem::Kind::loss, 0, report.path, "Report",
                     "is empty: the run was killed before it wrote its report", 0});
      return read;
    }
    bool resolved = false;
    bool has_sections = false;
    bool damaged = false;
    // First executions are evidence like the sample: all sites of a region share their rates.
    sampler::ReportReader reader(file->bytes(), sampler::ReportReader::Sections::all);
    while (const std::optional<ReportItem> item = reader.next()) {
      if (item->complaint) problems_.add(problem_of(*item, report.path));
      damaged = damaged || item->complaint.has_value();
      const bool is_first = item->kind == ReportItem::Kind::timestamps && item->when == "first";
      if (item->kind != ReportItem::Kind::samples && !is_first) continue;
      const SamplerSites::Section* section = sites_.find(item->unit, item->scheme);
      if (is_first) {
        if (report.failed && section != nullptr) read_times(*item, *section);
        continue;
      }
      has_sections = true;
      if (section == nullptr) {
        note(*item, report.path, Problem::Kind::loss,
             fmt::format("no given program has the sites of unit {} ({})", item->unit,
                         item->scheme));
        continue;
      }
      resolved = true;
      read_section(*item, report.path, *section);
    }
    count_times();
    read.ranges = ranges_.take();
    // Damage that leaves nothing does not tell which program wrote it.
    if (has_sections || !damaged) read.ending = resolved ? Ending::read : Ending::unresolved;
    if (resolved) {
      read.run = LabelledRun{pack(), report.failed};
      read.observations = observed_.size() + read.ranges.size();
    }
    return read;
  }

  [[nodiscard]] const ProblemLog& problems() const { return problems_; }
  [[nodiscard]] const FirstTruth& first_truth() const { return first_truth_; }

 private:
  void note(const ReportItem& item, const std::string& file, Problem::Kind kind,
            std::string message) {
    problems_.add(
        {kind, item.offset, file, std::string(to_string(item.kind)), std::move(message), 0});
  }

  void read_section(const ReportItem& item, const std::string& file,
                    const SamplerSites::Section& section) {
    const uint32_t group = predicates_.group_of(&section);
    if (group == SamplerPredicates::kNoGroup) {
      if (predicates_.first_range_site(&section) != SamplerPredicates::kNoGroup)
        note_rows(ranges_.add(item.body, section), item, file, section);
      return;
    }
    const size_t size = section.sites->size();
    const std::span<uint16_t> counted =
        std::span(counted_).subspan(predicates_.reading().first_site(group), size);
    const sampler::RowTally tally =
        sampler::observe_counters(item.body, predicates_.scheme_of(group).counters, counted);
    groups_.push_back(group);
    note_rows(tally, item, file, section);
  }

  void note_rows(const sampler::RowTally& tally, const ReportItem& item, const std::string& file,
                 const SamplerSites::Section& section) {
    const size_t size = section.sites->size();
    if (!tally.bad_rows.empty()) {
      note(item, file, Problem::Kind::corruption,
           fmt::format("{} without the columns of scheme {}; the first is row {}",
                       counted(tally.bad_rows.size(), "row"), item.scheme,
                       tally.bad_rows.front() + 1));
    }
    if (tally.rows != size) {
      note(item, file, item.closed ? Problem::Kind::corruption : Problem::Kind::loss,
           fmt::format("{}, {} has {} of unit {} and scheme {}", counted(tally.rows, "row"),
                       *section.program, counted(size, "site"), item.unit, item.scheme));
    }
  }

  void read_times(const ReportItem& item, const SamplerSites::Section& section) {
    const uint32_t group = predicates_.group_of(&section);
    if (group == SamplerPredicates::kNoGroup) return;
    std::vector<uint64_t> times;
    sampler::merge_timestamps(item.body, true, times, section.sites->size());
    const uint32_t first = predicates_.reading().first_site(group);
    for (uint32_t row = 0; row < times.size(); ++row) {
      if (times[row] != 0) times_.emplace_back(first + row, times[row]);
    }
  }

  void count_times() {
    std::vector<FirstTruth::Observation> seen;
    for (const auto& [site, time] : times_)
      seen.push_back({predicates_.site_of(site), counted_[site], time});
    first_truth_.add_run(seen);
    times_.clear();
  }

  // State of the current report, cleared for the next one.
  RunEvidence pack() {
    std::ranges::sort(groups_);
    groups_.erase(std::ranges::unique(groups_).begin(), groups_.end());
    observed_.clear();
    for (const uint32_t group : groups_) {
      const uint32_t first = predicates_.reading().first_site(group);
      const uint32_t end = first + predicates_.reading().groups()[group].sites;
      for (uint32_t site = first; site < end; ++site) {
        if (counted_[site] != 0) observed_.push_back({site, std::exchange(counted_[site], 0)});
      }
    }
    predicates_.renumber(observed_, groups_);
    return {observed_, std::exchange(groups_, {})};
  }

  RangeReader ranges_;
  const SamplerSites& sites_;
  const SamplerPredicates& predicates_;
  std::vector<uint16_t> counted_;  // by site: a bit for each counter
  std::vector<uint32_t> groups_;   // that occur in the report
  std::vector<ObservedSite> observed_;
  std::vector<std::pair<uint32_t, uint64_t>> times_;  // of the report: site, first time
  FirstTruth first_truth_;
  ProblemLog problems_;
};

}  // namespace

SamplerEvidence read_sampler_evidence(std::span<const RunReport> reports, const SamplerSites& sites,
                                      const SamplerPredicates& predicates, const OpenReport& open,
                                      size_t workers) {
  workers = std::min(worker_count(workers), std::max<size_t>(reports.size(), 1));
  std::atomic<uint64_t> ranges{0};
  std::vector<EvidenceReader> readers(workers, EvidenceReader(sites, predicates, ranges));
  std::vector<ReadRun> read(reports.size());
  parallel_for(reports.size(), workers,
               [&](size_t i, size_t worker) { read[i] = readers[worker].read(reports[i], open); });
  SamplerEvidence evidence;
  for (size_t i = 0; i < read.size(); ++i) {
    switch (read[i].ending) {
      case Ending::without_report:
        ++evidence.without_report;
        break;
      case Ending::unresolved:
        ++evidence.unresolved;
        break;
      case Ending::read:
        evidence.observations += read[i].observations;
        evidence.report_of_run.push_back(i);
        evidence.runs.push_back(*std::move(read[i].run));
        evidence.ranges.push_back(std::move(read[i].ranges));
        break;
    }
  }
  leave_out_many_ranges(evidence, ranges);
  FirstTruth first_truth(predicates.table());
  for (const EvidenceReader& reader : readers) {
    first_truth.merge(reader.first_truth());
    evidence.problems.merge(reader.problems());
  }
  evidence.first_true = first_truth.averages();
  return evidence;
}

}  // namespace telltale
