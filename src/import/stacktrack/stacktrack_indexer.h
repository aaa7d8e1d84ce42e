#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/stacktrack/exit_rule.h"
#include "formats/stacktrack/info_assembler.h"
#include "formats/stacktrack/reader.h"
#include "formats/stacktrack/ring_filter.h"
#include "import/stacktrack/stacktrack_processes.h"
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
  // By tid, with sequence numbers.
  using ThreadNames = std::map<int64_t, std::pair<uint64_t, std::string>>;
  void hit(const stacktrack::Record& record, bool exit);
  void mark_exit(const stacktrack::Record& record);
  // What a file has of a process.
  struct Part {
    StacktrackPart facts;
    uint32_t number = 0;
    ProcessTime time;
    std::map<int64_t, Thread> threads;  // by tid
    ThreadNames thread_names;
  };
  Part& part_of(const stacktrack::Record& record);
  void note_time(const stacktrack::Record& record);
  void extend_run(const stacktrack::Record& record);
  void whole(const stacktrack::Record& head, std::string_view text, Ending ending, bool adjoining);
  bool name_thread(const stacktrack::Record& record, std::string_view property);
  struct Hit {
    uint64_t sequence = 0;
    double time = 0;  // ticks
    uint64_t scope = 0;
    bool is_exit = false;
    bool operator==(const Hit&) const = default;
  };
  // The thread's first HITs in the runs whose sequence numbers are from `low` to `high`.
  [[nodiscard]] std::vector<Hit> hits_from(std::span<const Run> runs, int64_t pid, int64_t tid,
                                           uint64_t low, uint64_t high) const;
  // Whether a thread's runs in two files contain the same HITs: sinks that are open at the same
  // time get the same ones, with the same times.
  [[nodiscard]] bool share_hits(std::span<const Run> a, std::span<const Run> b, int64_t pid,
                                int64_t tid) const;
  [[nodiscard]] bool share_hits(const Part& a, const Part& b, int64_t pid) const;
  // Keeps each HIT of a thread in one file alone.
  void drop_repeated(std::vector<Run>& runs, const ThreadKey& key) const;
  void finish_facts(Part& part) const;
  void join_parts();
  void join(const Part& part, ProcessTime& process) const;
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
  std::deque<Part> parts_;
  std::unordered_map<int64_t, Part*> parts_of_file_;  // by pid
  Part* part_ = nullptr;                              // the latest
  Thread* thread_ = nullptr;                          // the latest, of the latest part
  int64_t tid_ = 0;
  std::array<uint64_t, stacktrack::kRecordKinds> kinds_{};
  uint64_t other_kinds_ = 0;
  // Losses recorded as logged variables (classic layout): their names and last values.
  struct VariableLoss {
    std::string name;
    uint64_t count = 0;
    uint64_t offset = 0;
    uint32_t file = 0;
  };
  std::map<std::pair<uint32_t, uint64_t>, VariableLoss> variable_losses_;  // by part, scope index
};

}  // namespace telltale
