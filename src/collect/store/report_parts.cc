#include "collect/store/report_parts.h"

#include <fmt/format.h>

#include "bytes/as_bytes.h"
#include "bytes/decompress.h"
#include "collect/store/run_files.h"

namespace telltale::collect {
namespace {

constexpr uint64_t kPartMemoryBytes = uint64_t{256} << 20;

const duckdb::StringCell* texts(const duckdb::Functions& f, duckdb::Handle chunk, uint64_t column) {
  return static_cast<const duckdb::StringCell*>(
      f.vector_get_data(f.data_chunk_get_vector(chunk, column)));
}

}  // namespace

Result<bool> has_paths_column(Connection& connection, const std::string& path) {
  Rows rows(connection);
  if (auto begun = rows.begin(fmt::format(
          "SELECT count(*) FROM parquet_schema({}) WHERE name = 'paths'", sql_text(path)));
      !begun)
    return std::unexpected(begun.error());
  const auto chunk = rows.next();
  if (!chunk) return std::unexpected(chunk.error());
  const duckdb::Functions& f = connection.functions();
  return *chunk != nullptr &&
         *static_cast<const int64_t*>(f.vector_get_data(f.data_chunk_get_vector(*chunk, 0))) != 0;
}

Result<std::string> unpack_paths(std::string_view file) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  return decompress_whole("gzip", as_bytes(file), {kMostBytes, 0, 0});
}

Result<void> read_stored_paths(Connection& connection, const std::string& path,
                               const std::function<void(const StoredPaths&)>& use) {
  const Result<bool> has = has_paths_column(connection, path);
  if (!has) return std::unexpected(has.error());
  if (!*has) return {};
  Rows rows(connection);
  if (auto begun = rows.begin(
          fmt::format("SELECT id, label, paths FROM read_parquet({}, hive_partitioning = false) "
                      "WHERE paths IS NOT NULL",
                      sql_text(path)));
      !begun)
    return begun;
  const duckdb::Functions& f = connection.functions();
  for (;;) {
    const auto chunk = rows.next();
    if (!chunk) return std::unexpected(chunk.error());
    if (*chunk == nullptr) return {};
    const duckdb::StringCell* const ids = texts(f, *chunk, 0);
    const duckdb::StringCell* const labels = texts(f, *chunk, 1);
    const duckdb::StringCell* const files = texts(f, *chunk, 2);
    for (uint64_t row = 0; row < f.data_chunk_get_size(*chunk); ++row)
      use({ids[row].view(), labels[row].view(), files[row].view()});
  }
}

namespace {

// None: the file has no such run.
Result<std::optional<std::string>> find_part(Connection& connection, const RunFile& file,
                                             const std::string& id, ReportPart part) {
  const Result<bool> has =
      part == ReportPart::report ? Result<bool>(true) : has_paths_column(connection, file.path);
  if (!has) return std::unexpected(has.error());
  Rows rows(connection);
  const char* const column = part == ReportPart::report ? "report" : "paths";
  if (auto begun = rows.begin(fmt::format(
          "SELECT coalesce({}, ''::BLOB) FROM read_parquet({}, hive_partitioning = false) WHERE "
          "id = {}",
          *has ? column : "NULL", sql_text(file.path), sql_text(id)));
      !begun)
    return std::unexpected(begun.error());
  const auto chunk = rows.next();
  if (!chunk) return std::unexpected(chunk.error());
  const duckdb::Functions& f = connection.functions();
  if (*chunk == nullptr || f.data_chunk_get_size(*chunk) == 0) return std::nullopt;
  const std::string_view cell = texts(f, *chunk, 0)[0].view();
  if (part == ReportPart::report || cell.empty()) return std::string(cell);
  Result<std::string> paths = unpack_paths(cell);
  if (!paths) return std::unexpected(paths.error());
  return *std::move(paths);
}

}  // namespace

Result<std::optional<std::string>> read_report_part(const StoreFolder& store,
                                                    const std::string& application,
                                                    const std::string& id, ReportPart part) {
  auto database = Database::open(kPartMemoryBytes, store.temporary());
  if (!database) return std::unexpected(database.error());
  Connection connection(*database);
  const auto files = run_files(store);
  if (!files) return std::unexpected(files.error());
  std::optional<Error> damage;
  for (const RunFile& file : *files) {
    if (file.application != application) continue;
    auto found = find_part(connection, file, id, part);
    if (found && *found) return found;
    if (!found) {
      found.error().file = file.path;
      if (!damage_of(file, found.error())) return found;
      damage = std::move(found.error());
    }
  }
  if (damage) return std::unexpected(*std::move(damage));
  return std::nullopt;
}

}  // namespace telltale::collect
