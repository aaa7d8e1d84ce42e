#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "formats/xray/side_record.h"
#include "import/open_options.h"
#include "import/shared_program.h"
#include "model/function_names.h"
#include "program/program_names.h"

namespace telltale {

// Function names from the programs that a side record identifies, without --program. If a program
// is missing, or its build-id differs from that of the recorded one, the side record's own names
// are used. If it has none, that is a problem, and functions are "#17", or "@0x1139" (a link-time
// address) if recorded.
class RecordedNames final : public FunctionNames {
 public:
  // Maximum number of programs per recording; more are a problem.
  static constexpr size_t kMaxPrograms = 1000;

  // options.programs are files, as for --program, used instead of the recorded ones: matched by
  // build-id, else by object number (a different build-id is then a problem). Errors: usage and io,
  // for these only.
  static Result<std::shared_ptr<const RecordedNames>> open(xray::SideRecord record,
                                                           const OpenOptions& options,
                                                           ProblemLog& problems);
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override;
  [[nodiscard]] const xray::SideRecord& record() const { return record_; }

 private:
  // A file that names functions.
  struct Program {
    std::shared_ptr<SharedProgram> file;
    const ProgramNames* map = nullptr;  // of `file`; if the recording uses its ids
    bool asked_for_map = false;
  };
  class Opener;

  explicit RecordedNames(xray::SideRecord record) : record_(std::move(record)) {}
  [[nodiscard]] FunctionInfo look_up(uint32_t id) const;
  [[nodiscard]] FunctionInfo ask_program(uint32_t id) const;
  [[nodiscard]] FunctionInfo describe_address(const xray::SideFunction& function) const;

  xray::SideRecord record_;
  std::vector<std::shared_ptr<Program>> programs_;  // by object of record_; null: cannot be used
  mutable std::mutex mutex_;
  mutable std::unordered_map<FunctionId, FunctionInfo> described_;
};

}  // namespace telltale
