#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "collect/log/stored_ids.h"

namespace telltale::collect {

// The places of a store (docs/formats/store.md).
class StoreFolder {
 public:
  explicit StoreFolder(std::string path) : path_(std::move(path)) {}

  // Creates what is missing. Errors: usage, if the folder has other files and is no store; io.
  [[nodiscard]] Result<void> create() const;
  // Whether the folder is a store.
  [[nodiscard]] bool exists() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string marker() const { return path_ + "/store.txt"; }
  [[nodiscard]] std::string log() const { return path_ + "/log"; }
  [[nodiscard]] std::string damaged() const { return path_ + "/log/damaged"; }
  [[nodiscard]] std::string plan() const { return path_ + "/log/folding"; }
  [[nodiscard]] std::string ids() const { return path_ + "/ids"; }
  [[nodiscard]] std::string runs() const { return path_ + "/runs"; }
  [[nodiscard]] std::string digests() const { return path_ + "/digests"; }
  [[nodiscard]] std::string sites() const { return path_ + "/sites"; }
  [[nodiscard]] std::string sites_of(std::string_view application, std::string_view build) const;
  // Folder of the programs that the path files of a build are read with.
  [[nodiscard]] std::string programs_of(std::string_view application, std::string_view build) const;
  [[nodiscard]] std::string temporary() const { return path_ + "/tmp"; }
  [[nodiscard]] std::string deleted() const { return path_ + "/deleted"; }
  [[nodiscard]] std::string page() const { return path_ + "/status.html"; }
  [[nodiscard]] std::string operator_token() const { return path_ + "/operator-token"; }
  [[nodiscard]] std::string server_lock() const { return path_ + "/collect.lock"; }
  // Exists while somebody waits for the server to end its segment.
  [[nodiscard]] std::string roll_request() const { return path_ + "/roll"; }
  [[nodiscard]] std::string fold_lock() const { return path_ + "/fold.lock"; }

  // Numbers of the log's segments, ascending. Errors: io.
  [[nodiscard]] Result<std::vector<uint64_t>> segments() const;
  // Whether the log has reports that are not folded yet. Errors: io.
  [[nodiscard]] Result<bool> has_unfolded() const;
  // Numbers of the segments of a fold in progress; none without one. Errors: io.
  [[nodiscard]] Result<std::vector<uint64_t>> planned() const;
  // The number of the first segment of a server that starts at this time: above all that were ever
  // used, also if the clock was set back. Errors: io.
  [[nodiscard]] Result<uint64_t> next_segment(uint64_t now_us) const;
  // The reports that the store has or had: of all ids files and all segments. `problems` gets
  // damage, which does not end the reading. `log_bytes`: sizes of the segments. Errors: io, also if
  // an ids file cannot be read: its reports would be stored again.
  Result<StoredIds> read_ids(ProblemLog& problems, uint64_t& log_bytes) const;

 private:
  std::string path_;
};

// What is directly in a folder, by name; nothing if there is no such folder, which another process
// may have removed just now. Errors: io; what cannot be read must not pass for empty.
Result<std::vector<std::string>> paths_in(const std::string& folder);
// Those with this ending. Errors: io.
Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view ending);
// The content of a file; none if there is no such file. Errors: io.
Result<std::optional<InputFile>> open_if_there(const std::string& path);

}  // namespace telltale::collect
