// The file or descriptor that something is written to, which the program may close under us.
#pragma once

#include <sys/types.h>

#include "output_path.h"

namespace telltale::sampler {

class Destination {
 public:
  constexpr Destination() = default;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  [[nodiscard]] const char* path() const { return path_; }  // from the root; empty: unknown
  // What is written stands there, and writing waits for nobody.
  [[nodiscard]] bool is_file() const { return is_file_; }

  // Empties and opens what the pattern names (path.h) for this process. Nothing is open if it
  // cannot be: answers an errno then, otherwise 0.
  int open(const char* pattern);
  // Takes a descriptor that is open.
  void adopt(int descriptor);
  // In the child of a fork, if the name says which process it is of: opens its own file.
  [[nodiscard]] bool is_per_process() const;
  void open_own();
  // If the descriptor has become another file's, or nobody's: opens the file that was meant, if it
  // is still there, else nothing is open any more. Async-signal-safe.
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
  char pattern_[kPathBytes] = {};  // from the root
  char path_[kPathBytes] = {};
};

}  // namespace telltale::sampler
