#include "collect/store/store_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "base/sort_rows.h"
#include "collect/store/duckdb.h"
#include "collect/store/run_files.h"

namespace telltale::collect {
namespace {

constexpr uint64_t kSummaryMemoryBytes = uint64_t{256} << 20;

// Runs of one file with the same label, end and version.
constexpr const char* kQuery =
    "SELECT label, CASE WHEN label <> 'failed' THEN '' WHEN rule NOT IN ('status', 'signal') THEN "
    "rule WHEN signal IS NOT NULL THEN signal ELSE 'status ' || coalesce(status, 0) END, "
    "coalesce(version, ''), count(*), count(*) FILTER (bytes = 0), min(id) "
    "FROM read_parquet({}, hive_partitioning = false) GROUP BY ALL ORDER BY ALL";

class Summing {
 public:
  explicit Summing(StoreFolder store) : store_(std::move(store)) {}

  Result<void> add(Connection& connection, const RunFile& file) {
    Result<void> added = add_rows(connection, file);
    const auto damage = added ? std::nullopt : damage_of(file, added.error());
    if (!damage) return added;
    problems_.add(*damage);
    return {};
  }

  StoreSummary finish() {
    StoreSummary summary;
    summary.problems = std::move(problems_);
    for (auto& [key, build] : builds_) summary.builds.push_back(std::move(build));
    for (auto& [key, end] : ends_) summary.ends.push_back(std::move(end));
    for (auto& [key, day] : days_) summary.days.push_back(std::move(day));
    sort_rows(summary.builds, [](const BuildSummary& a, const BuildSummary& b) {
      return std::tie(a.application, b.last_day) < std::tie(b.application, a.last_day);
    });
    sort_rows(summary.ends, [](const EndSummary& a, const EndSummary& b) {
      return std::tie(a.application, b.runs) < std::tie(b.application, a.runs);
    });
    return summary;
  }

 private:
  Result<void> add_rows(Connection& connection, const RunFile& file) {
    Rows rows(connection);
    if (auto begun = rows.begin(fmt::format(kQuery, sql_text(file.path))); !begun) return begun;
    BuildSummary& build = build_of(file);
    ++build.files;
    build.first_day = build.first_day.empty() ? file.day : std::min(build.first_day, file.day);
    build.last_day = std::max(build.last_day, file.day);
    DaySummary& day = days_[{file.application, file.day}];
    day.application = file.application;
    day.day = file.day;
    for (;;) {
      const auto chunk = rows.next();
      if (!chunk) return std::unexpected(chunk.error());
      if (*chunk == nullptr) return {};
      add_chunk(connection.functions(), *chunk, file, build, day);
    }
  }

  BuildSummary& build_of(const RunFile& file) {
    const auto [at, fresh] = builds_.try_emplace({file.application, file.build});
    if (fresh) {
      std::error_code failure;
      at->second.application = file.application;
      at->second.build = file.build;
      at->second.has_sites =
          std::filesystem::exists(store_.sites_of(file.application, file.build), failure);
    }
    return at->second;
  }

  void add_chunk(const duckdb::Functions& f, duckdb::Handle chunk, const RunFile& file,
                 BuildSummary& build, DaySummary& day) {
    const auto data = [&](uint64_t column) {
      return f.vector_get_data(f.data_chunk_get_vector(chunk, column));
    };
    const auto text = [&](uint64_t column, uint64_t row) {
      return static_cast<const duckdb::StringCell*>(data(column))[row].view();
    };
    for (uint64_t row = 0; row < f.data_chunk_get_size(chunk); ++row) {
      const std::string_view label = text(0, row);
      const uint64_t runs = static_cast<const uint64_t*>(data(3))[row];
      build.runs += runs;
      day.runs += runs;
      build.without_report += static_cast<const uint64_t*>(data(4))[row];
      build.version = std::max(build.version, std::string(text(2, row)));
      (label == "failed" ? build.failed : label == "passed" ? build.passed : build.skipped) += runs;
      if (label != "failed") continue;
      day.failed += runs;
      EndSummary& end = ends_[{file.application, file.build, std::string(text(1, row))}];
      if (end.runs == 0)
        end = {file.application, file.build, std::string(text(1, row)), 0,
               std::string(text(5, row))};
      end.runs += runs;
    }
  }

  StoreFolder store_;
  ProblemLog problems_;
  std::map<std::pair<std::string, std::string>, BuildSummary> builds_;
  std::map<std::tuple<std::string, std::string, std::string>, EndSummary> ends_;
  std::map<std::pair<std::string, std::string>, DaySummary> days_;
};

}  // namespace

Result<StoreSummary> summarize(const StoreFolder& store) {
  const auto files = run_files(store);
  if (!files) return std::unexpected(files.error());
  auto database = Database::open(kSummaryMemoryBytes, store.temporary());
  if (!database) return std::unexpected(database.error());
  Connection connection(*database);
  Summing sums(store);
  for (const RunFile& file : *files) {
    if (auto added = sums.add(connection, file); !added) return std::unexpected(added.error());
  }
  return sums.finish();
}

}  // namespace telltale::collect
