#include "collect/store/run_file_reader.h"

#include <fmt/format.h>

#include <optional>
#include <span>

#include "bytes/as_bytes.h"
#include "collect/store/report_parts.h"
#include "formats/sampler/report_reader.h"

namespace telltale::collect {
namespace {

using duckdb::Handle;

constexpr std::string_view kBoundsScheme = "bounds";

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
        reports(texts(f, f.data_chunk_get_vector(chunk, 8))),
        sections(static_cast<const duckdb::ListCell*>(
            f.vector_get_data(f.data_chunk_get_vector(chunk, 9)))),
        record(f.list_vector_get_child(f.data_chunk_get_vector(chunk, 9))),
        units(texts(f, f.struct_vector_get_child(record, 0))),
        schemes(texts(f, f.struct_vector_get_child(record, 1))),
        section_rows(
            static_cast<const int32_t*>(f.vector_get_data(f.struct_vector_get_child(record, 2)))),
        sites(f, f.struct_vector_get_child(record, 3)),
        counted(f, f.struct_vector_get_child(record, 4)),
        first(f, f.struct_vector_get_child(record, 5)),
        has_paths(static_cast<const bool*>(f.vector_get_data(f.data_chunk_get_vector(chunk, 10)))) {
  }

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
  const duckdb::StringCell* reports;  // empty, if nothing needs them
  const duckdb::ListCell* sections;
  Handle record;
  const duckdb::StringCell* units;
  const duckdb::StringCell* schemes;
  const int32_t* section_rows;
  ListColumn<int32_t> sites;
  ListColumn<int16_t> counted;
  ListColumn<int64_t> first;
  const bool* has_paths;
};

void find_bounds(std::string_view report, std::vector<StoredRun::Bounds>& bounds) {
  bounds.clear();
  if (report.empty()) return;
  sampler::ReportReader reader(as_bytes(report));
  while (const auto item = reader.next()) {
    if (item->kind == sampler::ReportItem::Kind::samples && item->scheme == kBoundsScheme)
      bounds.push_back({item->unit, item->offset, item->body});
  }
}

void take_run(const Chunk& columns, uint64_t row, StoredRun& run) {
  run.id = columns.ids[row].view();
  run.label = columns.labels[row].view();
  run.bytes = columns.bytes[row];
  run.damage = columns.damage[row];
  run.rule = columns.rules[row].view();
  run.status = columns.statuses[row];
  run.signal = columns.signals[row].view();
  run.backtrace = columns.backtraces[row].view();
  run.has_paths = columns.has_paths[row];
  run.sections.clear();
  const duckdb::ListCell cell = columns.sections[row];
  for (uint64_t i = cell.offset; i < cell.offset + cell.length; ++i)
    run.sections.push_back({columns.units[i].view(), columns.schemes[i].view(),
                            columns.section_rows[i], columns.sites.at(i), columns.counted.at(i),
                            columns.first.at(i)});
  find_bounds(columns.reports[row].view(), run.bounds);
}

}  // namespace

Result<void> read_run_file(Connection& connection, const std::string& path, bool with_bounds,
                           const std::function<void(const StoredRun&)>& use) {
  const Result<bool> has_paths = has_paths_column(connection, path);
  if (!has_paths) return std::unexpected(has_paths.error());
  Rows rows(connection);
  if (auto begun = rows.begin(fmt::format(
          "SELECT id, label, bytes, damage, rule, coalesce(status, -1), coalesce(signal, ''), "
          "coalesce(backtrace, ''::BLOB), {}, sections, {} FROM read_parquet({}, "
          "hive_partitioning = false)",
          with_bounds ? "coalesce(report, ''::BLOB)" : "''::BLOB",
          *has_paths ? "paths IS NOT NULL" : "false", sql_text(path)));
      !begun)
    return begun;
  StoredRun run;
  for (;;) {
    const auto chunk = rows.next();
    if (!chunk) return std::unexpected(chunk.error());
    if (*chunk == nullptr) return {};
    const Chunk columns(connection.functions(), *chunk);
    for (uint64_t row = 0; row < columns.rows; ++row) {
      take_run(columns, row, run);
      use(run);
    }
  }
}

}  // namespace telltale::collect
