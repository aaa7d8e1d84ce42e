#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "formats/xray/wire.h"

namespace telltale::bench {

// A flight-data-recorder trace (version 5, little-endian) of a single-threaded program that inserts
// into search trees, sums them and computes Fibonacci numbers, all by recursion: the calls are
// really made here, with a simulated clock. The same arguments give the same bytes on every
// machine. At most 16 buffers, so that llvm-xray's unstable sort of buffers keeps their order and
// its figures are correct.
struct TraceShape {
  uint64_t records = 19'700'000;  // function records, 8 bytes each; even
  uint32_t functions = 8;         // at least 8; additional ones share the same work
  uint32_t seed = 1;
  uint64_t cycle_frequency = 2'100'000'000;
};

class XrayTraceMaker {
 public:
  explicit XrayTraceMaker(const TraceShape& shape) : shape_(shape), random_(shape.seed) {}

  std::string make() {
    left_ = shape_.records;
    out_.reserve(static_cast<size_t>(shape_.records * xray::kFunctionRecordBytes + 4096));
    put16(5);
    put16(1);
    put32(3);
    put64(shape_.cycle_frequency);
    put64(records_per_buffer() * xray::kFunctionRecordBytes + kPreambleBytes);
    put64(0);
    if (enter(kMain)) {
      while (room()) work();
      leave(kMain);
    }
    return std::move(out_);
  }

 private:
  enum Function : uint32_t {
    kMain = 1,
    kWork,
    kInsert,
    kBalance,
    kSum,
    kFibonacci,
    kHash,
    kLookUp
  };
  static constexpr uint64_t kPreambleBytes = 4 * xray::kMetadataRecordBytes;
  struct Node {
    uint32_t key;
    uint32_t children[2];  // index into nodes_; 0: none
  };

  [[nodiscard]] uint64_t records_per_buffer() const { return (shape_.records + 15) / 16; }
  // Whether another call, and the exits of all open calls, still fit.
  [[nodiscard]] bool room() const { return left_ >= depth_ + 2; }

  void work() {
    if (!enter(kWork)) return;
    nodes_.assign(1, {});
    root_ = 0;
    for (int i = 0; i < 20'000 && room(); ++i) {
      const auto key = static_cast<uint32_t>(random_());
      root_ = insert(root_, key, 0);
      if (i % 16 == 0) hash(key);
    }
    for (int i = 0; i < 200 && room(); ++i) look_up(static_cast<uint32_t>(random_()));
    sum(root_);
    fibonacci(17);
    leave(kWork);
  }
  uint32_t insert(uint32_t node, uint32_t key, uint32_t level) {
    if (!enter(kInsert, level)) return node;
    if (node == 0) {
      node = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({key, {0, 0}});
      spend(200);
    } else {
      const bool right = key > nodes_[node].key;
      const uint32_t child = insert(nodes_[node].children[right], key, level + 1);
      nodes_[node].children[right] = child;
      if (level % 8 == 7 && enter(kBalance)) leave(kBalance);
    }
    leave(kInsert, level);
    return node;
  }
  void sum(uint32_t node) {
    if (node == 0 || !enter(kSum)) return;
    sum(nodes_[node].children[0]);
    sum(nodes_[node].children[1]);
    leave(kSum);
  }
  void fibonacci(int n) {
    if (!enter(kFibonacci)) return;
    if (n >= 2) {
      fibonacci(n - 1);
      fibonacci(n - 2);
    }
    leave(kFibonacci);
  }
  void hash(uint32_t key) {
    if (!enter(kHash)) return;
    spend(key % 5000);
    leave(kHash);
  }
  void look_up(uint32_t key) {
    if (!enter(kLookUp)) return;
    for (uint32_t node = root_; node != 0; node = nodes_[node].children[key > nodes_[node].key])
      spend(4);
    leave(kLookUp);
  }

  // A call of `function`, or of its equivalent for this `variant`. False if there is no room for
  // it.
  bool enter(uint32_t function, uint32_t variant = 0) {
    if (!room()) return false;
    ++depth_;
    record(id(function, variant) << 4);
    return true;
  }
  void leave(uint32_t function, uint32_t variant = 0) {
    --depth_;
    record(id(function, variant) << 4 | 1 << 1);
  }
  [[nodiscard]] uint32_t id(uint32_t function, uint32_t variant) const {
    const uint32_t variants = shape_.functions / 8;
    return function + 8 * (variants <= 1 ? 0 : variant % variants);
  }
  void spend(uint32_t ticks) { pending_ += ticks; }

  void record(uint32_t word) {
    if ((shape_.records - left_) % records_per_buffer() == 0) begin_buffer();
    noise_ = noise_ * 6364136223846793005U + 1442695040888963407U;
    uint32_t delta =
        pending_ + 25 +
        static_cast<uint32_t>(noise_ >> 60);  // the cost of recording, with some jitter
    if (noise_ >> 44 == 0) delta += 200'000;  // occasionally the scheduler runs another process
    pending_ = 0;
    if (first_in_buffer_) delta = 0;
    first_in_buffer_ = false;
    tsc_ += delta;
    put32(word);
    put32(delta);
    --left_;
  }

  void begin_buffer() {
    const uint64_t count = std::min(left_, records_per_buffer());
    metadata(xray::MetadataKind::buffer_extents,
             [&] { put64(count * xray::kFunctionRecordBytes + kPreambleBytes); });
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
  std::vector<Node> nodes_;
  uint32_t root_ = 0;
  uint64_t left_ = 0;   // remaining records
  uint64_t depth_ = 0;  // open calls
  uint64_t noise_ = 1;
  uint32_t pending_ = 0;  // ticks spent since the last record
  uint64_t tsc_ = 1'000'000'000'000;
  bool first_in_buffer_ = false;
};

}  // namespace telltale::bench
