#pragma once

#include <cstdint>

#include "formats/xray/basic_runs.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// The grammar of every record, written once: fields(codec, record) lists the fields of a record.
// Codecs read them (records.cc, basic_runs.cc), write them (encode.cc) or print them
// (output/dump/xray_dump.cc).
//
// FDR: the fields in file order; of metadata records those after the first byte. A codec provides:
//   version()                of the file
//   number(name, value)      an integer as wide as `value`, in the file's byte order
//   since_last(name, value)  the same: ticks since the previous record
//   call(action, id)         the first word of a function record
//   payload(bytes)           what follows the record, as many bytes as payload_bytes says
// Basic mode: the fields in the order in which they are printed, each with its place:
//   version()
//   number_at(place, name, value), kind_at(place, kind)

template <typename Codec>
void fields(Codec& c, FunctionRecord& r) {
  c.call(r.action, r.function_id);
  c.since_last("tsc_delta", r.tsc_delta);
}
template <typename Codec>
void fields(Codec& c, NewBuffer& r) {
  c.number("tid", r.tid);
}
template <typename Codec>
void fields(Codec&, EndOfBuffer&) {}
template <typename Codec>
void fields(Codec& c, NewCpuId& r) {
  c.number("cpu", r.cpu);
  c.number("tsc", r.tsc);
}
template <typename Codec>
void fields(Codec& c, TscWrap& r) {
  c.number("tsc", r.tsc);
}
template <typename Codec>
void fields(Codec& c, WalltimeMarker& r) {
  c.number("seconds", r.seconds);
  c.number("microseconds", r.microseconds);
}
template <typename Codec>
void fields(Codec& c, CustomEvent& r) {
  const FdrLayout layout = fdr_layout(c.version());
  c.number("size", r.payload_bytes);
  if (layout.event_time_is_delta) {
    c.since_last("tsc_delta", r.tsc_delta);
  } else {
    c.number("tsc", r.tsc);
  }
  if (layout.custom_event_has_cpu) c.number("cpu", r.cpu);
  c.payload(r.payload);
}
template <typename Codec>
void fields(Codec& c, CallArgument& r) {
  c.number("value", r.value);
}
template <typename Codec>
void fields(Codec& c, BufferExtents& r) {
  c.number("bytes", r.bytes);
}
template <typename Codec>
void fields(Codec& c, TypedEvent& r) {
  c.number("size", r.payload_bytes);
  c.since_last("tsc_delta", r.tsc_delta);
  c.number("event_type", r.event_type);
  c.payload(r.payload);
}
template <typename Codec>
void fields(Codec& c, Pid& r) {
  c.number("pid", r.pid);
}

// REQUIRES: r.type is known; a codec that reads sets it before.
template <typename Codec>
void fields(Codec& c, BasicRecord& r) {
  const bool has_pid = basic_layout(c.version()).has_pid;
  if (r.type == BasicRecordType::argument) {
    c.number_at(4, "function_id", r.function_id);
    c.number_at(16, "value", r.argument);
    c.number_at(8, "tid", r.tid);
    if (has_pid) c.number_at(12, "pid", r.pid);
    return;
  }
  c.kind_at(3, r.kind);
  c.number_at(4, "function_id", r.function_id);
  c.number_at(8, "tsc", r.tsc);
  c.number_at(16, "tid", r.tid);
  if (has_pid) c.number_at(20, "pid", r.pid);
  c.number_at(2, "cpu", r.cpu);
}

}  // namespace telltale::xray
