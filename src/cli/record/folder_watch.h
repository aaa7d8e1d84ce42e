#pragma once

#include <string>
#include <vector>

namespace telltale::cli {

// Sees what is removed from a folder.
class FolderWatch {
 public:
  // If the kernel does not support inotify(7), it sees nothing.
  explicit FolderWatch(const std::string& folder);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Names of entries that were removed or moved away since the last call, or since the beginning.
  [[nodiscard]] std::vector<std::string> removed();

 private:
  int events_;  // of inotify(7)
};

}  // namespace telltale::cli
