#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/cursor.h"
#include "import/study.h"

namespace telltale::collect {

// What names may contain (docs/formats/collect.md), so that they are safe as parts of paths.
bool is_application(std::string_view text);
bool is_build(std::string_view text);
bool is_report_id(std::string_view text);
bool is_part_name(std::string_view text);
// "2026-11-22T22:44:17Z"
bool is_utc_time(std::string_view text);

// One run's report with its outcome, as the log and the store keep it.
struct StoredReport {
  std::string application;
  std::string build;
  std::string id;
  RunLabel label = RunLabel::passed;
  std::string rule;
  std::optional<int> status;      // exit status; none: a signal ended the run, or it is not known
  std::string signal;             // "SIGSEGV", "11"; empty: none
  std::optional<double> seconds;  // elapsed
  std::string started;            // UTC, as the client says; empty: not known
  uint64_t sparsity = 0;          // 0: not known
  std::optional<uint64_t> seed;
  std::string version;       // of the application; may be empty
  uint64_t received_us = 0;  // microseconds since 1970, by the server's clock
  std::string content_hash;  // SHA-256 of the decompressed report, its first 16 bytes
  std::string encoding;      // of `body`: "", "gzip" or "zstd"
  // How many bytes at the end of the decompressed body are the run's path file (a core file, see
  // docs/csi-guide.md). 0: it left none.
  uint64_t paths_bytes = 0;
  std::string body;  // the report, and after it the path file

  bool operator==(const StoredReport&) const = default;
};

// The payload of a log entry (docs/formats/store.md, "The log").
// Version 1, which earlier releases read, unless there is a path file.
std::string to_payload(const StoredReport& report);
// Everything but the body, which is a view into `payload`. Errors: truncated, bad_field,
// unsupported_version; offsets count from the start of the payload.
struct PayloadView {
  StoredReport head;  // without body
  Bytes body;
};
Result<PayloadView> read_payload(Bytes payload);

// The day (UTC) of a time in microseconds since 1970: "2026-11-22".
std::string day_of(uint64_t time_us);

}  // namespace telltale::collect
