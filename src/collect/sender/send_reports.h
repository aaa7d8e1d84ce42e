#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/problem.h"
#include "collect/client/report_spool.h"
#include "collect/sender/upload_connection.h"

namespace telltale::collect {

struct SendOptions {
  UploadUrl url;
  UploadOptions upload;
  std::string token;        // empty: none
  bool unredacted = false;  // sends reports with paths, and with parts that telltale does not know
  std::chrono::seconds first_wait{60};
  std::chrono::seconds give_up_after{std::chrono::days(30)};
  uint64_t most_bytes = uint64_t{256} << 20;
  uint64_t most_paths_bytes = uint64_t{32} << 20;  // larger path files are not sent
  // If another process is sending: waits for it. If one waits already, that sends our reports, too.
  bool queues = false;
  // Whether the user agreed to send reports of this application.
  bool (*may_send)(const std::string& application) = nullptr;
};

struct SendOutcome {
  uint64_t sent = 0;
  uint64_t repeated = 0;                // of those, the server had them already
  uint64_t with_paths = 0;              // of those, with their path files
  uint64_t without_paths = 0;           // path files that were left out: damaged, or refused
  uint64_t refused = 0;                 // removed: the server will never take them
  uint64_t given_up = 0;                // removed: too old, too many, or never completed
  uint64_t unwanted = 0;                // removed: the user does not want them to be sent
  uint64_t unreadable = 0;              // removed: not reports
  uint64_t ignored_wishes = 0;          // replies that ask for sampling in no valid form
  uint64_t left = 0;                    // wait for the next attempt
  std::string trouble;                  // why reports are left; empty if none are
  std::chrono::seconds retry_after{0};  // when to try again
};

// Sends what the spool has, oldest first, until all is sent or the server cannot be reached; notes
// in the spool when to try again. A report is removed when the server has it, so an interruption at
// any time loses none, and the server recognises those that it gets twice. `problems` gets what was
// refused or could not be read. Errors: usage, if another process is sending, or waits to; io.
Result<SendOutcome> send_reports(const ReportSpool& spool, const SendOptions& options,
                                 ProblemLog& problems);

}  // namespace telltale::collect
