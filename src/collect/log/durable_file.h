#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace telltale::collect {

// Files that survive a crash of the machine once a function has returned, and that only their owner
// can use. Errors of all: io.

// Writes the file under a temporary name in its folder, and renames it.
Result<void> replace_file(const std::string& path, std::string_view content);
// Makes renames, creations and removals in a folder durable.
Result<void> sync_folder(const std::string& folder);
// Makes a file's content durable.
Result<void> sync_file(const std::string& path);
// Creates the folder, with those above it, unless they exist.
Result<void> make_folder(const std::string& folder);

// A lock between processes that ends with the process: an open file with flock(). Move-only.
class LockFile {
 public:
  // Creates the file unless it exists. Without `wait`: error usage, if another process has it.
  static Result<LockFile> take(const std::string& path, bool wait);
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

 private:
  explicit LockFile(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace telltale::collect
