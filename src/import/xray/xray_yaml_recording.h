#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/xray/yaml_trace.h"
#include "import/xray/xray_record_selector.h"
#include "model/call_filter.h"
#include "model/clock.h"
#include "model/event_source.h"
#include "model/function_names.h"
#include "model/recording_info.h"

namespace telltale {

// A trace in llvm-xray's YAML form: an EventSource. The whole text is read; memory is about its
// size. Names in the text are used for functions without a name from a program.
class XrayYamlRecording {
 public:
  static constexpr size_t kShardRecords =
      50'000;  // records per shard of a thread; the last shard may have fewer

  // Errors: a text without a valid header.
  static Result<XrayYamlRecording> open(InputFile input,
                                        std::shared_ptr<const FunctionNames> names);

  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Ticks first_time() const { return first_time_; }
  [[nodiscard]] std::span<const EventStream> streams() const { return streams_; }
  [[nodiscard]] const FunctionNames& functions() const { return *names_; }
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const;
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }
  void add_problems(const ProblemLog& problems) { problems_.merge(problems); }  // of the programs

  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const;

  // Threads, records and span cover only what the filter selects.
  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter = {}) const;

  // The file, for work record by record.
  [[nodiscard]] size_t file_count() const { return 1; }
  [[nodiscard]] const InputFile& input(size_t /*file*/) const { return *input_; }

 private:
  // Indexes into trace_->records of one thread's records, in file order.
  [[nodiscard]] std::span<const uint32_t> shard(size_t stream, size_t shard) const;

  std::shared_ptr<const InputFile> input_;
  std::shared_ptr<const xray::YamlTrace> trace_;
  std::shared_ptr<const FunctionNames> names_;
  Clock clock_;
  Ticks first_time_ = 0;
  std::vector<EventStream> streams_;
  std::vector<std::vector<uint32_t>> records_;  // parallel to streams_
  ProblemLog problems_;
};

template <typename Sink>
void XrayYamlRecording::play(size_t stream, size_t shard_index, Sink& sink,
                             ProblemLog& problems) const {
  Ticks time = 0;
  bool cpu_known = false;
  uint16_t cpu = 0;
  for (const uint32_t index : shard(stream, shard_index)) {
    const xray::YamlRecord& record = trace_->records[index];
    if (record.tsc < time) {
      problems.add({Problem::Kind::oddity, record.offset, input_->name(), "record",
                    "the clock goes backwards; time is held until it has caught up", 0});
    }
    time = std::max(time, record.tsc);
    if (!cpu_known || record.cpu != cpu) {
      cpu = record.cpu;
      cpu_known = true;
      sink.cpu(time, cpu);
    }
    const FunctionId function{record.function_id};
    switch (record.kind) {
      case xray::YamlKind::enter:
      case xray::YamlKind::enter_args:
        sink.enter(time, function);
        break;
      case xray::YamlKind::exit:
        sink.leave(time, function, LeaveKind::normal);
        break;
      case xray::YamlKind::tail_exit:
        sink.leave(time, function, LeaveKind::tail);
        break;
      case xray::YamlKind::custom_event:
        sink.instant({time, "custom", 0, trace_->data_of(record)});
        continue;
      case xray::YamlKind::typed_event:
        sink.instant({time, "typed", record.type, trace_->data_of(record)});
        continue;
    }
    if (record.kind == xray::YamlKind::enter || record.kind == xray::YamlKind::enter_args) {
      for (const uint64_t value : trace_->arguments_of(record)) sink.argument(value);
    }
  }
}

}  // namespace telltale
