#include "output/timeline/perfetto_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "output/timeline/perfetto_fields.h"
#include "output/timeline/proto_writer.h"
#include "output/timeline/shown_thread.h"

namespace telltale {

using namespace perfetto;

namespace {

constexpr uint64_t kFirstOwnTrack = uint64_t{1} << 40;  // beyond the threads' and processes'
constexpr size_t kObjectsPerPacket = 20'000;
constexpr size_t kFlushBytes = size_t{1} << 20;

// Packets after the calls: separate sequences with absolute times.
class MarksWriter {
 public:
  MarksWriter(const TimelineMarks& marks, const ExportContext& context,
              const PerfettoProcesses& processes, OutputFile& out)
      : marks_(marks), context_(context), out_(out), processes_(processes) {}

  Result<void> write() {
    for (const TimelineMarks::Track& track : marks_.tracks) {
      const uint64_t uuid = begin_track(
          track.name, track.of_thread ? thread_uuid(track.stream) : process_of(track.stream), {});
      for (const TimelineMarks::Mark& mark : track.marks) {
        ProtoMessage message;
        message.varint(event::kType, mark.begin ? event::kSliceBegin : event::kSliceEnd)
            .varint(event::kTrackUuid, uuid);
        if (mark.begin) message.text(event::kName, mark.name);
        annotate(message, mark.arguments);
        put_event(mark.ns, message);
      }
    }
    for (const TimelineMarks::Instant& instant : marks_.instants) {
      ProtoMessage message;
      message.varint(event::kType, event::kInstant)
          .varint(event::kTrackUuid, thread_uuid(instant.stream))
          .text(event::kCategories, "telltale.runtime")
          .text(event::kName, instant.name);
      annotate(message, instant.arguments);
      put_event(instant.ns, message);
    }
    for (const TimelineMarks::Counter& counter : marks_.counters) write_counter(counter);
    flush();
    return state_;
  }

 private:
  void write_counter(const TimelineMarks::Counter& counter) {
    const ProtoMessage unit = ProtoMessage().varint(
        track::kUnit, counter.unit == "bytes" ? track::kUnitBytes : track::kUnitCount);
    const uint64_t uuid = begin_track(counter.name, process_of(counter.stream),
                                      ProtoMessage().message(track::kCounter, unit));
    for (const auto& [ns, value] : counter.values) {
      ProtoMessage message;
      message.varint(event::kType, event::kCounter).varint(event::kTrackUuid, uuid);
      if (const auto* number = std::get_if<int64_t>(&value)) {
        message.int64(event::kCounterValue, *number);
      } else {
        message.real(event::kDoubleCounterValue, std::get<double>(value));
      }
      put_event(ns, message);
    }
  }

  // A process is described with its first thread; one without selected threads, here.
  [[nodiscard]] uint64_t process_of(size_t stream) {
    const int64_t pid = shown_pid(distinct_pid(context_.streams[stream].thread));
    const auto [known, fresh] = processes_.try_emplace(pid, 0);
    if (fresh) {
      known->second = next_track_++;
      put(ProtoMessage()
              .varint(packet::kTimestamp, 0)
              .varint(packet::kSequenceId, sequence())
              .message(packet::kTrackDescriptor,
                       ProtoMessage()
                           .varint(track::kUuid, known->second)
                           .message(track::kProcess, ProtoMessage().int64(track::kPid, pid))));
    }
    return known->second;
  }
  uint64_t begin_track(const std::string& name, uint64_t parent, const ProtoMessage& more) {
    const uint64_t uuid = next_track_++;
    const ProtoMessage described = ProtoMessage()
                                       .varint(track::kUuid, uuid)
                                       .varint(track::kParentUuid, parent)
                                       .text(track::kName, name);
    put(ProtoMessage()
            .varint(packet::kTimestamp, 0)
            .varint(packet::kSequenceId, sequence())
            .bytes(packet::kTrackDescriptor, described.encoded() + more.encoded()));
    return uuid;
  }
  static void annotate(ProtoMessage& message, const TimelineMarks::Arguments& arguments) {
    for (const auto& [name, value] : arguments) {
      ProtoMessage one;
      one.text(annotation::kName, name);
      if (const auto* number = std::get_if<uint64_t>(&value)) {
        one.varint(annotation::kUint, *number);
      } else {
        one.text(annotation::kString, std::get<std::string>(value));
      }
      message.message(event::kDebugAnnotations, one);
    }
  }
  void put_event(uint64_t ns, const ProtoMessage& message) {
    put(ProtoMessage()
            .varint(packet::kTimestamp, ns)
            .varint(packet::kSequenceId, sequence())
            .message(packet::kTrackEvent, message));
  }
  void put(const ProtoMessage& whole) {
    text_ += ProtoMessage().message(trace::kPacket, whole).encoded();
    if (text_.size() > kFlushBytes) flush();
  }
  void flush() {
    if (state_) state_ = out_.write(text_);
    text_.clear();
  }
  [[nodiscard]] uint64_t sequence() const { return context_.streams.size() + 1; }

  const TimelineMarks& marks_;
  const ExportContext& context_;
  OutputFile& out_;
  std::string text_;
  Result<void> state_;
  uint64_t next_track_ = kFirstOwnTrack;
  PerfettoProcesses processes_;
};

// The HeapGraphRoot.Type closest to the kind of root.
uint64_t root_type(const std::string& name) {
  static constexpr std::pair<std::string_view, uint64_t> kTypes[] = {
      {"stack", 3},      {"static fields", 5}, {"thread statics", 8},
      {"finalizer", 10}, {"GC handles", 1},    {"runtime handles", 1},
      {"debugger", 11},  {"ephemerons", 12},   {"toggle references", 12}};
  for (const auto& [begins, type] : kTypes)
    if (name.starts_with(begins)) return type;
  constexpr uint64_t kVmInternal = 13;
  return kVmInternal;
}

// Numbers values from 1 in order of first use, and writes a packet's definitions of new ones.
class Interned {
 public:
  std::pair<uint64_t, bool> operator()(uint64_t value) {
    const auto [place, fresh] = numbers_.try_emplace(value, numbers_.size() + 1);
    return {place->second, fresh};
  }

 private:
  std::map<uint64_t, uint64_t> numbers_;
};

ProtoMessage heap_object(const HeapGraph& graph, size_t index, Interned& types, Interned& fields,
                         ProtoMessage& definitions) {
  const HeapGraph::Object& object = graph.objects[index];
  const auto [type, new_type] = types(object.type);
  if (new_type)
    definitions.message(heap_graph::kTypes, ProtoMessage()
                                                .varint(heap_graph::kTypeNumber, type)
                                                .text(heap_graph::kClassName,
                                                      graph.types.name_or_address(object.type)));
  std::vector<uint64_t> names;
  std::vector<uint64_t> targets;
  const auto [first, end] = graph.references_of(index);
  for (size_t i = first; i < end; ++i) {
    const auto [field, new_field] = fields(graph.references[i].offset);
    if (new_field)
      definitions.message(
          heap_graph::kFieldNames,
          ProtoMessage()
              .varint(heap_graph::kIid, field)
              .text(heap_graph::kString, fmt::format("+{}", graph.references[i].offset)));
    names.push_back(field);
    targets.push_back(uint64_t{graph.references[i].to} + 1);
  }
  ProtoMessage message;
  message.varint(heap_graph::kObjectId, index + 1)
      .varint(heap_graph::kTypeId, type)
      .varint(heap_graph::kSelfSize, object.bytes);
  if (!names.empty())
    message.packed(heap_graph::kReferenceFields, names)
        .packed(heap_graph::kReferenceObjects, targets);
  return message;
}

ProtoMessage heap_roots(const HeapGraph& graph) {
  std::map<uint64_t, std::vector<uint64_t>> by_type;
  for (const HeapGraph::Root& root : graph.roots)
    if (!root.weak) by_type[root_type(root.name)].push_back(uint64_t{root.object} + 1);
  ProtoMessage all;
  for (const auto& [type, objects] : by_type)
    all.message(heap_graph::kRoots, ProtoMessage()
                                        .packed(heap_graph::kRootObjects, objects)
                                        .varint(heap_graph::kRootType, type));
  return all;
}

}  // namespace

Result<void> write_perfetto_marks(const TimelineMarks& marks, const ExportContext& context,
                                  const PerfettoProcesses& processes, OutputFile& out) {
  return MarksWriter(marks, context, processes, out).write();
}

Result<void> write_perfetto_heap(const HeapGraph& graph, const ExportContext& context,
                                 OutputFile& out) {
  const int64_t pid = shown_pid(distinct_pid(context.streams[graph.stream].thread));
  const uint64_t ns = context.clock.to_ns(graph.begin - context.first_time);
  // Numbers of types and fields are those of a sequence.
  const uint64_t sequence = context.streams.size() + 2 + context.streams[graph.stream].process;
  Interned types;
  Interned fields;
  uint64_t packets = 0;
  for (size_t next = 0; packets == 0 || next < graph.objects.size(); ++packets) {
    const size_t end = std::min(next + kObjectsPerPacket, graph.objects.size());
    ProtoMessage definitions;
    std::string objects;
    for (; next < end; ++next)
      objects +=
          ProtoMessage()
              .message(heap_graph::kObjects, heap_object(graph, next, types, fields, definitions))
              .encoded();
    ProtoMessage head;
    head.int64(heap_graph::kPid, pid).varint(heap_graph::kIndex, packets);
    const bool last = next == graph.objects.size();
    if (!last) head.varint(heap_graph::kContinued, 1);
    std::string body = head.encoded() + definitions.encoded() + objects;
    if (last) body += heap_roots(graph).encoded();
    const ProtoMessage whole = ProtoMessage()
                                   .varint(packet::kTimestamp, ns)
                                   .varint(packet::kSequenceId, sequence)
                                   .bytes(packet::kHeapGraph, body);
    const Result<void> written = out.write(ProtoMessage().message(trace::kPacket, whole).encoded());
    if (!written) return written;
  }
  return {};
}

}  // namespace telltale
