#include "formats/xray/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/xray/basic_composer.h"
#include "formats/xray/event_groups.h"
#include "formats/xray/fdr_composer.h"
#include "formats/xray/yaml_trace.h"
#include "formats/xray/yaml_writer.h"

namespace telltale::xray {
namespace {

using Reason = ConversionLoss::Reason;
using Form = ConvertTarget::Form;

// The buffer size of version 1, unless the input's is larger or an event needs more.
constexpr uint64_t kDefaultBufferBytes = 16384;
constexpr uint64_t kMostFixedBufferBytes = uint64_t{16} << 20;
// Limit for the open buffers of all threads together, if records of many threads are mixed.
constexpr size_t kMostHeldBytes = size_t{32} << 20;

struct Input {
  Bytes file;
  const std::string& file_name;
  FileHeader header;
  const YamlTrace* yaml = nullptr;  // instead of binary records
};

// Recorder facts that stay true after a conversion: untimed records, losses, waits, and
// that an earlier recording was stopped.
void write_recorder_mark(FileHeader& header) {
  header.recorder.cells = false;
  header.recorder.parts.reset();
  if (header.recorder.sparse_interval == 0 && header.recorder.lost_events == 0 &&
      !header.recorder.waits && !header.recorder.resumed)
    return;
  for (size_t i = 0; i < 2; ++i)
    header.raw[kRecorderMarkOffset + i] = std::byte{kRecorderMark & 0xFF};
  header.raw[kRecorderMarkOffset + 2] =
      std::byte(static_cast<uint8_t>((header.recorder.waits ? kRecorderWaits : 0) |
                                     (header.recorder.resumed ? kRecorderResumed : 0)));
  header.raw[kRecorderMarkOffset + 3] = std::byte{header.recorder.sparse_interval};
  for (size_t i = 0; i < 4; ++i) {
    const size_t shift = 8 * (header.order == std::endian::little ? i : 3 - i);
    header.raw[kRecorderMarkOffset + 4 + i] =
        std::byte(header.recorder.lost_events >> shift & 0xFF);
  }
}

FileHeader target_header(const FileHeader& from, const ConvertTarget& target) {
  FileHeader header = from;
  header.type = target.form == Form::fdr ? LogType::fdr : LogType::basic;
  header.version = target.version;
  header.order = target.order.value_or(from.order);
  header.raw.fill(std::byte{0});  // unused bytes do not survive a change of format
  if (header.type == LogType::fdr) write_recorder_mark(header);
  if (header.type == LogType::fdr && header.buffer_size == 0)
    header.buffer_size = kDefaultBufferBytes;
  return header;
}

class Conversion {
 public:
  Conversion(const Input& input, const ConvertTarget& target, BlockWriter& out,
             ProblemLog& problems)
      : input_(input),
        target_(target),
        header_(target_header(input.header, target)),
        out_(out),
        problems_(problems) {}

  ConversionLoss run() {
    if (input_.yaml == nullptr && input_.header.type == LogType::fdr) {
      frames_ = frame_fdr_file(input_.file, input_.header, input_.file_name);
      problems_.merge(frames_.problems);
      for (const Gap& gap : frames_.gaps) {
        if (!gap.slack) loss_.add(Reason::damaged_bytes, gap.bytes);
      }
    }
    if (target_.form == Form::yaml) {
      to_yaml();
    } else {
      count_lost_names();
      target_.form == Form::basic ? to_basic() : to_fdr();
    }
    return loss_;
  }

 private:
  [[nodiscard]] bool from_fdr() const {
    return input_.yaml == nullptr && input_.header.type == LogType::fdr;
  }

  // --- by time: YAML and, per thread, basic
  // --------------------------------------------------------

  void for_each_group(const std::function<void(const EventGroup&)>& visit) {
    if (input_.yaml != nullptr) {
      for (const YamlRecord& record : input_.yaml->records) {
        const auto arguments = input_.yaml->arguments_of(record);
        visit({timed_event(*input_.yaml, record),
               {arguments.begin(), arguments.end()},
               static_cast<int32_t>(record.thread),
               static_cast<int32_t>(record.process)});
      }
      return;
    }
    auto threads =
        from_fdr()
            ? fdr_threads(input_.file, input_.header, frames_, input_.file_name, loss_, problems_)
            : basic_threads(input_.file, input_.header, input_.file_name, loss_, problems_);
    merge_by_time(threads, visit);
  }

  // YAML input contains function names; an id's first name is used.
  [[nodiscard]] std::function<std::string(uint32_t id)> yaml_names() const {
    if (input_.yaml == nullptr) return {};
    std::unordered_map<uint32_t, uint32_t> names;
    for (const YamlRecord& record : input_.yaml->records) {
      if (record.name != 0) names.try_emplace(record.function_id, record.name);
    }
    return [names = std::move(names), yaml = input_.yaml](uint32_t id) {
      const auto found = names.find(id);
      return found == names.end() ? std::to_string(id) : yaml->names[found->second];
    };
  }
  // The binary forms have no names. A name that only consists of the id's digits is not a loss.
  void count_lost_names() {
    loss_.add(Reason::function_name, target_.names_beside_input);
    if (input_.yaml == nullptr) return;
    std::vector<bool> lost(input_.yaml->names.size());
    for (const YamlRecord& record : input_.yaml->records) {
      const std::string& name = input_.yaml->names[record.name];
      if (!name.empty() && name != std::to_string(record.function_id)) lost[record.name] = true;
    }
    loss_.add(Reason::function_name, static_cast<uint64_t>(std::ranges::count(lost, true)));
  }

  void to_yaml() {
    YamlWriter writer(input_.header, target_.function_name ? target_.function_name : yaml_names(),
                      out_);
    for_each_group([&](const EventGroup& group) {
      switch (group.event.kind) {
        case TimedEvent::Kind::call:
        case TimedEvent::Kind::custom:
        case TimedEvent::Kind::typed:
          writer.write(group.event,
                       {static_cast<uint32_t>(group.tid), static_cast<uint32_t>(group.pid)},
                       group.arguments);
          break;
        case TimedEvent::Kind::wall:
          loss_.add(Reason::wall_clock);
          break;
        case TimedEvent::Kind::other:
        case TimedEvent::Kind::argument:
          loss_.add(Reason::misplaced_record);
          break;
        case TimedEvent::Kind::wrap:
          if (group.event.value != 0) loss_.add(Reason::wait);
          break;
        case TimedEvent::Kind::cpu:
          break;
      }
    });
    writer.finish();
  }

  void to_basic() {
    encode_file_header(header_, out_.block());
    BasicComposer composer(header_, out_, loss_);
    if (input_.yaml == nullptr && !from_fdr()) {
      basic_to_basic(composer);
      return;
    }
    for_each_group([&](const EventGroup& group) {
      composer.write(group.event,
                     {static_cast<uint32_t>(group.tid), static_cast<uint32_t>(group.pid)},
                     group.arguments);
    });
  }

  void basic_to_basic(BasicComposer& composer) {
    const uint64_t lost_before = problems_.lost_bytes();
    struct Visitor {
      BasicComposer& composer;
      void record(const BasicRecord& record) {
        const BasicComposer::Thread thread{record.tid, record.pid};
        if (record.type == BasicRecordType::argument) {
          composer.write_argument(static_cast<uint32_t>(record.function_id), thread,
                                  record.argument);
        } else {
          composer.write_call(timed_event(record), thread);
        }
      }
    } visitor{composer};
    for (const BasicRun& run :
         find_basic_runs(input_.file, input_.header, input_.file_name, problems_)) {
      walk_basic_records(input_.file, run.begin, run.end, input_.header, visitor);
    }
    loss_.add(Reason::damaged_bytes, problems_.lost_bytes() - lost_before);
  }

  // --- FDR
  // ----------------------------------------------------------------------------------------

  void to_fdr() {
    output_ = {header_, 0, &out_, &loss_};
    choose_buffer_size();
    encode_file_header(output_.header, out_.block());
    if (from_fdr()) {
      fdr_to_fdr();
    } else {
      records_to_fdr();
    }
  }

  // Versions since 2 keep the header's number, which has no effect; all buffers of version 1 must
  // have that size.
  void choose_buffer_size() {
    if (fdr_layout(header_.version).has_extents) {
      output_.split_at =
          std::clamp<uint64_t>(header_.buffer_size, uint64_t{1} << 20, uint64_t{64} << 20);
      return;
    }
    const bool sane = header_.buffer_size >= 4096 && header_.buffer_size <= kMostFixedBufferBytes;
    uint64_t size = sane ? header_.buffer_size : kDefaultBufferBytes;
    size = std::max(
        size, std::min(largest_payload() + FdrComposer::kFramingBytes, kMostFixedBufferBytes));
    output_.header.buffer_size = output_.split_at = size;
  }

  [[nodiscard]] uint64_t largest_payload() const {
    uint64_t largest = 0;
    if (input_.yaml != nullptr) {
      for (const YamlRecord& record : input_.yaml->records) {
        if (record.kind == YamlKind::custom_event) largest = std::max(largest, record.data_bytes);
      }
    }
    for (const BufferFrame& frame : frames_.buffers) {
      FdrBufferEvents events(input_.file, input_.header, frame);
      TimedEvent event;
      while (events.next(event)) {
        if (event.kind == TimedEvent::Kind::custom)
          largest = std::max<uint64_t>(largest, event.payload.size());
      }
    }
    return largest;
  }

  void fdr_to_fdr() {
    FdrComposer composer(output_);
    for (const BufferFrame& frame : frames_.buffers) {
      if (out_.failed()) return;
      FdrBufferEvents events(input_.file, input_.header, frame);
      TimedEvent event;
      if (events.start().timed) {
        composer.open(events.start());
        while (events.next(event)) composer.add(event);
        composer.close();
      } else {
        loss_.add(Reason::untimed_buffer);
        while (events.next(event)) {
        }
      }
      if (const auto problem =
              walk_problem(events.end(), input_.file, input_.header, frame, input_.file_name)) {
        problems_.add(*problem);
        loss_.add(Reason::damaged_bytes, frame.end - events.end().offset);
      }
    }
  }

  // Mixed records of several threads: one open buffer for each thread.
  void records_to_fdr() {
    if (input_.yaml != nullptr) {
      for_each_group([&](const EventGroup& group) {
        record_to_fdr(group.event, group.tid, group.pid);
        for (const uint64_t value : group.arguments) {
          TimedEvent argument;
          argument.kind = TimedEvent::Kind::argument;
          argument.value = value;
          argument.function_id = group.event.function_id;
          record_to_fdr(argument, group.tid, group.pid);
        }
      });
    } else {
      const uint64_t lost_before = problems_.lost_bytes();
      struct Visitor {
        Conversion& conversion;
        void record(const BasicRecord& record) {
          conversion.record_to_fdr(timed_event(record), static_cast<int32_t>(record.tid),
                                   static_cast<int32_t>(record.pid));
        }
      } visitor{*this};
      for (const BasicRun& run :
           find_basic_runs(input_.file, input_.header, input_.file_name, problems_)) {
        walk_basic_records(input_.file, run.begin, run.end, input_.header, visitor);
      }
      loss_.add(Reason::damaged_bytes, problems_.lost_bytes() - lost_before);
    }
    close_all();
  }

  struct OpenThread {
    explicit OpenThread(FdrOutput& output) : composer(output) {}
    FdrComposer composer;
    uint16_t cpu = 0;
    bool takes_arguments = false;
    uint32_t function_id = 0;  // just entered
  };

  void record_to_fdr(const TimedEvent& event, int32_t tid, int32_t pid) {
    const uint64_t key = uint64_t{static_cast<uint32_t>(pid)} << 32 | static_cast<uint32_t>(tid);
    auto found = threads_.find(key);
    const bool argument = event.kind == TimedEvent::Kind::argument;
    if (argument && (found == threads_.end() || !found->second.takes_arguments ||
                     found->second.function_id != event.function_id)) {
      loss_.add(Reason::orphan_argument);
      return;
    }
    if (!argument && held_bytes_ > kMostHeldBytes) {
      close_all();
      found = threads_.end();
    }
    if (found == threads_.end()) {
      found = threads_.try_emplace(key, output_).first;
      found->second.cpu = event.cpu;
      found->second.composer.open(
          {.tid = tid, .pid = pid, .cpu = event.cpu, .tsc = event.tsc, .timed = true});
    }
    OpenThread& thread = found->second;
    const size_t held = thread.composer.held_bytes();
    if (!argument) {
      if (thread.cpu != event.cpu) {
        TimedEvent moved;
        moved.kind = TimedEvent::Kind::cpu;
        moved.cpu = thread.cpu = event.cpu;
        moved.tsc = event.tsc;
        thread.composer.add(moved);
      }
      thread.takes_arguments =
          event.kind == TimedEvent::Kind::call && event.action == FunctionAction::enter_args;
      thread.function_id = event.function_id;
    }
    thread.composer.add(event);
    held_bytes_ +=
        thread.composer.held_bytes() - held;  // may wrap around zero when a buffer is written out
  }

  void close_all() {
    // In order of thread, so that the output does not depend on a hash.
    std::vector<uint64_t> keys;
    for (const auto& [key, thread] : threads_) keys.push_back(key);
    std::ranges::sort(keys);
    for (const uint64_t key : keys) threads_.at(key).composer.close();
    threads_.clear();
    held_bytes_ = 0;
  }

  const Input& input_;
  const ConvertTarget& target_;
  FileHeader header_;
  BlockWriter& out_;
  ProblemLog& problems_;
  ConversionLoss loss_;
  FdrFrames frames_;
  FdrOutput output_;
  std::unordered_map<uint64_t, OpenThread> threads_;
  size_t held_bytes_ = 0;
};

Result<void> check_version(const ConvertTarget& target) {
  const uint16_t last = target.form == Form::fdr ? kLastFdrVersion : kLastBasicVersion;
  if (target.form != Form::yaml && (target.version < 1 || target.version > last)) {
    return usage_error(fmt::format("there is no version {} to convert to", target.version));
  }
  return {};
}

}  // namespace

std::optional<ConvertTarget> parse_convert_target(std::string_view text) {
  ConvertTarget target;
  if (text == "yaml") {
    target.form = Form::yaml;
    return target;
  }
  uint16_t last = kLastFdrVersion;
  if (text.starts_with("fdr")) {
    text.remove_prefix(3);
  } else if (text.starts_with("basic")) {
    text.remove_prefix(5);
    target.form = Form::basic;
    last = kLastBasicVersion;
  } else {
    return std::nullopt;
  }
  if (text.empty()) return target;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target.version);
  const bool known = error == std::errc() && end == text.data() + text.size() &&
                     target.version >= 1 && target.version <= last;
  return known ? std::optional(target) : std::nullopt;
}

Result<ConversionLoss> convert_trace(Bytes file, const std::string& file_name,
                                     const ConvertTarget& wanted, const ByteSink& sink,
                                     ProblemLog& problems) {
  ConvertTarget target = wanted;
  if (target.version == 0)
    target.version = target.form == Form::fdr ? kLastFdrVersion : kLastBasicVersion;
  if (const Result<void> known = check_version(target); !known)
    return std::unexpected(known.error());

  Input input{file, file_name, {}, nullptr};
  std::optional<YamlTrace> yaml;
  if (looks_like_yaml_trace(file)) {
    Result<YamlTrace> read = read_yaml_trace(file, file_name, problems);
    if (!read) return std::unexpected(read.error());
    yaml = std::move(*read);
    input.yaml = &*yaml;
    input.header = yaml->header;
  } else {
    const Result<FileHeader> header = read_file_header(file);
    if (!header) return std::unexpected(header.error());
    input.header = *header;
    const LogType type = target.form == Form::fdr ? LogType::fdr : LogType::basic;
    // A recorder's cells have unused space between the buffers, which LLVM's readers do not accept.
    const bool same = target.form != Form::yaml && !header->recorder.cells &&
                      header->type == type && header->version == target.version &&
                      target.order.value_or(header->order) == header->order;
    if (same) {
      if (const Result<void> done = rewrite_trace(file, sink); !done)
        return std::unexpected(done.error());
      ConversionLoss loss;
      loss.add(ConversionLoss::Reason::function_name, target.names_beside_input);
      return loss;
    }
  }
  BlockWriter out(sink);
  const ConversionLoss loss = Conversion(input, target, out, problems).run();
  if (const Result<void> done = out.finish(); !done) return std::unexpected(done.error());
  return loss;
}

}  // namespace telltale::xray
