#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/paths/program_flow.h"
#include "formats/csi/path_records.h"
#include "import/csi/flow_functions.h"
#include "import/csi/program_metadata.h"
#include "import/stack_paths.h"

namespace telltale {

// The flags of a mechanism of coverage in the program; empty ones are not known.
struct FlaggedRecord {
  const csi::CoverageRecord* record = nullptr;  // of the program's metadata
  std::optional<uint32_t> function;             // FlowFunctions::flagged_by() it
  std::vector<std::optional<bool>> flags;
};

// Joins flags and stacks with the functions of a program.
class FlowEvidence {
 public:
  explicit FlowEvidence(const ProgramMetadata& metadata);  // which must outlive it

  void add_flags(const std::vector<FlaggedRecord>& records);
  void add_stacks(const std::vector<ThreadPaths>& threads);
  // By stack and frame of the evidence: the index of the frame in its thread.
  [[nodiscard]] const std::vector<std::vector<size_t>>& frame_indices() const {
    return frame_indices_;
  }
  // The blocks that a frame of `function` may have run last, in their order: a sequence for each
  // reading of its paths. Empty: the order is not known.
  [[nodiscard]] std::vector<std::vector<uint32_t>> ways_of(const FramePaths& frame,
                                                           uint32_t function) const;
  // `has_all_stacks`: of each thread, so that functions without frames have ended.
  ProgramEvidence take(bool has_all_stacks);

 private:
  void add_thread(const ThreadPaths& thread);
  [[nodiscard]] std::vector<uint32_t> functions_named(const FramePaths& frame) const;
  [[nodiscard]] std::optional<uint32_t> function_of(const FramePaths& frame) const;
  [[nodiscard]] std::optional<uint32_t> function_by_records(const FramePaths& frame) const;
  [[nodiscard]] std::optional<uint32_t> function_at(const FramePaths& frame) const;
  void add_paths(const FramePaths& frame, ProgramEvidence::Frame& at) const;
  // The function that a frame called. Both empty: it called none, or an unknown one.
  struct InnerFrame {
    std::optional<uint32_t> function;   // of the program
    std::string_view library_function;  // its symbol; it has no flow record
  };
  [[nodiscard]] bool may_lead_to(const ProgramFlow::Call& call,
                                 std::optional<uint32_t> callee) const;
  void find_call(const FramePaths& frame, const InnerFrame& inner,
                 ProgramEvidence::Frame& at) const;
  void stop_at_end(ProgramEvidence::Frame& at) const;
  [[nodiscard]] std::optional<uint32_t> block_of_instruction(const FramePaths& frame,
                                                             uint32_t function,
                                                             bool has_inlined) const;
  [[nodiscard]] std::vector<uint32_t> blocks_with_call(uint32_t function, uint32_t line,
                                                       const InnerFrame& inner) const;
  [[nodiscard]] std::optional<uint32_t> block_of(const PathGraph& graph, uint32_t function,
                                                 uint32_t node) const;

  const ProgramMetadata& metadata_;
  const FlowFunctions& functions_;
  ProgramEvidence evidence_;
  std::vector<std::vector<size_t>> frame_indices_;
  bool is_cut_ = false;
  bool is_after_main_ = false;
};

}  // namespace telltale
