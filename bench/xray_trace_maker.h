#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "formats/xray/wire.h"

namespace telltale::bench {

// A flight-data-recorder trace (version 5, little-endian) as a busy single-threaded program leaves
// it: nested calls of `functions` functions with durations spread over five decades. The same bytes
// on every machine for the same arguments. At most 16 buffers, so that llvm-xray's unstable sort of
// buffers leaves them in order and its figures are right.
struct TraceShape {
  uint64_t records = 19'700'000;  // function records; each is 8 bytes
  uint32_t functions = 8;
  uint32_t seed = 1;
  uint64_t cycle_frequency = 2'100'000'000;
};

class XrayTraceMaker {
 public:
  explicit XrayTraceMaker(const TraceShape& shape) : shape_(shape), random_(shape.seed) {}

  std::string make() {
    constexpr uint64_t kBuffers = 16;
    const uint64_t per_buffer = (shape_.records + kBuffers - 1) / kBuffers;
    const uint64_t buffer_bytes =
        per_buffer * xray::kFunctionRecordBytes + 4 * xray::kMetadataRecordBytes;
    out_.reserve(static_cast<size_t>(kBuffers * (buffer_bytes + 16) + 32));
    put16(5);
    put16(1);
    put32(3);
    put64(shape_.cycle_frequency);
    put64(buffer_bytes);
    put64(0);
    uint64_t left = shape_.records;
    while (left != 0) {
      const uint64_t count = std::min(left, per_buffer);
      left -= count;
      begin_buffer(count * xray::kFunctionRecordBytes + 4 * xray::kMetadataRecordBytes);
      for (uint64_t i = 0; i < count; ++i) put_record(left + (count - i));
    }
    return std::move(out_);
  }

 private:
  void begin_buffer(uint64_t extents) {
    metadata(xray::MetadataKind::buffer_extents, [&] { put64(extents); });
    metadata(xray::MetadataKind::new_buffer, [&] { put32(4242); });
    metadata(xray::MetadataKind::walltime_marker, [&] {
      put64(tsc_ / shape_.cycle_frequency);
      put32(0);
    });
    metadata(xray::MetadataKind::pid, [&] { put32(4200); });
    metadata(xray::MetadataKind::new_cpu_id, [&] {
      put16(3);
      put64(tsc_);
    });
    first_in_buffer_ = true;
  }

  // `left`: records still to come, this one included; the calls that are open must fit into them.
  void put_record(uint64_t left) {
    const uint32_t dice = static_cast<uint32_t>(random_());
    const uint32_t delta = first_in_buffer_ ? 0 : step(dice);
    first_in_buffer_ = false;
    tsc_ += delta;
    const bool must_leave = left <= stack_.size();
    const bool enter = !must_leave && (stack_.empty() || (stack_.size() < 40 && (dice & 1) == 0));
    if (enter && left > stack_.size() + 1) {
      const uint32_t function = 1 + (dice >> 8) % shape_.functions;
      stack_.push_back(function);
      put32(function << 4);
    } else if (!stack_.empty()) {
      put32(stack_.back() << 4 | 1 << 1);
      stack_.pop_back();
    } else {
      put32(1 << 4);  // an odd record at the very end stays open
    }
    put32(delta);
  }

  // Mostly tens of ticks, sometimes up to a million.
  static uint32_t step(uint32_t dice) {
    const uint32_t base = 20 + (dice >> 20) % 200;
    if ((dice >> 4) % 512 == 0) return base * 1000;
    if ((dice >> 4) % 32 == 0) return base * 10;
    return base;
  }

  template <typename Body>
  void metadata(xray::MetadataKind kind, Body body) {
    const size_t start = out_.size();
    out_.push_back(static_cast<char>(static_cast<unsigned>(kind) << 1 | 1));
    body();
    out_.resize(start + xray::kMetadataRecordBytes, '\0');
  }
  template <typename T>
  void put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out_.append(raw, sizeof(T));
  }
  void put16(uint16_t value) { put(value); }
  void put32(uint32_t value) { put(value); }
  void put64(uint64_t value) { put(value); }

  TraceShape shape_;
  std::mt19937 random_;
  std::string out_;
  std::vector<uint32_t> stack_;
  uint64_t tsc_ = 1'000'000'000'000;
  bool first_in_buffer_ = false;
};

}  // namespace telltale::bench
