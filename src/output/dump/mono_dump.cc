#include "output/dump/mono_dump.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/mono/event_fields.h"
#include "formats/mono/frames.h"

namespace telltale::mono {
namespace {

constexpr std::array<std::string_view, 4> kActions = {"", "leave", "enter", "exception_leave"};
constexpr std::array<std::string_view, 8> kMetadataActions = {
    "name", "start_load", "end_load", "start_unload", "end_unload", "?", "?", "?"};
constexpr std::array<std::string_view, 4> kFinalizePhases = {"start", "end", "object_start",
                                                             "object_end"};

// The codec that prints fields (event_fields.h). Lists are printed field by field: root_slot=[...]
// root_object=[...].
class FieldPrinter {
 public:
  FieldPrinter(DumpLine& line, DumpStyle style, const Layout& layout, uint8_t first_byte)
      : line_(line), json_(style == DumpStyle::json), layout_(layout), first_byte_(first_byte) {}

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] uint8_t info() const { return first_byte_ & 0xF0; }

  void uleb(const char* name, uint64_t& value) { add(name, std::to_string(value)); }
  void own_time(const char* name, uint64_t& value) { add(name, std::to_string(value)); }
  void int_uleb(const char* name, uint64_t& value) { add(name, std::to_string(value)); }
  void accumulated(const char* name, uint64_t& value, uint64_t) {
    add(name, std::to_string(value));
  }
  void sleb(const char* name, int64_t& value) { add(name, std::to_string(value)); }
  void byte(const char* name, uint8_t& value) { add(name, std::to_string(value)); }
  void small(const char* name, uint64_t& value, bool) { add(name, std::to_string(value)); }
  void pointer(const char* name, uint64_t& value) { add(name, address(value)); }
  void object(const char* name, uint64_t& value) { add(name, address(value)); }
  void method(const char* name, uint64_t& value) { add(name, address(value)); }
  void text(const char* name, std::string_view& value) {
    std::string quoted;
    append_quoted(quoted, value, json_);
    add(name, quoted);
  }
  void f64(const char* name, double& value) {
    add(name, json_ && !std::isfinite(value) ? "null" : fmt::format("{}", value));
  }
  uint64_t count(const char* name, size_t size) {
    if (item_ == nullptr) line_.number(name, size);
    return size;
  }
  template <typename Item, typename Each>
  void items(const char* name, std::span<const Item>& list, uint64_t, Each each) {
    item_ = name;
    for (Item item : list) each(item);
    end_list();
  }
  template <typename Each>
  void terminated(const char* name, std::span<const CounterValue>& list, Each each) {
    item_ = "counter";
    for (CounterValue value : list) {
      add(name, std::to_string(value.index));
      each(value);
    }
    end_list();
  }
  void reject(const char*) {}

 private:
  [[nodiscard]] std::string address(uint64_t value) const {
    return json_ ? std::to_string(value) : fmt::format("0x{:x}", value);
  }
  void add(std::string_view name, std::string value) {
    if (item_ == nullptr) {
      line_.raw(name, value);
      return;
    }
    for (auto& [known, values] : columns_) {
      if (known != name) continue;
      values += "," + value;
      return;
    }
    columns_.emplace_back(name, std::move(value));
  }
  void end_list() {
    for (const auto& [name, values] : columns_) {
      line_.raw(name == item_ ? std::string(name) : fmt::format("{}_{}", item_, name),
                "[" + values + "]");
    }
    columns_.clear();
    item_ = nullptr;
  }

  DumpLine& line_;
  bool json_;
  const Layout& layout_;
  uint8_t first_byte_;
  const char* item_ = nullptr;  // name of the list being printed
  std::vector<std::pair<std::string_view, std::string>> columns_;
};

class Dumper {
 public:
  Dumper(const Layout& layout, DumpStyle style, BlockWriter& out, RecordSelector* selector)
      : layout_(layout), style_(style), out_(out), selector_(selector) {}

  void begin_buffer(const BufferFrame& frame, uint32_t pid) {
    time_ = frame.header.time_base;
    if (selector_ != nullptr) selector_->begin_buffer(pid, frame.header.thread);
    if (!here()) return;
    DumpLine line(style_, frame.offset, "Buffer", out_.block());
    line.number("length", frame.header.length).number("time_base", frame.header.time_base);
    FieldPrinter printer(line, style_, layout_, 0);
    BufferHeader header = frame.header;
    printer.pointer("pointer_base", header.pointer_base);
    printer.pointer("object_base", header.object_base);
    printer.pointer("thread", header.thread);
    printer.pointer("method_base", header.method_base);
  }
  void event(const EventHead& head, const Call& call) {
    time_ = head.time;
    if (selector_ != nullptr && !selector_->call(head.time, call)) return;
    print(head, call);
  }
  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    time_ = head.time;
    if (here()) print(head, record);
  }
  void skipped(uint64_t offset, uint64_t bytes, std::string_view reason) {
    if (!here()) return;
    DumpLine(style_, offset, "Skipped", out_.block()).word("reason", reason).number("bytes", bytes);
    out_.flush_if_full();
  }
  void problem(const Problem& problem) {
    if (here()) dump_problem(problem, style_, out_);
  }

 private:
  // Whether the selector selects the current event.
  [[nodiscard]] bool here() const {
    return selector_ == nullptr || !in_buffer_once() || selector_->other(time_);
  }
  [[nodiscard]] bool in_buffer_once() const { return time_ != kNoTime; }

  template <typename Record>
  void print(const EventHead& head, Record record) {
    {
      DumpLine line(style_, head.offset, event_name(head.kind), out_.block());
      line.number("time", head.time);
      describe(line, head, record);
      FieldPrinter printer(line, style_, layout_, head.first_byte);
      fields(printer, record);
    }
    out_.flush_if_full();
  }
  // Content of the first byte other than the kind.
  template <typename Record>
  static void describe(DumpLine&, const EventHead&, const Record&) {}
  static void describe(DumpLine& line, const EventHead&, const Call& r) {
    line.word("action", kActions[static_cast<size_t>(r.action)]);
  }
  static void describe(DumpLine& line, const EventHead&, const Metadata& r) {
    line.word("action", kMetadataActions[static_cast<size_t>(r.action)]);
    if (r.load_error) line.flag("load_error", true);
  }
  static void describe(DumpLine& line, const EventHead&, const GcHandle& r) {
    line.flag("created", r.created);
  }
  static void describe(DumpLine& line, const EventHead&, const GcFinalize& r) {
    line.word("phase", kFinalizePhases[static_cast<size_t>(r.phase)]);
  }
  static void describe(DumpLine& line, const EventHead&, const HeapShot& r) {
    line.word("phase", r.begin ? "begin" : "end");
  }
  static void describe(DumpLine& line, const EventHead&, const HeapRootArea& r) {
    line.flag("registered", r.registered);
  }
  void describe(DumpLine& line, const EventHead&, const Monitor& r) const {
    if (!layout_.monitor_action_is_byte) line.number("action", r.action);
  }

  static constexpr uint64_t kNoTime = ~uint64_t{0};
  const Layout& layout_;
  DumpStyle style_;
  BlockWriter& out_;
  RecordSelector* selector_;
  uint64_t time_ = kNoTime;
};

void tell_header(const FileHeader& header, const std::string& file_name, DumpStyle style,
                 std::string& out) {
  DumpLine line(style, 0, "FileHeader", out);
  if (style == DumpStyle::json) line.text("file", file_name);
  line.word("format", "mono")
      .number("version", header.version)
      .number("major", header.major)
      .number("minor", header.minor)
      .number("pointer_size", header.pointer_size)
      .number("startup_ms", header.startup_ms)
      .number("startup_ns", header.startup_ns)
      .number("timer_overhead_ns", header.timer_overhead_ns)
      .number("flags", header.flags)
      .number("pid", header.pid)
      .number("port", header.port)
      .text("arguments", header.arguments)
      .text("architecture", header.architecture)
      .text("operating_system", header.operating_system);
}

}  // namespace

Result<void> dump_recording(Bytes file, const std::string& file_name, DumpStyle style,
                            const ByteSink& sink, ProblemLog& problems, RecordSelector* selector) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  const BufferFrames frames = frame_file(file, *header, file_name);
  const Layout layout = find_layout(file, *header, frames);
  problems.merge(frames.problems);
  BlockWriter out(sink);
  tell_header(*header, file_name, style, out.block());
  Dumper dumper(layout, style, out, selector);
  const std::vector<Problem> framing = frames.problems.kept();
  auto next_problem = framing.begin();
  auto next_gap = frames.gaps.begin();
  const auto tell_until = [&](uint64_t offset) {
    for (; next_problem != framing.end() && next_problem->offset <= offset; ++next_problem)
      dumper.problem(*next_problem);
    for (; next_gap != frames.gaps.end() && next_gap->offset <= offset; ++next_gap)
      dumper.skipped(next_gap->offset, next_gap->bytes, "gap");
  };
  for (const BufferFrame& frame : frames.buffers) {
    if (out.failed()) break;
    tell_until(frame.offset);
    dumper.begin_buffer(frame, header->pid);
    const DecodeEnd end =
        decode_buffer(frame.events(file), frame.header.bases(header->address_mask()), frame.begin,
                      layout, dumper);
    if (!end.error) continue;
    const Problem problem = decode_problem(end, frame, file_name);
    problems.add(problem);
    dumper.problem(problem);
    dumper.skipped(end.offset, frame.end - end.offset, "damage");
  }
  tell_until(file.size());
  return out.finish();
}

}  // namespace telltale::mono
