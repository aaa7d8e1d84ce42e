#pragma once

#include <cstdint>

#include "base/error.h"

namespace telltale::cli {

// Standard input for several runs of a program, each of which is to read the same bytes: a file is
// wound back, a pipe or socket is read to its end into a temporary file. What else there is, a
// terminal or a device, is left as it is.
class RepeatedInput {
 public:
  // Changes descriptor 0 of this process if it has to. Says so on standard error if the input lets
  // us wait for its end. Errors: io.
  static Result<RepeatedInput> prepare();

  // Before each run. Errors: io.
  [[nodiscard]] Result<void> rewind() const;
  // A descriptor of its own for a run beside others, which the caller closes: of the same bytes
  // from where we found them, or of /dev/null if they cannot be read twice. Errors: io.
  [[nodiscard]] Result<int> open_again() const;
  // Each run reads what is typed while it runs.
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }

 private:
  bool is_repeatable_ = false;
  bool is_terminal_ = false;
  int64_t begin_ = 0;  // where we found the file
};

}  // namespace telltale::cli
