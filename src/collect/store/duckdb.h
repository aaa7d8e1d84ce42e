#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bytes/temporary_path.h"

namespace telltale::collect {

// DuckDB's C interface, of its library, which is loaded when it is needed: it has 65 MB and only
// stores need it. The declarations are those of the interface's stable part (versions 1.2 and
// later); https://duckdb.org/docs/stable/clients/c/api describes them.
namespace duckdb {

using Handle = void*;

struct QueryResult {
  uint64_t unused[3];
  void* columns;
  char* message;
  void* internal;
};
// A text or blob in a vector: up to 12 bytes are in place.
struct StringCell {
  uint32_t size;
  char prefix[4];
  char* data;  // if size > 12

  [[nodiscard]] std::string_view view() const { return {size <= 12 ? prefix : data, size}; }
};
struct ListCell {
  uint64_t offset;
  uint64_t length;
};
enum Type : int {
  kSmallint = 3,
  kInteger = 4,
  kBigint = 5,
  kUbigint = 9,
  kDouble = 11,
  kTimestamp = 12,
  kVarchar = 17,
  kBlob = 18,
};

// The functions that telltale calls.
struct Functions {
  int (*open_ext)(const char* path, Handle* database, Handle config, char** error);
  void (*close)(Handle* database);
  int (*create_config)(Handle* config);
  int (*set_config)(Handle config, const char* name, const char* option);
  void (*destroy_config)(Handle* config);
  int (*connect)(Handle database, Handle* connection);
  void (*disconnect)(Handle* connection);
  int (*query)(Handle connection, const char* sql, QueryResult* result);
  void (*destroy_result)(QueryResult* result);
  const char* (*result_error)(QueryResult* result);
  int (*prepare)(Handle connection, const char* sql, Handle* statement);
  const char* (*prepare_error)(Handle statement);
  void (*destroy_prepare)(Handle* statement);
  int (*execute_prepared_streaming)(Handle statement, QueryResult* result);
  Handle (*fetch_chunk)(QueryResult result);
  void (*destroy_data_chunk)(Handle* chunk);
  Handle (*create_data_chunk)(Handle* types, uint64_t columns);
  void (*data_chunk_reset)(Handle chunk);
  uint64_t (*data_chunk_get_size)(Handle chunk);
  void (*data_chunk_set_size)(Handle chunk, uint64_t size);
  Handle (*data_chunk_get_vector)(Handle chunk, uint64_t column);
  void* (*vector_get_data)(Handle vector);
  uint64_t* (*vector_get_validity)(Handle vector);
  void (*vector_ensure_validity_writable)(Handle vector);
  void (*vector_assign_string_element_len)(Handle vector, uint64_t row, const char* text,
                                           uint64_t size);
  Handle (*list_vector_get_child)(Handle vector);
  int (*list_vector_reserve)(Handle vector, uint64_t size);
  int (*list_vector_set_size)(Handle vector, uint64_t size);
  uint64_t (*list_vector_get_size)(Handle vector);
  Handle (*struct_vector_get_child)(Handle vector, uint64_t index);
  Handle (*create_logical_type)(int type);
  Handle (*create_list_type)(Handle type);
  Handle (*create_struct_type)(Handle* types, const char** names, uint64_t count);
  void (*destroy_logical_type)(Handle* type);
  int (*appender_create)(Handle connection, const char* schema, const char* table,
                         Handle* appender);
  int (*append_data_chunk)(Handle appender, Handle chunk);
  const char* (*appender_error)(Handle appender);
  int (*appender_destroy)(Handle* appender);
  void (*free)(void* pointer);
};

// Errors: usage, with the places where the library was looked for.
Result<const Functions*> functions();

}  // namespace duckdb

// A database in memory. Move-only.
class Database {
 public:
  // `memory_bytes` limits the memory that DuckDB uses. It writes further data to a new folder in
  // `temporary_folder`, which is deleted when the database is closed or a signal ends the process.
  // If `temporary_folder` is empty or not writable, queries that need more memory fail. One thread
  // works for each connection in use.
  static Result<Database> open(uint64_t memory_bytes, const std::string& temporary_folder);
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  [[nodiscard]] const duckdb::Functions& functions() const { return *functions_; }
  [[nodiscard]] duckdb::Handle handle() const { return database_; }

 private:
  Database(const duckdb::Functions& functions, duckdb::Handle database, TemporaryPath spilled)
      : functions_(&functions), spilled_(std::move(spilled)), database_(database) {}
  const duckdb::Functions* functions_;
  TemporaryPath spilled_;  // outlives the database
  duckdb::Handle database_;
};

// One thread's connection. Neither copied nor moved.
class Connection {
 public:
  explicit Connection(const Database& database);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Runs SQL without an answer. Errors: io, with DuckDB's message.
  Result<void> run(const std::string& sql);
  [[nodiscard]] duckdb::Handle handle() const { return connection_; }
  [[nodiscard]] const duckdb::Functions& functions() const { return functions_; }

 private:
  const duckdb::Functions& functions_;
  duckdb::Handle connection_ = nullptr;
};

// The rows of a query, chunk by chunk. Neither copied nor moved.
class Rows {
 public:
  explicit Rows(Connection& connection) : connection_(connection) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows();

  Result<void> begin(const std::string& sql);
  // The next chunk, which stays valid until the following call; null at the end.
  Result<duckdb::Handle> next();

 private:
  Connection& connection_;
  duckdb::Handle statement_ = nullptr;
  duckdb::QueryResult result_{};
  duckdb::Handle chunk_ = nullptr;
  bool begun_ = false;
};

// A text as an SQL literal.
std::string sql_text(std::string_view text);

}  // namespace telltale::collect
