// A file or descriptor to write to, which the program may close.
#pragma once

#include <sys/types.h>

#include "output_path.h"

namespace telltale::sampler {

class Destination {
 public:
  constexpr Destination() = default;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0 || on_demand_; }

  [[nodiscard]] const char* path() const { return path_; }  // absolute; empty if unknown
  // Is it a regular file? Writes to it do not block.
  [[nodiscard]] bool is_file() const { return is_file_; }

  // Opens the file that the pattern (output_path.h) names for this process, and truncates it unless
  // `keep_contents`. Returns an errno; 0 on success.
  int open(const char* pattern, bool keep_contents);
  // The same for a new file that only the user can read, and that open_on_demand() makes. In the
  // child of a fork it makes the child's own.
  int open_later(const char* pattern);
  // Makes that file, unless that was done. Returns whether it is new. Async-signal-safe.
  bool open_on_demand();
  // Writes to an open descriptor.
  void adopt(int descriptor);
  // Whether the name contains the process: then the child of a fork has its own file.
  [[nodiscard]] bool is_per_process() const;
  // Opens that file. For the child of a fork. REQUIRES: is_per_process().
  void open_own();
  // If the descriptor was closed or is now another file's: reopens the file, if it still exists.
  // Async-signal-safe.
  void reopen_if_replaced();
  void close();

 private:
  int open_path();
  [[nodiscard]] bool is_same_file(int descriptor) const;
  void remember();

  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool is_file_ = false;
  bool on_demand_ = false;         // still to be made
  bool private_ = false;           // by open_later()
  bool keeps_contents_ = false;    // by open()
  char pattern_[kPathBytes] = {};  // absolute
  char path_[kPathBytes] = {};
};

}  // namespace telltale::sampler
