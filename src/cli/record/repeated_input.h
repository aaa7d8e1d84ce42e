#pragma once

#include <cstdint>

#include "base/error.h"

namespace telltale::cli {

// Gives each of several runs of a program the same standard input: rewinds a file; copies a pipe or
// socket to a temporary file. Terminals and other devices are left unchanged.
class RepeatedInput {
 public:
  // Replaces descriptor 0 of this process if necessary. Prints a message if it has to wait for the
  // end of the input. Errors: io.
  static Result<RepeatedInput> prepare();

  // Sets standard input to where it began. Call before each run. Errors: io.
  [[nodiscard]] Result<void> rewind() const;
  // Opens a separate descriptor for a concurrent run, which the caller closes: of the same bytes
  // from the initial position, or of /dev/null if they cannot be read twice. Errors: io.
  [[nodiscard]] Result<int> open_again() const;
  // Standard input is a terminal: each run reads what is typed meanwhile.
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }

 private:
  bool is_repeatable_ = false;
  bool is_terminal_ = false;
  int64_t begin_ = 0;  // initial position in the file
};

}  // namespace telltale::cli
