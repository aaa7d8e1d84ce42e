#include "collect/store/duckdb.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace telltale::collect {
namespace duckdb {
namespace {

namespace fs = std::filesystem;

// Where the library is: named by the environment; beside this program's own libraries, in the build
// folder or as installed; or where the system has it.
std::vector<std::string> places() {
  std::vector<std::string> found;
  if (const char* named = std::getenv("TELLTALE_DUCKDB"); named != nullptr) return {named};
  std::error_code failure;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failure).parent_path();
  for (const std::string_view place : {"../lib/telltale", TELLTALE_LIBRARY_FOLDER "/telltale"})
    found.push_back((folder / place / "libduckdb.so").lexically_normal().string());
  found.emplace_back("libduckdb.so");
  return found;
}

template <typename Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// The missing function's name; null: all are there.
const char* load_all(void* library, Functions& f) {
#define TELLTALE_LOAD(name) \
  if (!load(library, "duckdb_" #name, f.name)) return "duckdb_" #name
  TELLTALE_LOAD(open_ext);
  TELLTALE_LOAD(close);
  TELLTALE_LOAD(create_config);
  TELLTALE_LOAD(set_config);
  TELLTALE_LOAD(destroy_config);
  TELLTALE_LOAD(connect);
  TELLTALE_LOAD(disconnect);
  TELLTALE_LOAD(query);
  TELLTALE_LOAD(destroy_result);
  TELLTALE_LOAD(result_error);
  TELLTALE_LOAD(prepare);
  TELLTALE_LOAD(prepare_error);
  TELLTALE_LOAD(destroy_prepare);
  TELLTALE_LOAD(execute_prepared_streaming);
  TELLTALE_LOAD(fetch_chunk);
  TELLTALE_LOAD(destroy_data_chunk);
  TELLTALE_LOAD(create_data_chunk);
  TELLTALE_LOAD(data_chunk_reset);
  TELLTALE_LOAD(data_chunk_get_size);
  TELLTALE_LOAD(data_chunk_set_size);
  TELLTALE_LOAD(data_chunk_get_vector);
  TELLTALE_LOAD(vector_get_data);
  TELLTALE_LOAD(vector_get_validity);
  TELLTALE_LOAD(vector_ensure_validity_writable);
  TELLTALE_LOAD(vector_assign_string_element_len);
  TELLTALE_LOAD(list_vector_get_child);
  TELLTALE_LOAD(list_vector_reserve);
  TELLTALE_LOAD(list_vector_set_size);
  TELLTALE_LOAD(list_vector_get_size);
  TELLTALE_LOAD(struct_vector_get_child);
  TELLTALE_LOAD(create_logical_type);
  TELLTALE_LOAD(create_list_type);
  TELLTALE_LOAD(create_struct_type);
  TELLTALE_LOAD(destroy_logical_type);
  TELLTALE_LOAD(appender_create);
  TELLTALE_LOAD(append_data_chunk);
  TELLTALE_LOAD(appender_error);
  TELLTALE_LOAD(appender_destroy);
  TELLTALE_LOAD(free);
#undef TELLTALE_LOAD
  return nullptr;
}

Result<Functions> find() {
  std::string reasons;
  for (const std::string& place : places()) {
    void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const why = ::dlerror();  // none in the static program, which loads nothing
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ",
                             why == nullptr ? place + " cannot be loaded" : std::string(why));
      continue;
    }
    Functions found{};
    const char* const missing = load_all(library, found);
    if (missing == nullptr) return found;
    reasons += fmt::format("{}{} lacks {}", reasons.empty() ? "" : "; ", place, missing);
  }
  return usage_error(fmt::format("stores need DuckDB's library ({})", reasons));
}

}  // namespace

Result<const Functions*> functions() {
  static const Result<Functions> kFound = find();
  if (!kFound) return std::unexpected(kFound.error());
  return &*kFound;
}

}  // namespace duckdb

namespace {

// Without the excerpt of our SQL that follows the message.
std::unexpected<Error> duckdb_error(const char* message) {
  const std::string_view all = message == nullptr || *message == '\0' ? "failed" : message;
  const std::string_view first = all.substr(0, all.find('\n'));
  return std::unexpected(Error{Error::Cause::io, {}, "DuckDB", std::string(first), {}});
}

}  // namespace

Result<Database> Database::open(uint64_t memory_bytes, const std::string& temporary_folder) {
  const auto loaded = duckdb::functions();
  if (!loaded) return std::unexpected(loaded.error());
  const duckdb::Functions& f = **loaded;
  duckdb::Handle config = nullptr;
  f.create_config(&config);
  f.set_config(config, "threads", "1");
  f.set_config(config, "memory_limit", fmt::format("{}B", memory_bytes).c_str());
  TemporaryPath spilled;
  if (!temporary_folder.empty()) {
    if (auto made = TemporaryPath::make_folder_in(temporary_folder, "duckdb-"))
      spilled = *std::move(made);
  }
  f.set_config(config, "temp_directory", spilled.path().c_str());
  // Nothing is fetched or loaded on its own.
  f.set_config(config, "autoinstall_known_extensions", "false");
  f.set_config(config, "autoload_known_extensions", "false");
  duckdb::Handle database = nullptr;
  char* message = nullptr;
  const int status = f.open_ext(nullptr, &database, config, &message);
  f.destroy_config(&config);
  if (status == 0) return Database(f, database, std::move(spilled));
  auto error = duckdb_error(message);
  f.free(message);
  return error;
}

Database::Database(Database&& other) noexcept
    : functions_(other.functions_),
      spilled_(std::move(other.spilled_)),
      database_(std::exchange(other.database_, nullptr)) {}
Database::~Database() {
  if (database_ != nullptr) functions_->close(&database_);
}

Connection::Connection(const Database& database) : functions_(database.functions()) {
  functions_.connect(database.handle(), &connection_);
}
Connection::~Connection() { functions_.disconnect(&connection_); }

Result<void> Connection::run(const std::string& sql) {
  duckdb::QueryResult result{};
  const int status = functions_.query(connection_, sql.c_str(), &result);
  Result<void> done;
  if (status != 0) done = duckdb_error(functions_.result_error(&result));
  functions_.destroy_result(&result);
  return done;
}

Result<void> Rows::begin(const std::string& sql) {
  const duckdb::Functions& f = connection_.functions();
  if (f.prepare(connection_.handle(), sql.c_str(), &statement_) != 0)
    return duckdb_error(f.prepare_error(statement_));
  begun_ = true;
  if (f.execute_prepared_streaming(statement_, &result_) != 0)
    return duckdb_error(f.result_error(&result_));
  return {};
}

Result<duckdb::Handle> Rows::next() {
  const duckdb::Functions& f = connection_.functions();
  if (chunk_ != nullptr) f.destroy_data_chunk(&chunk_);
  chunk_ = f.fetch_chunk(result_);
  if (chunk_ != nullptr) return chunk_;
  if (const char* message = f.result_error(&result_); message != nullptr && *message != '\0')
    return duckdb_error(message);
  return nullptr;
}

Rows::~Rows() {
  const duckdb::Functions& f = connection_.functions();
  if (chunk_ != nullptr) f.destroy_data_chunk(&chunk_);
  if (begun_) f.destroy_result(&result_);
  if (statement_ != nullptr) f.destroy_prepare(&statement_);
}

std::string sql_text(std::string_view text) {
  std::string literal = "'";
  for (const char c : text) literal += c == '\'' ? std::string("''") : std::string(1, c);
  return literal + "'";
}

}  // namespace telltale::collect
