#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bytes/input_file.h"
#include "import/open_options.h"
#include "import/recording.h"
#include "import/stack_paths.h"
#include "program/core_file.h"
#include "program/core_stacks.h"
#include "program/live_process.h"

namespace telltale {

struct FormatDescriptor;
struct ProgramMetadata;

// A core file, a minidump or the stacks of a running process, with the paths that functions kept in
// their frames.
class CoreRecording final : public Recording, public StackPaths {
 public:
  // Errors: usage for several files; those of CoreFile::read.
  static Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files,
                                                       const OpenOptions& options);
  // Errors: usage for several files; those of read_minidump.
  static Result<std::unique_ptr<const Recording>> open_minidump(std::vector<InputFile> files,
                                                                const OpenOptions& options);
  static std::unique_ptr<const Recording> of_process(ProcessSnapshot snapshot,
                                                     const OpenOptions& options);

  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter) const override;
  [[nodiscard]] const ProblemLog& problems() const override { return problems_; }
  [[nodiscard]] size_t file_count() const override { return 1; }
  [[nodiscard]] const InputFile& input(size_t /*file*/) const override { return file_; }
  [[nodiscard]] const StackPaths* paths_in_frames() const override { return this; }

  [[nodiscard]] std::string why_stopped() const override;
  [[nodiscard]] Result<std::vector<ThreadPaths>> thread_paths(ProblemLog& problems) const override;
  [[nodiscard]] Result<std::vector<ThreadPaths>> thread_paths_and_blocks(
      ProblemLog& problems) const override;
  [[nodiscard]] Result<std::vector<ThreadPaths>> thread_paths_and_slice(
      const CallFilter& filter, ProblemLog& problems) const override;
  [[nodiscard]] Result<std::vector<FunctionCoverage>> coverage(ProblemLog& problems) const override;
  [[nodiscard]] Result<PathsAndCoverage> paths_and_coverage(ProblemLog& problems) const override;
  [[nodiscard]] BuiltSources built_sources(ProblemLog& problems) const override;

 private:
  // How many records of each kind the file has.
  using RecordCounts = std::map<std::string, uint64_t>;
  CoreRecording(const FormatDescriptor& format, InputFile file, CoreFile core, RecordCounts counts,
                OpenOptions options, ProblemLog problems);

  // Opens the programs. Files that were given as programs and are texts go to `texts`.
  Result<CoreStacks> open_stacks(std::vector<InputFile>& texts, ProblemLog& problems) const;
  struct Opened {
    CoreStacks stacks;
    std::shared_ptr<const ProgramMetadata> metadata;
  };
  [[nodiscard]] Result<Opened> open_programs(ProblemLog& problems) const;
  [[nodiscard]] std::vector<ThreadPaths> decode(const CoreStacks& stacks,
                                                const ProgramMetadata& metadata,
                                                ProblemLog& problems) const;

  // What core_ refers to, if that is not file_: memory of a process, and of a minidump whose ranges
  // were joined.
  std::vector<std::byte> memory_;
  std::set<int64_t> left_out_;  // threads of a process that did not stop
  bool is_cut_ = false;         // before, or inside, what names the programs
  InputFile file_;
  CoreFile core_;
  RecordCounts record_counts_;
  OpenOptions options_;
  ProblemLog problems_;
};

}  // namespace telltale
