#include "collect/store/store_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "base/parallel.h"
#include "bytes/input_file.h"
#include "collect/store/duckdb.h"
#include "collect/store/run_digest.h"
#include "collect/store/run_file_reader.h"
#include "collect/store/stored_run.h"
#include "formats/sampler/counter_rows.h"
#include "import/sampler/first_truth.h"
#include "import/sampler/sampler_ranges.h"

namespace telltale::collect {
namespace {

constexpr uint64_t kEvidenceMemoryBytes = uint64_t{512} << 20;
constexpr uint64_t kReportMemoryBytes = uint64_t{256} << 20;  // of the reports of one file

constexpr std::string_view kBounds = "bounds";

bool has_bounds(const SamplerPredicates& predicates) { return predicates.range_site_count() != 0; }

// What became of a file's runs.
struct FileRuns {
  std::vector<RunReport> reports;
  std::vector<isolation::LabelledRun> runs;
  std::vector<std::vector<SiteRange>> ranges;
  std::vector<size_t> report_of_run;
  std::vector<StoreEvidence::Ending> endings;
  uint64_t without_report = 0;
  uint64_t unresolved = 0;
  uint64_t observations = 0;
  uint64_t skipped = 0;
  std::optional<Error> error;
};

// Gathers one run after the other. Not thread-safe; one for each worker.
class RunGatherer {
 public:
  // `ranges`: how many all readers together have found; outlives it.
  RunGatherer(const SamplerSites& sites, const SamplerPredicates& predicates,
              std::atomic<uint64_t>& ranges)
      : sites_(sites),
        predicates_(predicates),
        ranges_(predicates, ranges),
        first_truth_(predicates.table()) {}

  // Adds what a run observed. `build`: for messages.
  void add(const StoredRun& run, const std::string& build, FileRuns& into) {
    if (run.label == to_string(RunLabel::skipped)) {
      ++into.skipped;
      return;
    }
    const bool failed = run.label == to_string(RunLabel::failed);
    into.reports.push_back({std::string(run.id), failed, 0});
    if (failed) add_ending(run, build, into);
    if (run.bytes == 0) {
      ++into.without_report;
      problems_.add({Problem::Kind::loss, 0, into.reports.back().path, "Report",
                     "is empty: the run was killed before it wrote its report", 0});
      return;
    }
    if (run.damage != 0)
      problems_.add({Problem::Kind::corruption, 0, into.reports.back().path, "Report",
                     fmt::format("could not be read in {}", counted(run.damage, "place")), 0});
    const bool has_parts = find_parts(run, build, into.reports.back().path);
    const bool has_ranges = read_bounds(run, into.reports.back().path);
    std::vector<SiteRange> ranges = ranges_.take();
    if (!has_parts && !has_ranges) {
      // Damage that leaves nothing does not tell which program wrote the report.
      const bool unreadable = run.damage != 0 && run.sections.empty() && run.bounds.empty();
      ++(unreadable ? into.without_report : into.unresolved);
      return;
    }
    gather(failed);
    into.observations += observed_.size() + ranges.size();
    into.ranges.push_back(std::move(ranges));
    into.report_of_run.push_back(into.reports.size() - 1);
    into.runs.push_back({isolation::RunEvidence(observed_, groups_), failed});
  }

  [[nodiscard]] const FirstTruth& first_truth() const { return first_truth_; }
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }

 private:
  // A section of a run whose sites are known.
  struct Part {
    uint32_t group = 0;
    const StoredRun::Section* section = nullptr;
  };

  static void add_ending(const StoredRun& run, const std::string& build, FileRuns& into) {
    StoreEvidence::Ending ending;
    ending.report = into.reports.size() - 1;
    ending.run.label = RunLabel::failed;
    ending.run.rule = run.rule;
    ending.run.build = build;
    if (run.status >= 0) ending.run.status = run.status;
    ending.run.signal = run.signal;
    ending.backtrace = run.backtrace;
    into.endings.push_back(std::move(ending));
  }

  // The sections of a run that have predicates, by group. False: no program has a section's sites.
  bool find_parts(const StoredRun& run, const std::string& build, const std::string& id) {
    parts_.clear();
    bool resolved = false;
    for (size_t i = 0; i < run.sections.size(); ++i) {
      const StoredRun::Section& stored = run.sections[i];
      const SamplerSites::Section* section = find_section(i, stored.unit, stored.scheme);
      if (section == nullptr) {
        problems_.add({Problem::Kind::loss, 0, id, "Samples",
                       fmt::format("no site information of unit {} ({}) of build {}", stored.unit,
                                   stored.scheme, build),
                       0});
        continue;
      }
      resolved = true;
      const uint32_t group = predicates_.group_of(section);
      if (group == SamplerPredicates::kNoGroup) continue;
      const uint32_t size = predicates_.reading().groups()[group].sites;
      if (static_cast<uint32_t>(stored.rows) != size)
        problems_.add(
            {Problem::Kind::corruption, 0, id, "Samples",
             fmt::format("{}, {} has {} of unit {} and scheme {}", counted(stored.rows, "row"),
                         *section->program, counted(size, "site"), stored.unit, stored.scheme),
             0});
      if (is_sound(stored.sites, stored.counted, group)) {
        parts_.push_back({group, &stored});
      } else {
        problems_.add({Problem::Kind::corruption, 0, id, "Samples",
                       "the sites do not ascend, or are not those of the scheme", 0});
      }
    }
    std::ranges::sort(parts_, {}, &Part::group);
    return resolved;
  }

  // Whether the run has sites of bounds that a program has.
  bool read_bounds(const StoredRun& run, const std::string& id) {
    bool found = false;
    for (const StoredRun::Bounds& bounds : run.bounds) {
      const SamplerSites::Section* section = sites_.find(bounds.unit, kBounds);
      if (predicates_.first_range_site(section) == SamplerPredicates::kNoGroup) continue;
      found = true;
      const sampler::RowTally tally = ranges_.add(bounds.body, *section);
      if (!tally.bad_rows.empty() || tally.rows != section->sites->size())
        problems_.add(
            {Problem::Kind::corruption, bounds.offset, id, "Samples",
             fmt::format("{} of bounds, {} damaged; {} has {} of unit {}",
                         counted(tally.rows, "row"), tally.bad_rows.size(), *section->program,
                         counted(section->sites->size(), "site"), bounds.unit),
             0});
    }
    return found;
  }

  // Runs of one program have the same sections in the same order.
  const SamplerSites::Section* find_section(size_t place, std::string_view unit,
                                            std::string_view scheme) {
    if (place < expected_.size() && expected_[place] != nullptr &&
        expected_[place]->sites->unit == unit && expected_[place]->sites->scheme == scheme)
      return expected_[place];
    if (place >= expected_.size()) expected_.resize(place + 1);
    return expected_[place] = sites_.find(unit, scheme);
  }

  [[nodiscard]] bool is_sound(std::span<const int32_t> sites, std::span<const int16_t> counted,
                              uint32_t group) const {
    const isolation::SiteGroup& layout = predicates_.reading().groups()[group];
    if (sites.size() != counted.size()) return false;
    int64_t last = -1;
    for (const int32_t site : sites) {
      if (site <= last) return false;
      last = site;
    }
    // Further rows than the program has are left out, as in a report's text.
    return std::ranges::all_of(
        counted, [&](int16_t bits) { return bits > 0 && bits < 1 << layout.counters; });
  }

  void gather(bool failed) {
    observed_.clear();
    groups_.clear();
    times_.clear();
    for (const Part& part : parts_) {
      if (!groups_.empty() && groups_.back() == part.group) continue;  // a writer other than ours
      groups_.push_back(part.group);
      const uint32_t first_site = predicates_.reading().first_site(part.group);
      const uint32_t size = predicates_.reading().groups()[part.group].sites;
      const auto& [unit, scheme, rows, sites, counted, first] = *part.section;
      for (size_t i = 0; i < sites.size() && static_cast<uint32_t>(sites[i]) < size; ++i) {
        const uint32_t site = first_site + static_cast<uint32_t>(sites[i]);
        observed_.push_back({site, static_cast<uint32_t>(counted[i])});
        if (failed && i < first.size() && first[i] > 0)
          times_.push_back({predicates_.site_of(site), static_cast<uint32_t>(counted[i]),
                            static_cast<uint64_t>(first[i])});
      }
    }
    first_truth_.add_run(times_);
    predicates_.renumber(observed_, groups_);
  }

  const SamplerSites& sites_;
  const SamplerPredicates& predicates_;
  RangeReader ranges_;
  FirstTruth first_truth_;
  std::vector<const SamplerSites::Section*> expected_;
  std::vector<Part> parts_;
  std::vector<isolation::ObservedSite> observed_;
  std::vector<uint32_t> groups_;
  std::vector<FirstTruth::Observation> times_;
  ProblemLog problems_;
};

// DuckDB, if it is needed: its library has 65 MB. Thread-safe.
class LazyDatabase {
 public:
  explicit LazyDatabase(uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  Result<const Database*> get() {
    const std::scoped_lock lock(mutex_);
    if (!database_) database_.emplace(Database::open(memory_bytes_, ""));
    if (!*database_) return std::unexpected(database_->error());
    return &**database_;
  }

 private:
  uint64_t memory_bytes_;
  std::mutex mutex_;
  std::optional<Result<Database>> database_;
};

// Calls use(run) for each run of a file: from its digest, which is made if there is none.
Result<void> read_runs(LazyDatabase& lazy, const RunFile& file, bool with_bounds,
                       const std::function<void(const StoredRun&)>& use) {
  const std::optional<FileIdentity> identity = FileIdentity::of(file.path);
  if (identity && !file.digest.empty()) {
    const Result<InputFile> digest = InputFile::open(file.digest);
    if (digest && is_digest_of(digest->bytes(), *identity, with_bounds)) {
      auto done = read_digest(digest->bytes(), use);
      if (!done) done.error().file = file.digest;
      return done;
    }
  }
  const Result<const Database*> database = lazy.get();
  if (!database) return std::unexpected(database.error());
  RunDigestWriter writer;
  Connection connection(**database);
  auto done = read_run_file(connection, file.path, with_bounds, [&](const StoredRun& run) {
    if (!file.digest.empty()) writer.add(run);
    use(run);
  });
  if (!done) {
    done.error().file = file.path;
    return done;
  }
  if (identity && !file.digest.empty()) {
    if (const auto digest = writer.finish(*identity, with_bounds))
      keep_digest(file.path, *identity, file.digest, *digest);
  }
  return {};
}

void append(FileRuns& part, StoreEvidence& whole) {
  const size_t before = whole.reports.size();
  for (RunReport& report : part.reports) {
    report.number = whole.reports.size() + 1;
    whole.reports.push_back(std::move(report));
  }
  for (const size_t report : part.report_of_run)
    whole.evidence.report_of_run.push_back(before + report);
  for (StoreEvidence::Ending& ending : part.endings) {
    ending.report += before;
    whole.endings.push_back(std::move(ending));
  }
  std::ranges::move(part.runs, std::back_inserter(whole.evidence.runs));
  std::ranges::move(part.ranges, std::back_inserter(whole.evidence.ranges));
  whole.evidence.without_report += part.without_report;
  whole.evidence.unresolved += part.unresolved;
  whole.evidence.observations += part.observations;
  whole.skipped += part.skipped;
  part = {};
}

// When the first run of a file was received, in microseconds since 1970.
Result<int64_t> first_received(Connection& connection, const RunFile& file) {
  Rows rows(connection);
  if (auto begun = rows.begin(fmt::format(
          "SELECT coalesce(epoch_us(min(received)), 0) FROM read_parquet({}, hive_partitioning = "
          "false)",
          sql_text(file.path)));
      !begun)
    return std::unexpected(begun.error());
  const auto chunk = rows.next();
  if (!chunk) return std::unexpected(chunk.error());
  const duckdb::Functions& f = connection.functions();
  return *chunk == nullptr || f.data_chunk_get_size(*chunk) == 0
             ? 0
             : *static_cast<const int64_t*>(f.vector_get_data(f.data_chunk_get_vector(*chunk, 0)));
}

}  // namespace

Result<std::vector<std::string>> builds_by_age(const std::vector<RunFile>& files) {
  std::map<std::string, std::vector<const RunFile*>> builds;
  for (const RunFile& file : files) builds[file.build].push_back(&file);
  std::vector<std::pair<int64_t, std::string>> ages;  // the newest one first: negative times
  for (const auto& [build, all] : builds) ages.emplace_back(0, build);
  if (builds.size() > 1) {
    auto database = Database::open(kEvidenceMemoryBytes, "");
    if (!database) return std::unexpected(database.error());
    Connection connection(*database);
    for (auto& [age, build] : ages) {
      // Later days cannot have the first one.
      const std::string day = std::ranges::min(builds[build], {}, &RunFile::day)->day;
      for (const RunFile* file : builds[build]) {
        if (file->day != day) continue;
        const Result<int64_t> time = first_received(connection, *file);
        if (!time && damage_of(*file, time.error())) continue;
        if (!time) return std::unexpected(time.error());
        age = std::min(age, -*time);
      }
    }
  }
  std::ranges::sort(ages);
  std::vector<std::string> sorted;
  for (auto& [age, build] : ages) sorted.push_back(std::move(build));
  return sorted;
}

Result<StoreEvidence> read_store_evidence(const std::vector<RunFile>& files,
                                          const SamplerSites& sites,
                                          const SamplerPredicates& predicates, size_t workers) {
  workers = std::min(worker_count(workers), std::max<size_t>(files.size(), 1));
  const uint64_t report_bytes = has_bounds(predicates) ? workers * kReportMemoryBytes : 0;
  LazyDatabase database(kEvidenceMemoryBytes + report_bytes);
  std::atomic<uint64_t> ranges{0};
  std::vector<RunGatherer> gatherers(workers, RunGatherer(sites, predicates, ranges));
  std::vector<FileRuns> read(files.size());
  parallel_for(files.size(), workers, [&](size_t i, size_t worker) {
    const auto use = [&](const StoredRun& run) {
      gatherers[worker].add(run, files[i].build, read[i]);
    };
    if (auto done = read_runs(database, files[i], has_bounds(predicates), use); !done)
      read[i].error = done.error();
  });
  StoreEvidence whole;
  const bool any_whole =
      std::ranges::any_of(read, [](const FileRuns& part) { return !part.error; });
  for (size_t i = 0; i < read.size(); ++i) {
    if (const std::optional<Error>& error = read[i].error) {
      const std::optional<Problem> damage = damage_of(files[i], *error);
      if (!damage || !any_whole) return std::unexpected(*error);
      whole.evidence.problems.add(*damage);
    }
    append(read[i], whole);
  }
  leave_out_many_ranges(whole.evidence, ranges);
  FirstTruth first_truth(predicates.table());
  for (const RunGatherer& gatherer : gatherers) {
    first_truth.merge(gatherer.first_truth());
    whole.evidence.problems.merge(gatherer.problems());
  }
  whole.evidence.first_true = first_truth.averages();
  return whole;
}

}  // namespace telltale::collect
