#pragma once

// A small language to write XRay files in memory, for tests, golden files and fuzz corpora:
//
//   const std::string file = FdrBuilder(5)
//                                .buffer({.tid = 7, .tsc = 1000})
//                                .enter(1, 0).enter_args(2, 10).argument(42).exit(2, 30).exit(1, 5)
//                                .bytes();
//
// Deltas are ticks since the record before; times are absolute ticks. Nothing is checked: a builder
// can write files that break every rule.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"
#include "formats/xray/encode.h"

namespace telltale::testing {

class FdrBuilder {
 public:
  struct Buffer {
    int32_t tid = 1;
    int32_t pid = 100;
    uint16_t cpu = 0;
    uint64_t tsc = 1000;
    int64_t seconds = 1;
    int32_t microseconds = 0;
  };

  explicit FdrBuilder(uint16_t version, std::endian order = std::endian::little) {
    header_.version = version;
    header_.order = order;
    header_.cycle_frequency = 1'000'000'000;
    header_.buffer_size = 4096;
    header_.constant_tsc = header_.nonstop_tsc = true;
    encoding_ = xray::encoding_of(header_);
  }
  FdrBuilder& frequency(uint64_t hz) {
    header_.cycle_frequency = hz;
    return *this;
  }
  FdrBuilder& buffer_size(uint64_t bytes) {
    header_.buffer_size = bytes;
    return *this;
  }
  // The value of bytes that no field uses, from here on; call before the first record to include
  // the header's.
  FdrBuilder& unused(uint8_t value) {
    encoding_.unused = std::byte{value};
    header_.raw.fill(encoding_.unused);
    return *this;
  }
  // Version 1: the bytes from EndOfBuffer up to the buffer size.
  FdrBuilder& filler(uint8_t value) {
    filler_ = static_cast<char>(value);
    return *this;
  }
  // As clang writes it: each typed event makes its buffer's extents 16 bytes too short.
  FdrBuilder& short_extents_for_typed_events() {
    short_extents_ = true;
    return *this;
  }

  // Opens a buffer with its preamble in the version's form; closes the previous one.
  FdrBuilder& buffer(const Buffer& what) {
    bare_buffer();
    record(xray::NewBuffer{what.tid});
    record(xray::WalltimeMarker{what.seconds, what.microseconds});
    if (xray::fdr_layout(header_.version).has_pid) record(xray::Pid{what.pid});
    return cpu(what.cpu, what.tsc);
  }
  // Opens a buffer without a preamble; extents and filler are still written for it.
  FdrBuilder& bare_buffer() {
    parts_.push_back(
        {.framed = true, .end_of_buffer = true, .extents = {}, .body = {}, .typed_events = 0});
    return *this;
  }
  // Gives the open buffer this extents value instead of the correct one.
  FdrBuilder& extents(uint64_t bytes) {
    part().extents = bytes;
    part().forced_extents = true;
    return *this;
  }
  // The open buffer (version 1) gets no EndOfBuffer and no filler.
  FdrBuilder& without_end() {
    part().end_of_buffer = false;
    return *this;
  }
  // Bytes between buffers.
  FdrBuilder& gap(std::string_view bytes) {
    parts_.push_back({.framed = false,
                      .end_of_buffer = false,
                      .extents = {},
                      .body = std::string(bytes),
                      .typed_events = 0});
    return *this;
  }

  FdrBuilder& enter(uint32_t id, uint32_t delta) {
    return function(xray::FunctionAction::enter, id, delta);
  }
  FdrBuilder& exit(uint32_t id, uint32_t delta) {
    return function(xray::FunctionAction::exit, id, delta);
  }
  FdrBuilder& tail_exit(uint32_t id, uint32_t delta) {
    return function(xray::FunctionAction::tail_exit, id, delta);
  }
  FdrBuilder& enter_args(uint32_t id, uint32_t delta) {
    return function(xray::FunctionAction::enter_args, id, delta);
  }
  FdrBuilder& function(xray::FunctionAction action, uint32_t id, uint32_t delta) {
    now_ += delta;
    return record(xray::FunctionRecord{action, id, delta});
  }
  FdrBuilder& argument(uint64_t value) { return record(xray::CallArgument{value}); }
  FdrBuilder& cpu(uint16_t cpu, uint64_t tsc) {
    now_ = tsc;
    cpu_ = cpu;
    return record(xray::NewCpuId{cpu, tsc});
  }
  FdrBuilder& wrap(uint64_t tsc) {
    now_ = tsc;
    return record(xray::TscWrap{tsc});
  }
  FdrBuilder& custom(std::string_view payload, int32_t delta) {
    xray::CustomEvent event{.payload_bytes = static_cast<int32_t>(payload.size()),
                            .tsc = now_ + static_cast<uint64_t>(static_cast<int64_t>(delta)),
                            .tsc_delta = delta,
                            .cpu = cpu_,
                            .payload = as_bytes(payload)};
    // Only since version 5 do events change the time that deltas are relative to.
    if (xray::fdr_layout(header_.version).event_time_is_delta) now_ = event.tsc;
    return record(event);
  }
  FdrBuilder& typed(uint16_t type, std::string_view payload, int32_t delta) {
    ++part().typed_events;
    now_ += static_cast<uint64_t>(static_cast<int64_t>(delta));
    return record(
        xray::TypedEvent{static_cast<int32_t>(payload.size()), delta, type, as_bytes(payload)});
  }
  // Any record, unchanged.
  FdrBuilder& record(const xray::FdrPayload& payload) {
    xray::encode_fdr_record(payload, encoding_, part().body);
    return *this;
  }
  // Any bytes, inside the open buffer.
  FdrBuilder& raw(std::string_view bytes) {
    part().body += bytes;
    return *this;
  }

  // Writes the buffers (and gaps) in this order of indexes instead of the order of opening.
  FdrBuilder& reorder(const std::vector<size_t>& order) {
    std::vector<Part> ordered;
    for (const size_t index : order) ordered.push_back(parts_.at(index));
    parts_ = std::move(ordered);
    return *this;
  }

  [[nodiscard]] const xray::FileHeader& header() const { return header_; }
  // The file; may be called any number of times.
  [[nodiscard]] std::string bytes() const {
    std::string file;
    xray::encode_file_header(header_, file);
    for (const Part& part : parts_) append(part, file);
    return file;
  }
  // The file without its last n bytes.
  [[nodiscard]] std::string torn(size_t n) const {
    const std::string file = bytes();
    return file.substr(0, file.size() - std::min(n, file.size()));
  }

 private:
  struct Part {
    bool framed = true;
    bool end_of_buffer = true;
    uint64_t extents = 0;
    std::string body;
    size_t typed_events = 0;
    bool forced_extents = false;
  };
  Part& part() {
    if (parts_.empty())
      parts_.push_back(
          {.framed = false, .end_of_buffer = false, .extents = {}, .body = {}, .typed_events = 0});
    return parts_.back();
  }
  void append(const Part& part, std::string& file) const {
    if (!part.framed) {
      file += part.body;
      return;
    }
    if (xray::fdr_layout(header_.version).has_extents) {
      const size_t cut = short_extents_ ? part.typed_events * xray::kMetadataRecordBytes : 0;
      const std::string_view body =
          std::string_view(part.body).substr(0, part.body.size() - std::min(cut, part.body.size()));
      xray::encode_fdr_record(xray::BufferExtents{part.forced_extents ? part.extents : body.size()},
                              encoding_, file);
      file += body;
      return;
    }
    const size_t start = file.size();
    file += part.body;
    if (!part.end_of_buffer) return;
    xray::encode_fdr_record(xray::EndOfBuffer{}, encoding_, file);
    const size_t used = file.size() - start;
    if (used < header_.buffer_size) file.append(header_.buffer_size - used, filler_);
  }

  xray::FileHeader header_;
  xray::Encoding encoding_;
  char filler_ = 0;
  bool short_extents_ = false;
  uint64_t now_ = 0;
  uint16_t cpu_ = 0;
  std::vector<Part> parts_;
};

// Basic logs: records in any order, each with its thread.
class BasicBuilder {
 public:
  explicit BasicBuilder(uint16_t version, std::endian order = std::endian::little) {
    header_.version = version;
    header_.type = xray::LogType::basic;
    header_.order = order;
    header_.cycle_frequency = 1'000'000'000;
    header_.constant_tsc = header_.nonstop_tsc = true;
    encoding_ = xray::encoding_of(header_);
  }
  BasicBuilder& frequency(uint64_t hz) {
    header_.cycle_frequency = hz;
    return *this;
  }
  BasicBuilder& unused(uint8_t value) {
    encoding_.unused = std::byte{value};
    header_.raw.fill(encoding_.unused);
    return *this;
  }
  // The thread and CPU of the following records.
  BasicBuilder& thread(uint32_t tid, uint32_t pid = 100, uint8_t cpu = 0) {
    now_.tid = tid;
    now_.pid = pid;
    now_.cpu = cpu;
    return *this;
  }
  BasicBuilder& enter(int32_t id, uint64_t tsc) { return call(xray::BasicKind::enter, id, tsc); }
  BasicBuilder& exit(int32_t id, uint64_t tsc) { return call(xray::BasicKind::exit, id, tsc); }
  BasicBuilder& tail_exit(int32_t id, uint64_t tsc) {
    return call(xray::BasicKind::tail_exit, id, tsc);
  }
  BasicBuilder& enter_args(int32_t id, uint64_t tsc) {
    return call(xray::BasicKind::enter_args, id, tsc);
  }
  BasicBuilder& call(xray::BasicKind kind, int32_t id, uint64_t tsc) {
    now_.kind = kind;
    now_.function_id = id;
    now_.tsc = tsc;
    xray::encode_basic_call(now_, encoding_, records_);
    return *this;
  }
  // An argument of the last call; or of function `id`.
  BasicBuilder& argument(uint64_t value) { return argument_of(now_.function_id, value); }
  BasicBuilder& argument_of(int32_t id, uint64_t value) {
    xray::encode_basic_argument({id, now_.tid, now_.pid, value}, encoding_, records_);
    return *this;
  }
  BasicBuilder& raw(std::string_view bytes) {
    records_ += bytes;
    return *this;
  }
  [[nodiscard]] const xray::FileHeader& header() const { return header_; }
  [[nodiscard]] std::string bytes() const {
    std::string file;
    xray::encode_file_header(header_, file);
    return file + records_;
  }
  [[nodiscard]] std::string torn(size_t n) const {
    const std::string file = bytes();
    return file.substr(0, file.size() - std::min(n, file.size()));
  }

 private:
  xray::FileHeader header_;
  xray::Encoding encoding_;
  xray::BasicCall now_;
  std::string records_;
};

}  // namespace telltale::testing
