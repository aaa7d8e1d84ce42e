#include "import/sampler/sampler_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"

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
};

// When predicates became true. In whole numbers, so that sums do not depend on their order.
struct FirstTimes {
  static constexpr uint64_t kLast = uint64_t{1} << 30;
  std::vector<uint64_t> sums;  // by predicate: of times from 0 to kLast
  std::vector<uint32_t> runs;  // by predicate: that have one
};

// The predicates that were true at every observation of a site, as bits.
uint32_t always_true(const isolation::SiteGroup& group, uint32_t counted) {
  uint32_t always = 0;
  for (unsigned i = 0; i < group.counters; ++i) {
    const uint32_t own = 1U << i;
    if (counted == own) always |= 1U << (group.complements ? 2 * i : i);
    if (group.complements && counted != 0 && (counted & own) == 0) always |= 1U << (2 * i + 1);
  }
  return always;
}

// Reads one report after the other. Not thread-safe; one for each worker.
class EvidenceReader {
 public:
  EvidenceReader(const SamplerSites& sites, const SamplerPredicates& predicates)
      : sites_(sites), predicates_(predicates), counted_(predicates.table().site_count()) {}

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
    sampler::ReportReader reader(file->bytes());
    while (const std::optional<ReportItem> item = reader.next()) {
      if (item->complaint) problems_.add(problem_of(*item, report.path));
      const bool is_first = item->kind == ReportItem::Kind::timestamps && item->when == "first";
      if (item->kind != ReportItem::Kind::samples && !is_first) continue;
      const SamplerSites::Section* section = sites_.find(item->unit, item->scheme);
      if (is_first) {
        if (report.failed && section != nullptr) read_times(*item, *section);
        continue;
      }
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
    read.ending = resolved ? Ending::read : Ending::unresolved;
    if (resolved) {
      read.run = LabelledRun{pack(), report.failed};
      read.observations = observed_.size();
    }
    return read;
  }

  [[nodiscard]] const ProblemLog& problems() const { return problems_; }
  [[nodiscard]] const FirstTimes& first_times() const { return first_times_; }

 private:
  void note(const ReportItem& item, const std::string& file, Problem::Kind kind,
            std::string message) {
    problems_.add(
        {kind, item.offset, file, std::string(to_string(item.kind)), std::move(message), 0});
  }

  void read_section(const ReportItem& item, const std::string& file,
                    const SamplerSites::Section& section) {
    const uint32_t group = predicates_.group_of(&section);
    if (group == SamplerPredicates::kNoGroup) return;
    const size_t size = section.sites->size();
    const std::span<uint16_t> counted =
        std::span(counted_).subspan(predicates_.table().first_site(group), size);
    const sampler::RowTally tally =
        sampler::observe_counters(item.body, predicates_.scheme_of(group).counters, counted);
    groups_.push_back(group);
    if (!tally.bad_rows.empty()) {
      note(item, file, Problem::Kind::corruption,
           fmt::format("{} rows do not have the columns of scheme {}; the first is row {}",
                       tally.bad_rows.size(), item.scheme, tally.bad_rows.front() + 1));
    }
    if (tally.rows != size) {
      note(item, file, item.closed ? Problem::Kind::corruption : Problem::Kind::loss,
           fmt::format("{} rows, {} has {} sites of unit {} and scheme {}", tally.rows,
                       *section.program, size, item.unit, item.scheme));
    }
  }

  void read_times(const ReportItem& item, const SamplerSites::Section& section) {
    const uint32_t group = predicates_.group_of(&section);
    if (group == SamplerPredicates::kNoGroup) return;
    std::vector<uint64_t> times;
    sampler::merge_timestamps(item.body, true, times, section.sites->size());
    const uint32_t first = predicates_.table().first_site(group);
    for (uint32_t row = 0; row < times.size(); ++row) {
      if (times[row] != 0) times_.emplace_back(first + row, times[row]);
    }
  }

  // A report's clock ticks at observations: only the order of its times means something, and their
  // share of the last one.
  void count_times() {
    if (times_.empty()) return;
    const isolation::SiteTable& table = predicates_.table();
    first_times_.sums.resize(table.predicate_count());
    first_times_.runs.resize(table.predicate_count());
    const uint64_t last =
        std::ranges::max(times_, {}, &std::pair<uint32_t, uint64_t>::second).second;
    for (const auto& [site, time] : times_) {
      const double share = static_cast<double>(time) / static_cast<double>(last);
      uint32_t always = always_true(table.groups()[table.group_of(site)], counted_[site]);
      for (; always != 0; always &= always - 1) {
        const uint32_t predicate =
            table.first_predicate(site) + static_cast<uint32_t>(std::countr_zero(always));
        first_times_.sums[predicate] += static_cast<uint64_t>(share * FirstTimes::kLast);
        ++first_times_.runs[predicate];
      }
    }
    times_.clear();
  }

  // State of the current report, cleared for the next one.
  RunEvidence pack() {
    std::ranges::sort(groups_);
    groups_.erase(std::ranges::unique(groups_).begin(), groups_.end());
    observed_.clear();
    for (const uint32_t group : groups_) {
      const uint32_t first = predicates_.table().first_site(group);
      const uint32_t end = first + predicates_.table().groups()[group].sites;
      for (uint32_t site = first; site < end; ++site) {
        if (counted_[site] != 0) observed_.push_back({site, std::exchange(counted_[site], 0)});
      }
    }
    return {observed_, std::exchange(groups_, {})};
  }

  const SamplerSites& sites_;
  const SamplerPredicates& predicates_;
  std::vector<uint16_t> counted_;  // by site: a bit for each counter
  std::vector<uint32_t> groups_;   // that occur in the report
  std::vector<ObservedSite> observed_;
  std::vector<std::pair<uint32_t, uint64_t>> times_;  // of the report: site, first time
  FirstTimes first_times_;
  ProblemLog problems_;
};

std::vector<double> average(const std::vector<EvidenceReader>& readers) {
  FirstTimes all;
  for (const EvidenceReader& reader : readers) {
    const FirstTimes& times = reader.first_times();
    all.sums.resize(std::max(all.sums.size(), times.sums.size()));
    all.runs.resize(all.sums.size());
    for (size_t i = 0; i < times.sums.size(); ++i) {
      all.sums[i] += times.sums[i];
      all.runs[i] += times.runs[i];
    }
  }
  std::vector<double> averages;
  for (size_t i = 0; i < all.sums.size(); ++i) {
    const double runs = all.runs[i];
    averages.push_back(runs == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : static_cast<double>(all.sums[i]) / runs / FirstTimes::kLast);
  }
  return averages;
}

}  // namespace

SamplerEvidence read_sampler_evidence(std::span<const RunReport> reports, const SamplerSites& sites,
                                      const SamplerPredicates& predicates, const OpenReport& open,
                                      size_t workers) {
  workers = std::min(worker_count(workers), std::max<size_t>(reports.size(), 1));
  std::vector<EvidenceReader> readers(workers, EvidenceReader(sites, predicates));
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
        break;
    }
  }
  evidence.first_true = average(readers);
  for (const EvidenceReader& reader : readers) evidence.problems.merge(reader.problems());
  return evidence;
}

}  // namespace telltale
