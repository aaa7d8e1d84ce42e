#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace telltale {

// A file, or a folder with all that is in it, that exists no longer than this object: it is removed
// with it, and before a signal ends the process, if remove_temporary_paths_on_signals() was called.
// Move-only.
class TemporaryPath {
 public:
  TemporaryPath() = default;  // of nothing
  // Takes over what is there. A name that is relative belongs to the working directory of now.
  explicit TemporaryPath(std::string path);
  // Makes a folder in temporary_folder(). Errors: io.
  static Result<TemporaryPath> make_folder(const std::string& prefix);
  // The same in another folder.
  static Result<TemporaryPath> make_folder_in(const std::string& folder, const std::string& prefix);
  TemporaryPath(TemporaryPath&& other) noexcept;
  TemporaryPath& operator=(TemporaryPath&& other) noexcept;
  ~TemporaryPath() { remove(); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool empty() const { return path_.empty(); }
  // What is there stays, as after it was renamed.
  void release();
  void remove();

 private:
  std::string path_;
  char* registered_ = nullptr;  // a copy for the signal handler; null: there is no room for one
};

// From now on, signals that end the process (SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM,
// SIGUSR1, SIGUSR2, SIGXCPU), unless they are ignored or have a handler, first remove what has a
// TemporaryPath. For programs, not for libraries. Processes that are started do not inherit this.
void remove_temporary_paths_on_signals();

}  // namespace telltale
