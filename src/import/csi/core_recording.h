#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bytes/input_file.h"
#include "import/open_options.h"
#include "import/recording.h"
#include "import/stack_paths.h"
#include "program/core_file.h"

namespace telltale {

// A core file, with the paths that functions kept in their frames.
class CoreRecording final : public Recording, public StackPaths {
 public:
  // Errors: usage for several files; those of CoreFile::read.
  static Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files,
                                                       const OpenOptions& options);

  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter) const override;
  [[nodiscard]] const ProblemLog& problems() const override { return problems_; }
  [[nodiscard]] size_t file_count() const override { return 1; }
  [[nodiscard]] const InputFile& input(size_t /*file*/) const override { return file_; }
  [[nodiscard]] const StackPaths* paths_in_frames() const override { return this; }

  [[nodiscard]] std::string why_stopped() const override;
  [[nodiscard]] Result<std::vector<ThreadPaths>> thread_paths(ProblemLog& problems) const override;

 private:
  CoreRecording(InputFile file, CoreFile core, OpenOptions options, ProblemLog problems);

  InputFile file_;
  CoreFile core_;
  OpenOptions options_;
  ProblemLog problems_;
};

}  // namespace telltale
