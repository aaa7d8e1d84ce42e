#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "collect/client/upload_url.h"
#include "collect/log/stored_report.h"
#include "formats/sampler/sampling_wish.h"

namespace telltale::collect {

// Ending of a run's path file in the spool; runtime/sampler/spool.cc has it, too.
inline constexpr const char* kSpooledPaths = ".paths";

// A folder of reports that wait to be sent (docs/formats/collect.md, "The spool"). Any number of
// programs add files; one process at a time sends them.
class ReportSpool {
 public:
  struct Entry {
    std::string id;
    std::string path;
    std::string paths;   // the run's path file; empty: there is none
    uint64_t bytes = 0;  // of both
    std::chrono::system_clock::time_point written;
  };

  explicit ReportSpool(std::string folder) : folder_(std::move(folder)) {}
  // Creates the folder, which only the user can read. Errors: io.
  [[nodiscard]] Result<void> create() const;
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // The lock of the process that sends.
  [[nodiscard]] std::string lock() const { return folder_ + "/send.lock"; }
  // The lock of the process that waits for lock(); there is at most one.
  [[nodiscard]] std::string queue_lock() const { return folder_ + "/send.next"; }

  // Adds a report under a new id, and a copy of this path file, if there is one; it is complete or
  // absent, whatever happens. Errors: io.
  [[nodiscard]] Result<void> add(const StoredReport& report, const std::string& paths = "") const;
  // Complete reports, the oldest first.
  [[nodiscard]] std::vector<Entry> entries() const;
  // Removes a report and its path file. Errors: io.
  static Result<void> remove(const Entry& entry);
  // Removes reports that were begun two days ago or earlier and are not complete: their programs
  // were killed, or became others; also path files without a report. Returns how many.
  [[nodiscard]] size_t remove_abandoned() const;
  // Removes reports until none is older than this, and they have no more bytes than this; the
  // oldest first. Returns how many.
  [[nodiscard]] size_t give_up(std::chrono::seconds age, uint64_t most_bytes) const;

  // How the server wants runs of this build to be sampled. Errors: io.
  [[nodiscard]] Result<void> note_wish(const std::string& build,
                                       const sampler::SamplingWish& wish) const;
  [[nodiscard]] std::optional<sampler::SamplingWish> noted_wish(const std::string& build) const;
  // How runs are to be sampled: by a rule of the user in the spool's file "sampling", else as the
  // server wants.
  [[nodiscard]] std::optional<sampler::SamplingWish> wish(const std::string& application,
                                                          const std::string& build) const;

 private:
  std::string folder_;
};

// When a server may be asked again, after attempts that failed: a file of the spool. It has the
// last server that failed: what another one does says nothing about it.
struct Retry {
  unsigned attempts = 0;  // in a row
  std::chrono::system_clock::time_point due{};
};
// When the next attempt to send to `url` may begin: at once, if there is no valid file, or if it is
// about another server.
Retry read_retry(const ReportSpool& spool, const UploadUrl& url);
// Errors: io.
Result<void> write_retry(const ReportSpool& spool, const UploadUrl& url, const Retry& retry);
// Removes the file. Call after an attempt that did not fail. Errors: io.
Result<void> remove_retry(const ReportSpool& spool);
// The wait after the attempt with this number (from 1): `first`, doubled each time up to six hours,
// then a part between a half and all of it, as `random` in [0, 1) decides. No less than `asked`.
std::chrono::seconds wait_after(unsigned attempt, std::chrono::seconds first,
                                std::chrono::seconds asked, double random);

}  // namespace telltale::collect
