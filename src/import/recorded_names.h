#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "formats/xray/side_record.h"
#include "model/function_names.h"
#include "program/program_names.h"
#include "program/symbolizer.h"

namespace telltale {

// Names of functions by what a side record says of the programs that ran: nothing need be given by
// hand. A program that is gone, or that is another one than ran (by build-id), is said as a
// problem; its functions are then "#17", or "@0x1139" (a link-time address) where the recording
// knows it.
class RecordedNames final : public FunctionNames {
 public:
  // Programs of one recording that are read; more are said as a problem.
  static constexpr size_t kMaxPrograms = 1000;

  // `programs` are files, as --program takes them, that stand in for recorded ones: by build-id,
  // else by object number (and then a build-id that differs is said). Errors: usage and io, for
  // `programs` only.
  static Result<std::shared_ptr<const RecordedNames>> open(xray::SideRecord record,
                                                           const std::vector<std::string>& programs,
                                                           ProblemLog& problems);
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override;
  [[nodiscard]] const xray::SideRecord& record() const { return record_; }

 private:
  // A file that explains functions.
  struct Program {
    std::string path;
    std::optional<ProgramNames> map;   // of clang's sleds; read when the recording has ids of it
    std::unique_ptr<Symbolizer> code;  // of functions known by address
  };
  class Opener;

  explicit RecordedNames(xray::SideRecord record) : record_(std::move(record)) {}
  [[nodiscard]] FunctionInfo look_up(uint32_t id) const;
  [[nodiscard]] FunctionInfo describe_address(const xray::SideFunction& function) const;

  xray::SideRecord record_;
  std::vector<std::shared_ptr<Program>> programs_;  // by object of record_; null: cannot be used
  mutable std::mutex mutex_;
  mutable std::unordered_map<FunctionId, FunctionInfo> described_;
};

}  // namespace telltale
