#include "output/dump/mono_dump.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/mono/event_fields.h"
#include "formats/mono/field_reader.h"
#include "formats/mono/frames.h"

namespace telltale::mono {
namespace {

constexpr std::array<std::string_view, 4> kActions = {"", "leave", "enter", "exception_leave"};
constexpr std::array<std::string_view, 8> kMetadataActions = {
    "name", "start_load", "end_load", "start_unload", "end_unload", "?", "?", "?"};
constexpr std::array<std::string_view, 4> kFinalizePhases = {"start", "end", "object_start",
                                                             "object_end"};

constexpr Field address_field(std::string_view key, std::string_view sentence) {
  return field::number_id(key, sentence);
}
constexpr Field numbers_field(std::string_view key, std::string_view sentence) {
  return field::list_of(key, ValueType::unsigned_integer, sentence);
}

constexpr auto kFields = std::to_array<Field>({
    // The file and its buffers
    field::text("file", "Name of the file."),
    field::text("format", "mono."),
    field::number_id("version", "Data version."),
    field::number_id("major", "Version of the profiler, the part before the point."),
    field::number_id("minor", "Version of the profiler, the part after the point."),
    field::bytes("pointer_size", "Size of a pointer of the program."),
    field::ms("startup_ms", "Start of the program, since 1970."),
    field::ns("startup_ns", "Start of the program, on the clock of the events."),
    field::ns("timer_overhead_ns", "What it costs to read the clock."),
    field::number_id("FileHeader.flags", "Flags of the profiler."),
    field::number_id("pid", "Process."),
    field::number_id("port", "TCP port of the profiler's commands; 0: none."),
    field::text("arguments", "Command line of the program."),
    field::text("architecture", "Processor, as Mono names it."),
    field::text("operating_system", "System, as Mono names it."),
    field::bytes("length", "Bytes of events in the buffer."),
    field::ns("time_base", "Time that the buffer's times count from."),
    address_field("pointer_base", "Address that the buffer's addresses count from."),
    address_field("object_base", "Address that the buffer's objects count from, an eighth of it."),
    address_field("thread", "Thread, as the address of its id."),
    address_field("method_base", "Address that the buffer's methods count from."),
    // Events
    field::ns("time", "Time of the event; of the previous one if it has none."),
    field::text("action", "What happened: one word for each value of the format."),
    field::number_id("Monitor.action", "1 contention, 2 acquired, 3 given up."),
    field::text("phase", "Beginning or end, of all or of one object."),
    field::truth("created", "Whether the handle was created; else it was destroyed."),
    field::truth("registered", "Whether the area was registered; else it was removed."),
    field::truth("load_error", "Loading failed."),
    field::number_id("mtype", "What is loaded: number of the metadata's kind."),
    address_field("pointer", "Address of what is loaded; id of a domain, context or thread."),
    address_field("image", "Address of the image."),
    address_field("domain", "Id of the domain."),
    field::number_id("flags", "Flags of the metadata."),
    field::text("name", "Name."),
    field::text("mvid", "Module version id of the image."),
    field::number_id("type", "Number of the kind, as the format's page lists them."),
    address_field("Alloc.type", "Address of the class; of its vtable since version 15."),
    address_field("HeapObject.type", "Address of the class; of its vtable since version 15."),
    address_field("Metadata.type", "Address of the vtable's class."),
    address_field("object", "Address of the object."),
    field::bytes("size", "Size."),
    field::bytes("heap_size", "New size of the heap."),
    field::number_id("event", "Step of the collection, as the format's page lists them."),
    field::number_id("generation", "Generation of the collector."),
    field::count("objects", "Addresses in the list: old and new, alternately."),
    numbers_field("GcMove.object", "Old and new addresses, alternately."),
    field::number_id("handle", "Number of the handle."),
    field::number_id("backtrace_flags", "Flags of the backtrace; 0."),
    field::count("frames", "Frames of managed code."),
    numbers_field("frame", "Methods of the frames, outermost first."),
    address_field("method", "Address of the method."),
    address_field("code", "Address of the code; 0: not compiled here."),
    field::bytes("code_size", "Size of the code."),
    field::number_id("index", "Number of the clause in its method."),
    field::count("references", "References of the object."),
    numbers_field("reference_offset", "Places in the object, in bytes."),
    numbers_field("reference_object", "Addresses of the objects that it refers to."),
    field::count("roots", "Roots."),
    field::count("collections", "Major collections so far."),
    numbers_field("root_slot", "Addresses of the roots."),
    numbers_field("root_object", "Addresses of the objects that roots refer to."),
    numbers_field("root_type", "Kinds of the roots."),
    numbers_field("root_extra", "What else is known of the roots."),
    address_field("start", "Address of the area."),
    field::number_id("source", "What has the roots, as the format's page lists it."),
    address_field("key", "Address or number by which the source knows the area."),
    field::ns("timestamp", "Time of the sample."),
    field::count("addresses", "Native frames."),
    numbers_field("SampleHit.address", "Addresses of native code, leaf first."),
    numbers_field("frame_method", "Methods of managed frames, leaf first."),
    field::list_of("frame_il_offset", ValueType::integer, "Places in the methods' bytecode."),
    field::list_of("frame_native_offset", ValueType::integer, "Places in the methods' code."),
    address_field("address", "Address."),
    field::signed_id("NativeBinary.address", "Address."),
    field::number_id("file_offset", "Place in the file."),
    field::count("counters", "Counters that are described."),
    numbers_field("counter_section", "Numbers of the counters' sections."),
    field::list_of("counter_section_name", ValueType::text, "Sections of performance counters."),
    field::list_of("counter_name", ValueType::text, "Names of the counters."),
    numbers_field("counter_type", "Types of the values."),
    numbers_field("counter_unit", "Units of the counters."),
    numbers_field("counter_variance", "How the counters change."),
    numbers_field("counter_index", "Numbers of the counters."),
    field::list_of("counter_value", ValueType::scalar,
                   "Values: differences from the last ones, numbers that are not finite as null.")
        .or_null(),
    numbers_field("counter_has_text", "Whether there is a text, for counters that are texts."),
    field::ms("timestamp_ms", "Time since the program's start."),
    field::text("guid", "Id of the assembly."),
    field::text("CoverageAssembly.file", "Path of the assembly."),
    field::text("CoverageMethod.file", "Source file."),
    field::count("methods", "Methods."),
    field::count("fully_covered", "Methods of which every statement ran."),
    field::count("partially_covered", "Methods of which a part ran."),
    field::text("assembly", "Name of the assembly."),
    field::text("CoverageMethod.type", "Name of the class."),
    field::text("signature", "Signature of the method."),
    field::number_id("token", "Metadata token of the method."),
    field::number_id("CoverageMethod.id", "Number of the method in this recording."),
    field::count("statements", "Statements of the method."),
    field::number_id("method_id", "Number of the method in this recording."),
    field::number_id("il_offset", "Place in the method's bytecode."),
    field::count("counter", "How often the statement ran."),
    field::number_id("line", "Line in the source file."),
    field::number_id("column", "Column in the source file."),
    field::number_id("kind", "Number of the sync point's kind."),
    field::text("AotId.id", "Id of the compiled image."),
});

// The codec that prints fields (event_fields.h). Lists are printed field by field: root_slot=[...]
// root_object=[...].
class FieldPrinter {
 public:
  FieldPrinter(DumpLine& line, const Layout& layout, uint8_t first_byte)
      : line_(line), layout_(layout), first_byte_(first_byte) {}

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] uint8_t info() const { return first_byte_ & 0xF0; }

  void uleb(const char* name, uint64_t& value) { number(name, value); }
  void own_time(const char* name, uint64_t& value) { number(name, value); }
  void int_uleb(const char* name, uint64_t& value) { number(name, value); }
  void accumulated(const char* name, uint64_t& value, uint64_t) { number(name, value); }
  void sleb(const char* name, int64_t& value) { number(name, value); }
  void byte(const char* name, uint8_t& value) { number(name, value); }
  void small(const char* name, uint64_t& value, bool) { number(name, value); }
  void pointer(const char* name, uint64_t& value) { address(name, value); }
  void object(const char* name, uint64_t& value) { address(name, value); }
  void method(const char* name, uint64_t& value) { address(name, value); }
  void text(const char* name, std::string_view& value) {
    if (item_ == nullptr) {
      line_.text(name, value);
      return;
    }
    std::string quoted;
    append_quoted(quoted, value, !line_.for_people());
    add(name, quoted, ValueType::text);
  }
  void f64(const char* name, double& value) {
    const bool null = !line_.for_people() && !std::isfinite(value);
    add(name, null ? "null" : fmt::format("{}", value), ValueType::number);
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
      number(name, value.index);
      each(value);
    }
    end_list();
  }
  void reject(const char*) {}

 private:
  template <std::integral T>
  void number(const char* name, T value) {
    add(name, std::to_string(value),
        std::is_signed_v<T> ? ValueType::integer : ValueType::unsigned_integer);
  }
  // Numbers for programs.
  void address(const char* name, uint64_t value) {
    add(name, line_.for_people() ? fmt::format("0x{:x}", value) : std::to_string(value),
        ValueType::unsigned_integer);
  }
  void add(std::string_view name, std::string value, ValueType type) {
    if (item_ == nullptr) {
      line_.raw(name, value, type);
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
                "[" + values + "]", ValueType::list, /*may_lack=*/true);
    }
    columns_.clear();
    item_ = nullptr;
  }

  DumpLine& line_;
  const Layout& layout_;
  uint8_t first_byte_;
  const char* item_ = nullptr;  // name of the list being printed
  std::vector<std::pair<std::string_view, std::string>> columns_;
};

class Dumper {
 public:
  Dumper(const Layout& layout, DumpOutput& out, RecordSelector* selector)
      : layout_(layout), out_(out), selector_(selector) {}

  void begin_buffer(const BufferFrame& frame, uint32_t pid) {
    time_ = frame.header.time_base;
    if (selector_ != nullptr) selector_->begin_buffer(pid, frame.header.thread);
    if (!here()) return;
    DumpLine line(out_, frame.offset, "Buffer");
    line.number("length", frame.header.length).number("time_base", frame.header.time_base);
    FieldPrinter printer(line, layout_, 0);
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
    DumpLine(out_, offset, "Skipped").word("reason", reason).number("bytes", bytes);
  }
  void problem(const Problem& problem) {
    if (here()) dump_problem(problem, out_);
  }

 private:
  // Whether the selector selects the current event.
  [[nodiscard]] bool here() const {
    return selector_ == nullptr || !in_buffer_once() || selector_->other(time_);
  }
  [[nodiscard]] bool in_buffer_once() const { return time_ != kNoTime; }

  template <typename Record>
  void print(const EventHead& head, Record record) {
    DumpLine line(out_, head.offset, event_name(head.kind));
    line.number("time", head.time);
    describe(line, head, record);
    FieldPrinter printer(line, layout_, head.first_byte);
    fields(printer, record);
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
  DumpOutput& out_;
  RecordSelector* selector_;
  uint64_t time_ = kNoTime;
};

void tell_header(const FileHeader& header, const std::string& file_name, DumpOutput& out) {
  DumpLine line(out, 0, "FileHeader");
  if (!out.for_people()) line.text("file", file_name);
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

// A codec that gives all numbers of a record the same value, all bytes another, and every list one
// item.
class SampleReader {
 public:
  SampleReader(const Layout& layout, uint8_t first_byte, uint64_t number, uint8_t byte,
               ListRoom& room)
      : layout_(layout), first_byte_(first_byte), number_(number), byte_(byte), room_(room) {}

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] uint8_t info() const { return first_byte_ & 0xF0; }
  [[nodiscard]] bool rejected() const { return rejected_; }

  void uleb(const char*, uint64_t& value) { value = number_; }
  void own_time(const char*, uint64_t& value) { value = number_; }
  void int_uleb(const char*, uint64_t& value) { value = number_; }
  void accumulated(const char*, uint64_t& value, uint64_t) { value = number_; }
  void sleb(const char*, int64_t& value) { value = static_cast<int64_t>(number_); }
  void byte(const char*, uint8_t& value) { value = byte_; }
  void small(const char*, uint64_t& value, bool) { value = number_; }
  void pointer(const char*, uint64_t& value) { value = number_; }
  void object(const char*, uint64_t& value) { value = number_; }
  void method(const char*, uint64_t& value) { value = number_; }
  void text(const char*, std::string_view&) {}
  void f64(const char*, double&) {}
  uint64_t count(const char*, size_t) { return 1; }
  template <typename Item, typename Each>
  void items(const char*, std::span<const Item>& list, uint64_t, Each each) {
    std::vector<Item>& room = room_.of(static_cast<const Item*>(nullptr));
    room.assign(1, Item());
    each(room.front());
    list = room;
  }
  template <typename Each>
  void terminated(const char* name, std::span<const CounterValue>& list, Each each) {
    items(name, list, 1, each);
  }
  void reject(const char*) { rejected_ = true; }

 private:
  const Layout& layout_;
  uint8_t first_byte_;
  uint64_t number_;
  uint8_t byte_;
  ListRoom& room_;
  bool rejected_ = false;
};

// Events that begin with a byte, in every shape that the grammar has for small numbers.
void tell_every_shape(uint8_t first_byte, const Layout& layout, Dumper& dumper) {
  static constexpr uint64_t kLastSmall = 15;
  EventHead head;
  head.kind = static_cast<EventKind>(layout.events.kind[first_byte]);
  head.first_byte = first_byte;
  ListRoom room;
  const auto tell = [&](uint64_t number, uint8_t byte) {
    with_record_of(head.kind, [&](auto record) {
      SampleReader reader(layout, first_byte, number, byte, room);
      fields(reader, record);
      if (!reader.rejected()) dumper.event(head, record);
    });
  };
  for (uint64_t number = 0; number <= kLastSmall; ++number) {
    tell(number, static_cast<uint8_t>(number));
    tell(number, 1);
  }
  tell(kPerformanceCounters, 0);
}

}  // namespace

std::vector<RecordTable> recording_records() {
  return record_tables(kFields, [](DumpOutput& out) {
    tell_header({}, "", out);
    for (uint8_t version = 1; version <= kLastVersion; ++version) {
      const Layout layout = layout_of(version);
      Dumper dumper(layout, out, nullptr);
      dumper.begin_buffer({}, 0);
      for (unsigned byte = 0; byte < layout.events.kind.size(); ++byte) {
        if (layout.events.kind[byte] != EventTable::kNone)
          tell_every_shape(static_cast<uint8_t>(byte), layout, dumper);
      }
      dumper.skipped(0, 0, "");
      dumper.problem({});
    }
  });
}

Result<void> dump_recording(Bytes file, const std::string& file_name, DumpStyle style,
                            const ByteSink& sink, ProblemLog& problems, RecordSelector* selector) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  const BufferFrames frames = frame_file(file, *header, file_name);
  const Layout layout = find_layout(file, *header, frames);
  problems.merge(frames.problems);
  DumpOutput out(style, sink);
  tell_header(*header, file_name, out);
  Dumper dumper(layout, out, selector);
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
