#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/problem.h"
#include "program/program_names.h"
#include "program/symbolizer.h"

namespace telltale {

// A program that names the functions of recordings. What was read of it serves all of them.
// Thread-safe.
class SharedProgram {
 public:
  // `places`: SymbolizerOptions::places.
  SharedProgram(std::string path, bool places);

  [[nodiscard]] const std::string& path() const { return path_; }
  // Names functions that are identified by address.
  [[nodiscard]] Symbolizer& code() { return code_; }
  // Of clang's sleds; read when it is first asked for. Its problems go to `problems` each time.
  // Null: it cannot be read, which is a problem, too.
  const ProgramNames* map(ProblemLog& problems);

 private:
  std::string path_;
  SymbolizerOptions options_;
  Symbolizer code_;
  std::mutex mutex_;
  std::optional<Result<ProgramNames>> map_;
  ProblemLog map_problems_;
};

// The program in this file. Those that were used last are kept, until their files change: to read
// the debug information of a program takes longer than to read a recording, and a study has many
// recordings of one program. Thread-safe.
std::shared_ptr<SharedProgram> shared_program(const std::string& path, bool places);

}  // namespace telltale
