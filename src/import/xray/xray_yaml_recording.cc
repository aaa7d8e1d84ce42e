#include "import/xray/xray_yaml_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "model/function_map.h"

namespace telltale {
namespace {

// Falls back to the names in the text.
class YamlNames : public FunctionNames {
 public:
  YamlNames(const xray::YamlTrace& trace, std::shared_ptr<const FunctionNames> programs)
      : programs_(std::move(programs)) {
    for (const xray::YamlRecord& record : trace.records) {
      const std::string& name = trace.names[record.name];
      // Without symbols, llvm-xray writes the number or a placeholder.
      if (name.empty() || name == std::to_string(record.function_id) || name.starts_with('#'))
        continue;
      named_.try_emplace(
          record.function_id,
          FunctionInfo{.name = name, .linkage_name = {}, .file = {}, .line = 0, .module = {}});
    }
  }
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    const FunctionInfo& known = programs_->describe(id);
    if (known.name != fmt::format("#{}", to_number(id))) return known;
    const auto named = named_.find(to_number(id));
    return named == named_.end() ? known : named->second;
  }

 private:
  std::shared_ptr<const FunctionNames> programs_;
  std::map<uint32_t, FunctionInfo> named_;
};

constexpr std::array<std::string_view, 6> kKindNames = {"function-enter",     "function-exit",
                                                        "function-tail-exit", "function-enter-arg",
                                                        "custom-event",       "typed-event"};

}  // namespace

Result<XrayYamlRecording> XrayYamlRecording::open(InputFile input,
                                                  std::shared_ptr<const FunctionNames> names) {
  XrayYamlRecording recording;
  recording.problems_.merge(input.problems());
  Result<xray::YamlTrace> trace =
      xray::read_yaml_trace(input.bytes(), input.name(), recording.problems_);
  if (!trace) {
    trace.error().file = input.name();
    return std::unexpected(trace.error());
  }
  recording.input_ = std::make_shared<const InputFile>(std::move(input));
  recording.trace_ = std::make_shared<const xray::YamlTrace>(std::move(*trace));
  recording.names_ = std::make_shared<YamlNames>(*recording.trace_, std::move(names));
  recording.clock_ = {.name = "TSC", .ticks_per_second = recording.trace_->header.cycle_frequency};

  const std::vector<xray::YamlRecord>& records = recording.trace_->records;
  std::map<ThreadKey, std::vector<uint32_t>> threads;
  Ticks first = std::numeric_limits<Ticks>::max();
  for (size_t i = 0; i < records.size(); ++i) {
    threads[{records[i].process, records[i].thread}].push_back(static_cast<uint32_t>(i));
    first = std::min(first, records[i].tsc);
  }
  recording.first_time_ = records.empty() ? 0 : first;
  for (auto& [thread, indexes] : threads) {
    recording.streams_.push_back(
        {thread, {}, (indexes.size() + kShardRecords - 1) / kShardRecords});
    recording.records_.push_back(std::move(indexes));
  }
  return recording;
}

std::span<const uint32_t> XrayYamlRecording::shard(size_t stream, size_t shard) const {
  const std::span<const uint32_t> all = records_[stream];
  const size_t begin = shard * kShardRecords;
  return all.subspan(begin, std::min(kShardRecords, all.size() - begin));
}

uint64_t XrayYamlRecording::shard_bytes(size_t stream, size_t shard_index) const {
  return shard(stream, shard_index).size() * sizeof(xray::YamlRecord);
}

RecordingInfo XrayYamlRecording::info(size_t /*workers*/, const CallFilter& filter) const {
  RecordingInfo info;
  const xray::FileHeader& header = trace_->header;
  info.format = "xray-yaml";
  info.version = std::to_string(header.version);
  info.files = {input_->name()};
  info.bytes = input_->bytes().size();
  info.properties = {
      {"written from", header.type == xray::LogType::fdr ? "an FDR trace" : "a basic trace"},
      {"cycle frequency", clock_.known() ? fmt::format("{} Hz", header.cycle_frequency)
                                         : "unknown; ticks are shown as nanoseconds"},
      {"constant TSC", header.constant_tsc ? "yes" : "no"},
      {"nonstop TSC", header.nonstop_tsc ? "yes" : "no"}};
  if (!input_->compression().empty())
    info.properties.emplace_back("compression", input_->compression());
  info.clock = clock_;
  info.problems = problems_;
  for (const EventStream& stream : streams_) {
    if (filter.keeps_thread(stream.thread)) info.threads.push_back(stream.thread);
  }
  RecordFilter chosen(filter, clock_, first_time_, *names_);
  XrayRecordSelector records(chosen, std::nullopt);
  std::array<uint64_t, kKindNames.size()> counts{};
  info.first_time = std::numeric_limits<Ticks>::max();
  for (const xray::YamlRecord& record : trace_->records) {
    if (!filter.keeps_everything() && !records.yaml(record)) continue;
    ++info.records;
    ++counts[static_cast<size_t>(record.kind)];
    info.first_time = std::min(info.first_time, record.tsc);
    info.last_time = std::max(info.last_time, record.tsc);
  }
  if (info.records == 0) info.first_time = info.last_time = first_time_;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) info.records_by_kind.emplace_back(kKindNames[i], counts[i]);
  }
  info.custom_events = counts[static_cast<size_t>(xray::YamlKind::custom_event)] +
                       counts[static_cast<size_t>(xray::YamlKind::typed_event)];
  return info;
}

static_assert(EventSource<XrayYamlRecording>);

}  // namespace telltale
