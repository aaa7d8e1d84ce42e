#include "output/timeline/speedscope_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/append_format.h"
#include "model/thread_text.h"
#include "output/json_writer.h"

namespace telltale {

SpeedscopeFrames::SpeedscopeFrames(const std::vector<FunctionId>& in_order) : functions(in_order) {
  for (uint32_t i = 0; i < functions.size(); ++i) numbers[functions[i]] = i;
}

void SpeedscopeSink::add(char type, Ticks time, FunctionId function) {
  latest_ns_ = to_ns_(time - context_->first_time);
  const uint32_t* const number = frames_->numbers.find(function);
  append_format(text_, ",\n{{\"type\":\"{}\",\"frame\":{},\"at\":{}}}", type,
                number == nullptr ? 0 : *number, latest_ns_);
}

Result<void> SpeedscopeEvents::begin() {
  return out_.write(
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
      "\"exporter\":\"telltale\",\"activeProfileIndex\":0,\"profiles\":[");
}

Result<void> SpeedscopeEvents::end_profile() {
  if (!std::exchange(in_profile_, false)) return {};
  return out_.write(fmt::format("\n],\"endValue\":{}}}", latest_ns_));
}

Result<void> SpeedscopeEvents::finish(const ShardContext& shard, Sink& sink) {
  if (shard.first_shard) {
    if (const Result<void> ended = end_profile(); !ended) return ended;
  }
  std::string_view events = sink.text_;
  if (events.empty()) return {};
  if (!std::exchange(in_profile_, true)) {
    const EventStream& stream = context_.streams[shard.stream];
    std::string title = fmt::format("thread {}", stream.thread.tid);
    if (!stream.thread_name.empty()) title += " " + stream.thread_name;
    if (!stream.process_name.empty())
      title += fmt::format(" of {} {}", stream.process_name, process_text(stream.thread));
    std::string head = std::exchange(any_profile_, true) ? ",\n" : "\n";
    JsonWriter json(head);
    json.begin_object().member("type", "evented").member("name", title);
    json.member("unit", "nanoseconds").member("startValue", 0).key("events");
    head += '[';
    events.remove_prefix(1);
    if (const Result<void> written = out_.write(head); !written) return written;
  }
  latest_ns_ = sink.latest_ns_;
  return out_.write(events);
}

Result<void> SpeedscopeEvents::end() {
  if (const Result<void> ended = end_profile(); !ended) return ended;
  std::string text = "],\n\"shared\":";
  JsonWriter json(text);
  json.begin_object().key("frames").begin_array();
  for (const FunctionId function : frames_.functions) {
    const FunctionInfo& info = context_.functions.describe(function);
    json.begin_object().member("name", info.name);
    if (!info.file.empty()) json.member("file", info.file);
    if (info.line != 0) json.member("line", info.line);
    json.end_object();
  }
  json.end_array().end_object();
  text += "}\n";
  return out_.write(text);
}

}  // namespace telltale
