#include "output/dump/xray_dump.h"

#include <array>
#include <concepts>
#include <string_view>
#include <variant>

#include "formats/xray/fdr_file_walk.h"
#include "formats/xray/record_fields.h"
#include "formats/xray/yaml_trace.h"

namespace telltale::xray {
namespace {

constexpr std::array<std::string_view, 4> kActionNames = {"enter", "exit", "tail_exit",
                                                          "enter_args"};
constexpr std::array<std::string_view, 3> kSkipReasons = {"filler", "gap", "damage"};

// The codec that prints the fields of records (record_fields.h). A time since the previous record
// is followed by the time itself.
class FieldPrinter {
 public:
  FieldPrinter(DumpLine& line, uint16_t version, uint64_t now)
      : line_(line), version_(version), now_(now) {}

  [[nodiscard]] uint16_t version() const { return version_; }
  template <std::integral T>
  void number(std::string_view name, T value) {
    line_.number(name, value);
  }
  template <std::integral T>
  void since_last(std::string_view name, T value) {
    line_.number(name, value).number("tsc", now_);
  }
  void call(FunctionAction action, uint32_t function_id) {
    line_.word("action", kActionNames[static_cast<size_t>(action)]);
    line_.number("function_id", function_id);
  }
  void payload(Bytes bytes) { line_.bytes(bytes); }
  template <std::integral T>
  void number_at(size_t, std::string_view name, T value) {
    line_.number(name, value);
  }
  void kind_at(size_t, BasicKind kind) {
    line_.word("action", kActionNames[static_cast<size_t>(kind)]);
  }

 private:
  DumpLine& line_;
  uint16_t version_;
  uint64_t now_;
};

class Dumper {
 public:
  Dumper(Bytes file, const FileHeader& header, const std::string& file_name, DumpStyle style,
         BlockWriter& out, ProblemLog& problems, RecordSelector* selector)
      : file_(file),
        header_(header),
        file_name_(file_name),
        style_(style),
        out_(out),
        problems_(problems),
        selector_(selector) {}

  void run() {
    tell_header();
    if (header_.type == LogType::fdr) {
      const FdrFrames frames = frame_fdr_file(file_, header_, file_name_);
      walk_fdr_file(file_, header_, frames, file_name_, *this);
    } else {
      tell_basic();
    }
  }

  void begin_buffer(const BufferFrame& frame) {
    now_ = 0;
    if (selector_ != nullptr) selector_->begin_buffer(frame.pid, frame.tid, frame.first_tsc);
  }
  void end_buffer(const BufferFrame&) {}
  void function(uint64_t offset, const FunctionRecord& record) {
    now_ += record.tsc_delta;
    if (selector_ != nullptr && !selector_->function(record)) return;
    {
      DumpLine line(style_, offset, "Function", out_.block());
      print(record, line);
    }
    out_.flush_if_full();
  }
  void metadata(const FdrRecord& record) {
    follow_time(record.payload);
    if (selector_ != nullptr && !selector_->metadata(record)) return;
    {
      DumpLine line(style_, record.offset, record_name(record.payload), out_.block());
      std::visit([&](const auto& payload) { print(payload, line); }, record.payload);
    }
    out_.flush_if_full();
  }
  void skipped(const SkippedBytes& skipped) {
    if (selector_ != nullptr && !selector_->here()) return;
    DumpLine(style_, skipped.offset, "Skipped", out_.block())
        .word("reason", kSkipReasons[static_cast<size_t>(skipped.reason)])
        .number("bytes", skipped.bytes.size());
    out_.flush_if_full();
  }
  void problem(const Problem& problem) {
    problems_.add(problem);
    if (selector_ != nullptr && !selector_->here()) return;
    dump_problem(problem, style_, out_);
  }

  void record(const BasicRecord& record) {
    if (selector_ != nullptr && !selector_->basic(record)) return;
    {
      const bool call = record.type == BasicRecordType::normal;
      DumpLine line(style_, record.offset, call ? "BasicCall" : "BasicArgument", out_.block());
      print(record, line);
    }
    out_.flush_if_full();
  }

 private:
  void tell_header() {
    DumpLine line(style_, 0, "FileHeader", out_.block());
    if (style_ == DumpStyle::json) line.text("file", file_name_);
    line.word("format", header_.type == LogType::fdr ? "xray-fdr" : "xray-basic")
        .number("version", header_.version)
        .word("order", header_.order == std::endian::little ? "little" : "big")
        .flag("constant_tsc", header_.constant_tsc)
        .flag("nonstop_tsc", header_.nonstop_tsc)
        .number("cycle_frequency", header_.cycle_frequency);
    if (header_.type == LogType::fdr) line.number("buffer_size", header_.buffer_size);
  }
  void tell_basic() {
    uint64_t at = kFileHeaderBytes;
    for (; at + kBasicRecordBytes <= file_.size() && !out_.failed(); at += kBasicRecordBytes) {
      Cursor in(file_.subspan(static_cast<size_t>(at), kBasicRecordBytes), header_.order, at);
      if (const Result<BasicRecord> whole = read_basic_record(in, header_.version)) {
        record(*whole);
      } else {
        problem(bad_basic_record(whole.error(), file_name_));
        skipped({at, file_.subspan(static_cast<size_t>(at), kBasicRecordBytes),
                 SkippedBytes::Reason::damage});
      }
    }
    if (at < file_.size()) {
      problem(torn_basic_record(at, file_.size() - at, file_name_));
      skipped({at, file_.subspan(static_cast<size_t>(at)), SkippedBytes::Reason::damage});
    }
  }

  // Deltas of events before version 5 are 0: those have their own time.
  void follow_time(const FdrPayload& payload) {
    if (const auto* cpu = std::get_if<NewCpuId>(&payload)) {
      now_ = cpu->tsc;
    } else if (const auto* wrap = std::get_if<TscWrap>(&payload)) {
      now_ = wrap->tsc;
    } else if (const auto* custom = std::get_if<CustomEvent>(&payload)) {
      now_ += static_cast<uint64_t>(int64_t{custom->tsc_delta});
    } else if (const auto* typed = std::get_if<TypedEvent>(&payload)) {
      now_ += static_cast<uint64_t>(int64_t{typed->tsc_delta});
    }
  }

  template <typename Record>
  void print(Record record, DumpLine& line) const {
    FieldPrinter printer(line, header_.version, now_);
    fields(printer, record);
  }

  Bytes file_;
  const FileHeader& header_;
  const std::string& file_name_;
  DumpStyle style_;
  BlockWriter& out_;
  ProblemLog& problems_;
  RecordSelector* selector_;
  uint64_t now_ = 0;  // ticks that the open buffer's deltas count from
};

// A YAML trace: its header, records and problems by position.
void dump_yaml(const YamlTrace& trace, const std::string& file_name, DumpStyle style,
               const ProblemLog& problems, BlockWriter& out, RecordSelector* selector) {
  static constexpr std::array<std::string_view, 6> kKinds = {
      "enter", "exit", "tail_exit", "enter_args", "custom_event", "typed_event"};
  {
    DumpLine line(style, 0, "FileHeader", out.block());
    if (style == DumpStyle::json) line.text("file", file_name);
    line.word("format", "xray-yaml")
        .number("version", trace.header.version)
        .number("cycle_frequency", trace.header.cycle_frequency);
  }
  const std::vector<Problem> kept = problems.kept();
  auto problem = kept.begin();
  const auto tell_problems_before = [&](uint64_t offset) {
    for (; problem != kept.end() && problem->offset < offset; ++problem) {
      dump_problem(*problem, style, out);
    }
  };
  for (const YamlRecord& record : trace.records) {
    tell_problems_before(record.offset);
    if (selector != nullptr && !selector->yaml(record)) continue;
    const TimedEvent event = timed_event(trace, record);
    DumpLine line(style, record.offset, "YamlRecord", out.block());
    line.word("action", kKinds[static_cast<size_t>(record.kind)]);
    if (event.kind == TimedEvent::Kind::call) {
      line.number("function_id", static_cast<int32_t>(record.function_id))
          .text("function", trace.names[record.name]);
    } else {
      line.number("event_type", event.event_type).bytes(event.payload);
    }
    line.number("tsc", record.tsc).number("tid", record.thread).number("pid", record.process);
    line.number("cpu", record.cpu).numbers("arguments", trace.arguments_of(record));
    out.flush_if_full();
  }
  tell_problems_before(UINT64_MAX);
}

}  // namespace

Result<void> dump_trace(Bytes file, const std::string& file_name, DumpStyle style,
                        const ByteSink& sink, ProblemLog& problems, RecordSelector* selector) {
  BlockWriter out(sink);
  if (looks_like_yaml_trace(file)) {
    ProblemLog found;
    const Result<YamlTrace> trace = read_yaml_trace(file, file_name, found);
    problems.merge(found);
    if (!trace) return std::unexpected(trace.error());
    dump_yaml(*trace, file_name, style, found, out, selector);
    return out.finish();
  }
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  Dumper(file, *header, file_name, style, out, problems, selector).run();
  return out.finish();
}

}  // namespace telltale::xray
