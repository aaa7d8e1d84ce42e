#pragma once

// Telltale's C++ interface: open a recording, compute the answers of `telltale info` and `telltale
// top`, convert it to another format. C++17; link with telltale::telltale (find_package(telltale)).
// docs/analysis defines every number.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#define TELLTALE_API __attribute__((visibility("default")))
#else
#define TELLTALE_API
#endif

namespace telltale::api {

// Errors for which the command line exits with 2 or 3. what() names the file, record, offset and
// cause.
class TELLTALE_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Something in an input that is missing, broken or unknown. Reading continued after it.
struct Problem {
  std::string file;
  uint64_t offset = 0;  // bytes from the start of the (decompressed) file
  std::string record;   // the affected record or buffer
  std::string message;
  uint64_t lost_bytes = 0;
};

// What an answer had to leave out or could not rely on.
struct Skipped {
  std::vector<Problem> problems;  // the first thousand, by file and offset
  uint64_t problem_count = 0;     // all of them
  uint64_t lost_bytes = 0;        // of all of them
  bool damaged = false;           // something was broken or lost, not merely odd
  uint64_t flattened = 0;         // calls too deep for an export to keep their nesting
};

struct Thread {
  int64_t pid = 0;  // 0: not recorded
  int64_t tid = 0;
};

struct Info {
  std::string format;   // e.g. "xray-fdr"
  std::string version;  // e.g. "5"
  uint64_t records = 0;
  std::vector<std::pair<std::string, uint64_t>> records_by_kind;
  std::vector<Thread> threads;  // sorted
  uint64_t span_ns = 0;         // from the earliest to the last event
  Skipped skipped;
};

// One function; times are nanoseconds. docs/analysis/profile.md has the definitions.
struct FunctionRow {
  std::string function;
  uint32_t id = 0;
  uint64_t calls = 0;
  uint64_t total_ns = 0;
  uint64_t self_ns = 0;
  uint64_t min_ns = 0;
  uint64_t median_ns = 0;
  uint64_t p90_ns = 0;
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
  uint64_t sum_ns = 0;
  uint64_t unwound = 0;
  uint64_t unfinished = 0;
  uint64_t orphan_exits = 0;
  std::string file;   // empty: unknown
  uint32_t line = 0;  // 0: unknown
};

struct Top {
  std::vector<FunctionRow> rows;
  Skipped skipped;
};

struct OpenOptions {
  std::vector<std::string> files;     // several are one recording; "-" is standard input
  std::vector<std::string> programs;  // "PATH" or "OBJECT=PATH": programs that define the ids
};

// A recording that is open for reading. Move-only. Members may be called from several threads at
// once; each uses `jobs` threads of its own (0: one per core), and answers do not depend on their
// number.
class TELLTALE_API Recording {
 public:
  // Throws Error if a file cannot be read at all or has no known format; damage is not an error.
  explicit Recording(const OpenOptions& options);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  Info info(size_t jobs = 0) const;
  // Sorted by self time, largest first. `exact`: exact quantiles instead of quantiles within 1 %;
  // memory then grows with the number of calls.
  Top top(size_t jobs = 0, bool exact = false) const;
  // Writes all calls to `path` ("-" is standard output) as "perfetto", "chrome", "json", "csv",
  // "speedscope", "pprof", "folded", "callgrind" or "dot". Replaces an existing file when the new
  // one is complete. Throws Error.
  Skipped export_calls(const std::string& format, const std::string& path, size_t jobs = 0) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "0.1.0".
TELLTALE_API const char* version();

}  // namespace telltale::api
