#include "collect/store/store_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "collect/store/duckdb.h"
#include "import/sampler/first_truth.h"

namespace telltale::collect {
namespace {

using duckdb::Handle;

constexpr uint64_t kMemoryBytes = uint64_t{512} << 20;

// A list of numbers in a vector of lists.
template <typename T>
class ListColumn {
 public:
  ListColumn(const duckdb::Functions& f, Handle vector)
      : cells_(static_cast<const duckdb::ListCell*>(f.vector_get_data(vector))),
        validity_(f.vector_get_validity(vector)),
        elements_(static_cast<const T*>(f.vector_get_data(f.list_vector_get_child(vector)))) {}

  // Empty for a null.
  [[nodiscard]] std::span<const T> at(size_t row) const {
    if (validity_ != nullptr && (validity_[row / 64] >> row % 64 & 1) == 0) return {};
    return {elements_ + cells_[row].offset, cells_[row].length};
  }

 private:
  const duckdb::ListCell* cells_;
  const uint64_t* validity_;
  const T* elements_;
};

// The columns of a chunk.
struct Chunk {
  Chunk(const duckdb::Functions& f, Handle chunk)
      : rows(f.data_chunk_get_size(chunk)),
        ids(texts(f, f.data_chunk_get_vector(chunk, 0))),
        labels(texts(f, f.data_chunk_get_vector(chunk, 1))),
        bytes(static_cast<const int64_t*>(f.vector_get_data(f.data_chunk_get_vector(chunk, 2)))),
        damage(static_cast<const int32_t*>(f.vector_get_data(f.data_chunk_get_vector(chunk, 3)))),
        rules(texts(f, f.data_chunk_get_vector(chunk, 4))),
        statuses(static_cast<const int32_t*>(f.vector_get_data(f.data_chunk_get_vector(chunk, 5)))),
        signals(texts(f, f.data_chunk_get_vector(chunk, 6))),
        backtraces(texts(f, f.data_chunk_get_vector(chunk, 7))),
        sections(static_cast<const duckdb::ListCell*>(
            f.vector_get_data(f.data_chunk_get_vector(chunk, 8)))),
        record(f.list_vector_get_child(f.data_chunk_get_vector(chunk, 8))),
        units(texts(f, f.struct_vector_get_child(record, 0))),
        schemes(texts(f, f.struct_vector_get_child(record, 1))),
        section_rows(
            static_cast<const int32_t*>(f.vector_get_data(f.struct_vector_get_child(record, 2)))),
        sites(f, f.struct_vector_get_child(record, 3)),
        counted(f, f.struct_vector_get_child(record, 4)),
        first(f, f.struct_vector_get_child(record, 5)) {}

  static const duckdb::StringCell* texts(const duckdb::Functions& f, Handle vector) {
    return static_cast<const duckdb::StringCell*>(f.vector_get_data(vector));
  }

  uint64_t rows;
  const duckdb::StringCell* ids;
  const duckdb::StringCell* labels;
  const int64_t* bytes;
  const int32_t* damage;
  const duckdb::StringCell* rules;
  const int32_t* statuses;  // -1: none
  const duckdb::StringCell* signals;
  const duckdb::StringCell* backtraces;
  const duckdb::ListCell* sections;
  Handle record;
  const duckdb::StringCell* units;
  const duckdb::StringCell* schemes;
  const int32_t* section_rows;
  ListColumn<int32_t> sites;
  ListColumn<int16_t> counted;
  ListColumn<int64_t> first;
};

// What became of a file's runs.
struct FileRuns {
  std::vector<RunReport> reports;
  std::vector<isolation::LabelledRun> runs;
  std::vector<size_t> report_of_run;
  std::vector<StoreEvidence::Ending> endings;
  uint64_t without_report = 0;
  uint64_t unresolved = 0;
  uint64_t observations = 0;
  uint64_t skipped = 0;
  std::optional<Error> error;
};

// Reads one file after the other. Not thread-safe; one for each worker.
class FileReader {
 public:
  FileReader(const SamplerSites& sites, const SamplerPredicates& predicates)
      : sites_(sites), predicates_(predicates), first_truth_(predicates.table()) {}

  Result<void> read(Connection& connection, const RunFile& file, FileRuns& into) {
    Rows rows(connection);
    if (auto begun = rows.begin(fmt::format(
            "SELECT id, label, bytes, damage, rule, coalesce(status, -1), coalesce(signal, ''), "
            "coalesce(backtrace, ''::BLOB), sections FROM read_parquet({}, "
            "hive_partitioning = false)",
            sql_text(file.path)));
        !begun)
      return begun;
    for (;;) {
      const auto chunk = rows.next();
      if (!chunk) return std::unexpected(chunk.error());
      if (*chunk == nullptr) return {};
      const Chunk columns(connection.functions(), *chunk);
      for (uint64_t row = 0; row < columns.rows; ++row) read_run(columns, row, file, into);
    }
  }

  [[nodiscard]] const FirstTruth& first_truth() const { return first_truth_; }
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }

 private:
  // A section of a run whose sites are known.
  struct Part {
    uint32_t group = 0;
    uint64_t index = 0;  // in the chunk
  };

  void read_run(const Chunk& columns, uint64_t row, const RunFile& file, FileRuns& into) {
    const std::string_view label = columns.labels[row].view();
    if (label == to_string(RunLabel::skipped)) {
      ++into.skipped;
      return;
    }
    const bool failed = label == to_string(RunLabel::failed);
    into.reports.push_back({std::string(columns.ids[row].view()), failed, 0});
    if (failed) add_ending(columns, row, into);
    if (columns.bytes[row] == 0) {
      ++into.without_report;
      problems_.add({Problem::Kind::loss, 0, into.reports.back().path, "Report",
                     "is empty: the run was killed before it wrote its report", 0});
      return;
    }
    if (columns.damage[row] != 0)
      problems_.add({Problem::Kind::corruption, 0, into.reports.back().path, "Report",
                     fmt::format("{} places could not be read", columns.damage[row]), 0});
    if (!find_parts(columns, row, file, into.reports.back().path)) {
      ++into.unresolved;
      return;
    }
    gather(columns, failed);
    into.observations += observed_.size();
    into.report_of_run.push_back(into.reports.size() - 1);
    into.runs.push_back({isolation::RunEvidence(observed_, groups_), failed});
  }

  static void add_ending(const Chunk& columns, uint64_t row, FileRuns& into) {
    StoreEvidence::Ending ending;
    ending.report = into.reports.size() - 1;
    ending.run.label = RunLabel::failed;
    ending.run.rule = columns.rules[row].view();
    if (columns.statuses[row] >= 0) ending.run.status = columns.statuses[row];
    ending.run.signal = columns.signals[row].view();
    ending.backtrace = columns.backtraces[row].view();
    into.endings.push_back(std::move(ending));
  }

  // The sections of a run that have predicates, by group. False: no program has a section's sites.
  bool find_parts(const Chunk& columns, uint64_t row, const RunFile& file, const std::string& id) {
    parts_.clear();
    bool resolved = false;
    const duckdb::ListCell cell = columns.sections[row];
    for (uint64_t i = 0; i < cell.length; ++i) {
      const uint64_t index = cell.offset + i;
      const SamplerSites::Section* section =
          find_section(i, columns.units[index].view(), columns.schemes[index].view());
      if (section == nullptr) {
        problems_.add(
            {Problem::Kind::loss, 0, id, "Samples",
             fmt::format("no site information of unit {} ({}) of build {}",
                         columns.units[index].view(), columns.schemes[index].view(), file.build),
             0});
        continue;
      }
      resolved = true;
      const uint32_t group = predicates_.group_of(section);
      if (group == SamplerPredicates::kNoGroup) continue;
      const uint32_t size = predicates_.table().groups()[group].sites;
      if (static_cast<uint32_t>(columns.section_rows[index]) != size)
        problems_.add({Problem::Kind::corruption, 0, id, "Samples",
                       fmt::format("{} rows, {} has {} sites of unit {} and scheme {}",
                                   columns.section_rows[index], *section->program, size,
                                   columns.units[index].view(), columns.schemes[index].view()),
                       0});
      if (is_sound(columns.sites.at(index), columns.counted.at(index), group)) {
        parts_.push_back({group, index});
      } else {
        problems_.add({Problem::Kind::corruption, 0, id, "Samples",
                       "the sites do not ascend, or are not those of the scheme", 0});
      }
    }
    std::ranges::sort(parts_, {}, &Part::group);
    return resolved;
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
    const isolation::SiteGroup& layout = predicates_.table().groups()[group];
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

  void gather(const Chunk& columns, bool failed) {
    observed_.clear();
    groups_.clear();
    times_.clear();
    for (const Part& part : parts_) {
      if (!groups_.empty() && groups_.back() == part.group) continue;  // a writer other than ours
      groups_.push_back(part.group);
      const uint32_t first_site = predicates_.table().first_site(part.group);
      const uint32_t size = predicates_.table().groups()[part.group].sites;
      const auto sites = columns.sites.at(part.index);
      const auto counted = columns.counted.at(part.index);
      const auto first = columns.first.at(part.index);
      for (size_t i = 0; i < sites.size() && static_cast<uint32_t>(sites[i]) < size; ++i) {
        const uint32_t site = first_site + static_cast<uint32_t>(sites[i]);
        observed_.push_back({site, static_cast<uint32_t>(counted[i])});
        if (failed && i < first.size() && first[i] > 0)
          times_.push_back(
              {site, static_cast<uint32_t>(counted[i]), static_cast<uint64_t>(first[i])});
      }
    }
    first_truth_.add_run(times_);
  }

  const SamplerSites& sites_;
  const SamplerPredicates& predicates_;
  FirstTruth first_truth_;
  std::vector<const SamplerSites::Section*> expected_;
  std::vector<Part> parts_;
  std::vector<isolation::ObservedSite> observed_;
  std::vector<uint32_t> groups_;
  std::vector<FirstTruth::Observation> times_;
  ProblemLog problems_;
};

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
  whole.evidence.without_report += part.without_report;
  whole.evidence.unresolved += part.unresolved;
  whole.evidence.observations += part.observations;
  whole.skipped += part.skipped;
  part = {};
}

}  // namespace

Result<StoreEvidence> read_store_evidence(const std::vector<RunFile>& files,
                                          const SamplerSites& sites,
                                          const SamplerPredicates& predicates, size_t workers) {
  auto database = Database::open(kMemoryBytes, "");
  if (!database) return std::unexpected(database.error());
  workers = std::min(worker_count(workers), std::max<size_t>(files.size(), 1));
  std::vector<FileReader> readers(workers, FileReader(sites, predicates));
  std::vector<FileRuns> read(files.size());
  parallel_for(files.size(), workers, [&](size_t i, size_t worker) {
    Connection connection(*database);
    if (auto done = readers[worker].read(connection, files[i], read[i]); !done) {
      read[i].error = done.error();
      read[i].error->file = files[i].path;
    }
  });
  StoreEvidence whole;
  for (FileRuns& part : read) {
    if (part.error) return std::unexpected(*part.error);
    append(part, whole);
  }
  FirstTruth first_truth(predicates.table());
  for (const FileReader& reader : readers) {
    first_truth.merge(reader.first_truth());
    whole.evidence.problems.merge(reader.problems());
  }
  whole.evidence.first_true = first_truth.averages();
  return whole;
}

}  // namespace telltale::collect
