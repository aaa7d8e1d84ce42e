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

constexpr Field kFile = field::text("file", "Name of the file.");
constexpr Field kAction = field::text("action",
                                      "What the record says: enter, exit, tail_exit or enter_args; "
                                      "of text also custom_event or typed_event.");
constexpr Field kFunctionId =
    field::signed_id("function_id", "Number of the function in the program's instrumentation map.");
constexpr Field kTsc = field::number_id("tsc", "Time in ticks of the recording's clock.");
constexpr Field kTid = field::signed_id("tid", "Thread.");
constexpr Field kPid = field::signed_id("pid", "Process.");
constexpr Field kCpu = field::number_id("cpu", "Processor.");
constexpr Field kEventType =
    field::number_id("event_type", "Type of a typed event, as the program registered it.");
constexpr Field kDataHex = field::text("data_hex", "Data of an event, as hexadecimal digits.");
constexpr Field kFormat = field::text("format", "xray-fdr, xray-basic or xray-yaml.");
constexpr Field kVersion = field::number_id("version", "Version of the format.");
constexpr Field kFrequency = {"cycle_frequency", ValueType::unsigned_integer, Unit::hertz,
                              "Ticks per second; 0: unknown."};

constexpr auto kTraceFields = std::to_array<Field>({
    kFile,
    kFormat,
    kVersion,
    field::text("order", "Byte order: little or big."),
    field::truth("constant_tsc", "Whether the clock has a constant rate, says the recorder."),
    field::truth("nonstop_tsc", "Whether the clock runs in all power states, says the recorder."),
    kFrequency,
    field::bytes("buffer_size", "Size of a buffer."),
    kAction,
    kFunctionId,
    {"tsc_delta", ValueType::integer, Unit::none, "Ticks since the previous record."},
    kTsc,
    {"wait_us", ValueType::unsigned_integer, Unit::us,
     "Of the time since the thread's previous record, that in which it was on no processor."},
    kTid,
    kPid,
    kCpu,
    {"seconds", ValueType::integer, Unit::none, "Seconds of the recorder's clock."},
    {"microseconds", ValueType::integer, Unit::us, "The part below a second."},
    field::number_id("value", "The call's argument."),
    field::change("size", Unit::bytes, "Bytes of data."),
    kEventType,
    kDataHex,
    field::bytes("BufferExtents.bytes", "Bytes of the buffer after this record."),
});
constexpr auto kYamlFields = std::to_array<Field>({
    kFile,
    kFormat,
    kVersion,
    kFrequency,
    kAction,
    kFunctionId,
    field::text("function", "Name of the function in the text."),
    kEventType,
    kDataHex,
    kTsc,
    kTid,
    kPid,
    kCpu,
    field::list_of("arguments", ValueType::unsigned_integer, "The call's arguments."),
});

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
  Dumper(Bytes file, const FileHeader& header, const std::string& file_name, DumpOutput& out,
         ProblemLog& problems, RecordSelector* selector)
      : file_(file),
        header_(header),
        file_name_(file_name),
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
    DumpLine line(out_, offset, "Function");
    print(record, line);
  }
  void metadata(const FdrRecord& record) {
    follow_time(record.payload);
    if (selector_ != nullptr && !selector_->metadata(record)) return;
    DumpLine line(out_, record.offset, record_name(record.payload));
    std::visit([&](const auto& payload) { print(payload, line); }, record.payload);
    if (std::holds_alternative<TscWrap>(record.payload) &&
        (header_.recorder.waits || line.declares())) {
      line.raw("wait_us", fmt::format("{}", wait_us(record.raw, header_)),
               ValueType::unsigned_integer, true);
    }
  }
  void skipped(const SkippedBytes& skipped) {
    if (selector_ != nullptr && !selector_->here()) return;
    DumpLine(out_, skipped.offset, "Skipped")
        .word("reason", kSkipReasons[static_cast<size_t>(skipped.reason)])
        .number("bytes", skipped.bytes.size());
  }
  void problem(const Problem& problem) {
    problems_.add(problem);
    if (selector_ != nullptr && !selector_->here()) return;
    dump_problem(problem, out_);
  }

  void record(const BasicRecord& record) {
    if (selector_ != nullptr && !selector_->basic(record)) return;
    const bool call = record.type == BasicRecordType::normal;
    DumpLine line(out_, record.offset, call ? "BasicCall" : "BasicArgument");
    print(record, line);
  }
  void tell_header() {
    DumpLine line(out_, 0, "FileHeader");
    if (!out_.for_people()) line.text("file", file_name_);
    line.word("format", header_.type == LogType::fdr ? "xray-fdr" : "xray-basic")
        .number("version", header_.version)
        .word("order", header_.order == std::endian::little ? "little" : "big")
        .flag("constant_tsc", header_.constant_tsc)
        .flag("nonstop_tsc", header_.nonstop_tsc)
        .number("cycle_frequency", header_.cycle_frequency);
    if (header_.type == LogType::fdr) line.number("buffer_size", header_.buffer_size);
  }

 private:
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
  DumpOutput& out_;
  ProblemLog& problems_;
  RecordSelector* selector_;
  uint64_t now_ = 0;  // ticks that the open buffer's deltas count from
};

// A record of each kind of metadata.
template <size_t kKind = 0>
void tell_every_kind(Dumper& dumper) {
  if constexpr (kKind < std::variant_size_v<FdrPayload>) {
    dumper.metadata({0, {}, FdrPayload(std::in_place_index<kKind>)});
    tell_every_kind<kKind + 1>(dumper);
  }
}

// A YAML trace: its header, records and problems by position.
void dump_yaml(const YamlTrace& trace, const std::string& file_name, const ProblemLog& problems,
               DumpOutput& out, RecordSelector* selector) {
  static constexpr std::array<std::string_view, 6> kKinds = {
      "enter", "exit", "tail_exit", "enter_args", "custom_event", "typed_event"};
  {
    DumpLine line(out, 0, "FileHeader");
    if (!out.for_people()) line.text("file", file_name);
    line.word("format", "xray-yaml")
        .number("version", trace.header.version)
        .number("cycle_frequency", trace.header.cycle_frequency);
  }
  const std::vector<Problem> kept = problems.kept();
  auto problem = kept.begin();
  const auto tell_problems_before = [&](uint64_t offset) {
    for (; problem != kept.end() && problem->offset < offset; ++problem) {
      dump_problem(*problem, out);
    }
  };
  for (const YamlRecord& record : trace.records) {
    tell_problems_before(record.offset);
    if (selector != nullptr && !selector->yaml(record)) continue;
    const TimedEvent event = timed_event(trace, record);
    DumpLine line(out, record.offset, "YamlRecord");
    line.word("action", kKinds[static_cast<size_t>(record.kind)]);
    if (event.kind == TimedEvent::Kind::call) {
      line.number("function_id", static_cast<int32_t>(record.function_id))
          .text("function", trace.names[record.name]);
    } else {
      line.number("event_type", event.event_type).bytes(event.payload);
    }
    line.number("tsc", record.tsc).number("tid", record.thread).number("pid", record.process);
    line.number("cpu", record.cpu).numbers("arguments", trace.arguments_of(record));
  }
  tell_problems_before(UINT64_MAX);
}

}  // namespace

Result<void> dump_trace(Bytes file, const std::string& file_name, DumpStyle style,
                        const ByteSink& sink, ProblemLog& problems, RecordSelector* selector) {
  DumpOutput out(style, sink);
  if (looks_like_yaml_trace(file)) {
    ProblemLog found;
    const Result<YamlTrace> trace = read_yaml_trace(file, file_name, found);
    problems.merge(found);
    if (!trace) return std::unexpected(trace.error());
    dump_yaml(*trace, file_name, found, out, selector);
    return out.finish();
  }
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  Dumper(file, *header, file_name, out, problems, selector).run();
  return out.finish();
}

std::vector<RecordTable> trace_records() {
  return record_tables(kTraceFields, [](DumpOutput& out) {
    const std::string name;
    ProblemLog problems;
    for (const LogType type : {LogType::fdr, LogType::basic}) {
      for (uint16_t version = 1; version <= kLastFdrVersion; ++version) {
        FileHeader header;
        header.type = type;
        header.version = version;
        Dumper dumper({}, header, name, out, problems, nullptr);
        dumper.tell_header();
        if (type == LogType::fdr) {
          dumper.function(0, {});
          tell_every_kind(dumper);
        } else if (version <= kLastBasicVersion) {
          dumper.record({.type = BasicRecordType::normal});
          dumper.record({.type = BasicRecordType::argument});
        }
        dumper.skipped({});
        dumper.problem({});
      }
    }
  });
}

std::vector<RecordTable> yaml_records() {
  return record_tables(kYamlFields, [](DumpOutput& out) {
    YamlTrace trace;
    trace.names.emplace_back();
    trace.records = {{.kind = YamlKind::enter}, {.kind = YamlKind::typed_event}};
    ProblemLog problems;
    problems.add({});
    dump_yaml(trace, "", problems, out, nullptr);
  });
}

}  // namespace telltale::xray
