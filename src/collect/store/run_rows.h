#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "collect/log/stored_report.h"
#include "collect/store/duckdb.h"
#include "collect/store/observations.h"

namespace telltale::collect {

// A row of a store's files: a run with its report (docs/formats/store.md, "runs").
struct RunRow {
  StoredReport report;    // `body` is its decompressed text; application and build are in the path
  std::string backtrace;  // read_backtrace()
  std::string paths;      // the path file, compressed with gzip; empty: none
  uint32_t damage = 0;    // places in the report that could not be read
  std::vector<SectionObservations> sections;
};

// Collects rows and writes them as one Parquet file. Not thread-safe. Neither copied nor moved.
class RunRowWriter {
 public:
  explicit RunRowWriter(Connection& connection);
  RunRowWriter(const RunRowWriter&) = delete;
  RunRowWriter& operator=(const RunRowWriter&) = delete;
  ~RunRowWriter();

  // Errors: io.
  Result<void> add(RunRow row);
  [[nodiscard]] size_t rows() const { return rows_; }
  // Whether the rows should be written: a file's rows are few enough that their observations fit
  // into a reader's memory at once.
  [[nodiscard]] bool is_full() const;
  // Writes all rows to a new file, and forgets them. REQUIRES: there are some. Errors: io.
  Result<void> write(const std::string& path);

 private:
  Result<void> begin();
  Result<void> flush();  // rows that wait, as one chunk

  Connection& connection_;
  const duckdb::Functions& f_;
  duckdb::Handle appender_ = nullptr;
  duckdb::Handle chunk_ = nullptr;
  std::vector<RunRow> waiting_;
  size_t waiting_observations_ = 0;
  size_t rows_ = 0;
  uint64_t observations_ = 0;
  uint64_t bytes_ = 0;  // of reports and path files
};

}  // namespace telltale::collect
