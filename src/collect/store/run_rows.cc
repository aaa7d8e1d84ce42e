#include "collect/store/run_rows.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace telltale::collect {
namespace {

using duckdb::Handle;

constexpr size_t kChunkRows = 128;
constexpr size_t kChunkObservations = 1 << 20;
// Of a file. DuckDB reads up to 2,048 rows at a time, whatever they contain.
constexpr size_t kFileRows = 4096;
constexpr uint64_t kFileObservations = 4 << 20;
constexpr uint64_t kFileBytes = uint64_t{96} << 20;

// In the order of the columns below.
constexpr const char* kCreate =
    "CREATE OR REPLACE TEMP TABLE runs (id VARCHAR, label VARCHAR, rule VARCHAR, status INTEGER, "
    "signal VARCHAR, seconds DOUBLE, started VARCHAR, received TIMESTAMP, version VARCHAR, "
    "sparsity BIGINT, seed UBIGINT, bytes BIGINT, damage INTEGER, backtrace BLOB, report BLOB, "
    "paths BLOB, "
    "sections STRUCT(unit VARCHAR, scheme VARCHAR, \"rows\" INTEGER, sites INTEGER[], "
    "counted SMALLINT[], first BIGINT[])[])";
constexpr size_t kSections = 16;  // its column
constexpr std::array<int, kSections> kTypes = {
    duckdb::kVarchar, duckdb::kVarchar, duckdb::kVarchar, duckdb::kInteger,
    duckdb::kVarchar, duckdb::kDouble,  duckdb::kVarchar, duckdb::kTimestamp,
    duckdb::kVarchar, duckdb::kBigint,  duckdb::kUbigint, duckdb::kBigint,
    duckdb::kInteger, duckdb::kBlob,    duckdb::kBlob,    duckdb::kBlob};

// Logical types are destroyed with this.
class Types {
 public:
  explicit Types(const duckdb::Functions& f) : f_(f) {}
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types() {
    for (Handle& type : all_) f_.destroy_logical_type(&type);
  }
  Handle simple(int type) { return keep(f_.create_logical_type(type)); }
  Handle list(Handle type) { return keep(f_.create_list_type(type)); }
  Handle record(std::vector<Handle> types, std::vector<const char*> names) {
    return keep(f_.create_struct_type(types.data(), names.data(), types.size()));
  }

 private:
  Handle keep(Handle type) {
    all_.push_back(type);
    return type;
  }
  const duckdb::Functions& f_;
  std::vector<Handle> all_;
};

Handle make_chunk(const duckdb::Functions& f) {
  Types types(f);
  std::vector<Handle> columns;
  for (const int type : kTypes) columns.push_back(types.simple(type));
  columns.push_back(types.list(types.record(
      {types.simple(duckdb::kVarchar), types.simple(duckdb::kVarchar),
       types.simple(duckdb::kInteger), types.list(types.simple(duckdb::kInteger)),
       types.list(types.simple(duckdb::kSmallint)), types.list(types.simple(duckdb::kBigint))},
      {"unit", "scheme", "rows", "sites", "counted", "first"})));
  return f.create_data_chunk(columns.data(), columns.size());
}

// Fills a vector, row by row.
class Column {
 public:
  Column(const duckdb::Functions& f, Handle vector) : f_(f), vector_(vector) {}

  void text(size_t row, std::string_view text) {
    f_.vector_assign_string_element_len(vector_, row, text.data(), text.size());
  }
  template <typename T>
  void number(size_t row, T value) {
    static_cast<T*>(f_.vector_get_data(vector_))[row] = value;
  }
  void list(size_t row, uint64_t offset, uint64_t length) {
    static_cast<duckdb::ListCell*>(f_.vector_get_data(vector_))[row] = {offset, length};
  }
  void null(size_t row) {
    f_.vector_ensure_validity_writable(vector_);
    f_.vector_get_validity(vector_)[row / 64] &= ~(uint64_t{1} << row % 64);
  }
  void text_or_null(size_t row, std::string_view value) {
    value.empty() ? null(row) : text(row, value);
  }
  template <typename T, typename Value>
  void number_or_null(size_t row, const std::optional<Value>& value) {
    number<T>(row, value ? static_cast<T>(*value) : T{});
    if (!value) null(row);
  }
  // The elements of a list's vector, which gets this size.
  [[nodiscard]] Handle resize(size_t size) const {
    f_.list_vector_reserve(vector_, size);
    f_.list_vector_set_size(vector_, size);
    return f_.list_vector_get_child(vector_);
  }
  template <typename T>
  void elements(const std::vector<const std::vector<T>*>& lists) const {
    size_t size = 0;
    for (const auto* list : lists) size += list->size();
    auto* at = static_cast<T*>(f_.vector_get_data(resize(size)));
    auto* cells = static_cast<duckdb::ListCell*>(f_.vector_get_data(vector_));
    uint64_t offset = 0;
    for (size_t row = 0; row < lists.size(); ++row) {
      at = std::copy(lists[row]->begin(), lists[row]->end(), at);
      cells[row] = {offset, lists[row]->size()};
      offset += lists[row]->size();
    }
  }

 private:
  const duckdb::Functions& f_;
  Handle vector_;
};

void fill_sections(const duckdb::Functions& f, Handle vector, const std::vector<RunRow>& rows) {
  Column column(f, vector);
  std::vector<const SectionObservations*> sections;
  for (size_t row = 0; row < rows.size(); ++row) {
    column.list(row, sections.size(), rows[row].sections.size());
    for (const SectionObservations& section : rows[row].sections) sections.push_back(&section);
  }
  const Handle records = column.resize(sections.size());
  const auto child = [&](uint64_t index) {
    return Column(f, f.struct_vector_get_child(records, index));
  };
  Column units = child(0);
  Column schemes = child(1);
  Column counts = child(2);
  Column firsts = child(5);
  std::vector<const std::vector<int32_t>*> sites;
  std::vector<const std::vector<int16_t>*> counted;
  std::vector<const std::vector<int64_t>*> times;
  for (size_t i = 0; i < sections.size(); ++i) {
    units.text(i, sections[i]->unit);
    schemes.text(i, sections[i]->scheme);
    counts.number(i, static_cast<int32_t>(sections[i]->rows));
    sites.push_back(&sections[i]->sites);
    counted.push_back(&sections[i]->counted);
    times.push_back(&sections[i]->first);
  }
  child(3).elements(sites);
  child(4).elements(counted);
  firsts.elements(times);
  for (size_t i = 0; i < sections.size(); ++i) {
    if (sections[i]->first.empty()) firsts.null(i);
  }
}

void fill_row(const duckdb::Functions& f, Handle chunk, size_t row, const RunRow& run) {
  const auto column = [&](uint64_t index) {
    return Column(f, f.data_chunk_get_vector(chunk, index));
  };
  const StoredReport& report = run.report;
  column(0).text(row, report.id);
  column(1).text(row, to_string(report.label));
  column(2).text(row, report.rule);
  column(3).number_or_null<int32_t>(row, report.status);
  column(4).text_or_null(row, report.signal);
  column(5).number_or_null<double>(row, report.seconds);
  column(6).text_or_null(row, report.started);
  column(7).number(row, static_cast<int64_t>(report.received_us));
  column(8).text_or_null(row, report.version);
  const std::optional<uint64_t> sparsity =
      report.sparsity == 0 ? std::nullopt : std::optional(report.sparsity);
  column(9).number_or_null<int64_t>(row, sparsity);
  column(10).number_or_null<uint64_t>(row, report.seed);
  column(11).number(row, static_cast<int64_t>(report.body.size()));
  column(12).number(row, static_cast<int32_t>(run.damage));
  column(13).text_or_null(row, run.backtrace);
  column(14).text(row, report.body);
  column(15).text_or_null(row, run.paths);
}

std::unexpected<Error> failed(const char* message) {
  return std::unexpected(Error{Error::Cause::io,
                               {},
                               "DuckDB",
                               message == nullptr ? "cannot append" : std::string(message),
                               {}});
}

}  // namespace

RunRowWriter::RunRowWriter(Connection& connection)
    : connection_(connection), f_(connection.functions()) {}

RunRowWriter::~RunRowWriter() {
  if (appender_ != nullptr) f_.appender_destroy(&appender_);
  if (chunk_ != nullptr) f_.destroy_data_chunk(&chunk_);
}

Result<void> RunRowWriter::begin() {
  if (auto created = connection_.run(kCreate); !created) return created;
  if (f_.appender_create(connection_.handle(), nullptr, "runs", &appender_) != 0)
    return failed(f_.appender_error(appender_));
  return {};
}

Result<void> RunRowWriter::add(RunRow row) {
  ++rows_;
  bytes_ += row.report.body.size() + row.paths.size();
  for (const SectionObservations& section : row.sections) {
    waiting_observations_ += section.sites.size();
    observations_ += section.sites.size();
  }
  waiting_.push_back(std::move(row));
  const bool full = waiting_.size() == kChunkRows || waiting_observations_ > kChunkObservations;
  return full ? flush() : Result<void>();
}

bool RunRowWriter::is_full() const {
  return rows_ >= kFileRows || observations_ >= kFileObservations || bytes_ >= kFileBytes;
}

Result<void> RunRowWriter::flush() {
  if (waiting_.empty()) return {};
  if (appender_ == nullptr) {
    if (auto begun = begin(); !begun) return begun;
  }
  if (chunk_ == nullptr) chunk_ = make_chunk(f_);
  f_.data_chunk_reset(chunk_);
  f_.data_chunk_set_size(chunk_, waiting_.size());
  for (size_t row = 0; row < waiting_.size(); ++row) fill_row(f_, chunk_, row, waiting_[row]);
  fill_sections(f_, f_.data_chunk_get_vector(chunk_, kSections), waiting_);
  if (f_.append_data_chunk(appender_, chunk_) != 0) return failed(f_.appender_error(appender_));
  waiting_.clear();
  waiting_observations_ = 0;
  return {};
}

Result<void> RunRowWriter::write(const std::string& path) {
  if (auto flushed = flush(); !flushed) return flushed;
  const bool closed = f_.appender_destroy(&appender_) == 0;
  appender_ = nullptr;
  if (!closed) return failed(nullptr);
  if (auto written = connection_.run(
          fmt::format("COPY runs TO {} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)",
                      sql_text(path)));
      !written)
    return written;
  rows_ = 0;
  observations_ = 0;
  bytes_ = 0;
  return connection_.run("DROP TABLE runs");
}

}  // namespace telltale::collect
