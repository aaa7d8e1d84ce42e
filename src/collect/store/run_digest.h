#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "bytes/cursor.h"
#include "collect/store/stored_run.h"

namespace telltale::collect {

// A digest has what isolation reads of one Parquet file, in a form that is read ten times faster
// (docs/formats/store.md, "digests"). It is made when the file is read for the first time, so that
// later isolations read only what is new.

// Distinguishes a file from the ones that had or will have its name.
struct FileIdentity {
  uint64_t bytes = 0;
  uint64_t modified_ns = 0;  // since 1970
  uint64_t inode = 0;

  // None: there is no such file.
  static std::optional<FileIdentity> of(const std::string& path);
  // As digests have it. Errors: in.error().
  static FileIdentity read(Cursor& in);
  bool operator==(const FileIdentity&) const = default;
};

// Collects the runs of a file.
class RunDigestWriter {
 public:
  void add(const StoredRun& run);
  // The digest; none, if a run's observations are not in the order that readers demand, so that
  // their complaint needs the file itself. Nothing may be added afterwards.
  [[nodiscard]] std::optional<std::string> finish(const FileIdentity& file, bool with_bounds) const;

 private:
  void add_text(std::string_view text);
  void add_section(const StoredRun::Section& section, bool with_times);

  std::string body_;
  std::map<std::pair<std::string, std::string>, uint64_t> names_;  // of unit and scheme
  bool is_sound_ = true;
  bool has_paths_ = false;
};

// Whether these bytes are the whole and undamaged digest of the file, with bounds if they are
// needed.
bool is_digest_of(Bytes digest, const FileIdentity& file, bool with_bounds);

// Whether they are a digest of the file that says that no run of it left a path file.
bool is_digest_without_paths(Bytes digest, const FileIdentity& file);
// Writes a digest of `file` to its place. One that cannot be written is missing, and the next
// isolation tries again.
void keep_digest(const std::string& file, const FileIdentity& identity, const std::string& place,
                 const std::string& digest);

// Calls use(run) for each run, in order. REQUIRES: is_digest_of(). Errors: bad_field, truncated; a
// digest that RunDigestWriter made has none.
Result<void> read_digest(Bytes digest, const std::function<void(const StoredRun&)>& use);

}  // namespace telltale::collect
