#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "formats/stacktrack/exit_rule.h"
#include "formats/stacktrack/info_assembler.h"
#include "formats/stacktrack/reader.h"
#include "formats/stacktrack/ring_filter.h"
#include "import/stacktrack/stacktrack_recording.h"

namespace telltale {

// Reads the records of a recording's files once, file by file: collects processes, checkpoints and
// the positions of each thread's HITs.
class StacktrackRecording::Indexer {
 public:
  explicit Indexer(StacktrackRecording& recording) : recording_(recording) {}

  void add_file(uint32_t index);
  // Orders threads and their HITs.
  void finish();

  // For walk_stream.
  void record(const stacktrack::Record& record);
  void skipped(const stacktrack::SkippedBytes& skipped);

 private:
  using Ending = stacktrack::InfoAssembler::Ending;
  void hit(const stacktrack::Record& record, bool exit);
  void mark_exit(const stacktrack::Record& record);
  void note_time(const stacktrack::Record& record, int64_t pid);
  void extend_run(const stacktrack::Record& record, const ThreadKey& thread);
  void whole(const stacktrack::Record& head, std::string_view text, Ending ending, bool adjoining);
  bool name_thread(const stacktrack::Record& record, std::string_view property);
  [[nodiscard]] std::string process_name(int64_t pid) const;
  void process_record(const stacktrack::Record& record);
  void lost(const stacktrack::Record& record);
  void problem(Problem::Kind kind, const stacktrack::Record& record, std::string message,
               uint64_t bytes = 0);

  StacktrackRecording& recording_;
  uint32_t file_ = 0;
  stacktrack::InfoAssembler texts_;
  stacktrack::RingFilter ring_;
  stacktrack::ExitRule exits_;
  bool has_holes_ = false;
  uint64_t overwritten_ = 0;  // records of chunks that were being reused
  std::map<ThreadKey, Thread> threads_;
  std::map<ThreadKey, std::pair<uint64_t, std::string>> thread_names_;  // with sequence numbers
  Thread* thread_ = nullptr;                                            // the latest
  ThreadKey thread_key_;
  ProcessTime* process_ = nullptr;  // the latest
  int64_t process_pid_ = 0;
  std::array<uint64_t, stacktrack::kRecordKinds> kinds_{};
  uint64_t other_kinds_ = 0;
  // Losses recorded as logged variables (classic layout): their names and last values.
  struct VariableLoss {
    std::string name;
    uint64_t count = 0;
    uint64_t offset = 0;
    uint32_t file = 0;
  };
  std::map<std::pair<int64_t, uint64_t>, VariableLoss> variable_losses_;  // by pid, scope index
};

}  // namespace telltale
