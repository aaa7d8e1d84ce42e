#pragma once

// A side record (docs/formats/xray-recorder.md) written down in a test:
//
//   SideBuilder side;
//   side.pid(7).object({.number = 0, .path = "/bin/x", .id_base = 0, .functions = 3});
//   side.assigned(kFirstAssignedId, {0x1000}).thread(7, "main");
//   const std::string file = side.bytes();

#include <cstdint>
#include <string>
#include <vector>

#include "bytes/byte_writer.h"

namespace telltale::testing {

class SideBuilder {
 public:
  struct Object {
    uint32_t number = 0;
    bool is_program = false;
    uint64_t load_bias = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
    uint32_t id_base = 0;
    uint32_t functions = 0;
    uint64_t file_bytes = 0;
    uint64_t modified_ns = 0;
    std::string build_id = {};  // raw bytes
    std::string path = {};
  };

  uint32_t flags = 0;
  uint32_t pid = 7;
  uint32_t parent_pid = 0;
  uint64_t start = 1000;
  uint64_t start_realtime_ns = 1'600'000'000'000'000'000;
  uint64_t cycle_frequency = 2'000'000'000;
  uint32_t frequency_source = 3;
  uint32_t uncertainty_ppb = 12'500;
  uint32_t sparse_interval = 0;
  // overwritten, no space, reentrant, too large, in snapshot, left out, clock anomalies, unnamed
  std::vector<uint64_t> counters = std::vector<uint64_t>(8);
  uint32_t fault_signal = 0;
  uint32_t fault_thread = 0;
  uint64_t fault_time = 0;
  uint64_t fault_address = 0;
  uint32_t end = 0;  // 0 unknown, 1 exit, 2 signal
  uint32_t end_status = 0;
  uint64_t end_monotonic_ns = 0;
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
  uint32_t cost_inside = 0;  // thousandths of a tick
  uint32_t cost_outside = 0;

  SideBuilder& object(const Object& object) {
    ByteWriter body(std::endian::little);
    body.write(object.number).write(uint32_t{object.is_program});
    body.write(object.load_bias).write(object.begin).write(object.end);
    body.write(object.id_base).write(object.functions).write(start);
    body.write(object.file_bytes).write(object.modified_ns);
    body.write(static_cast<uint16_t>(object.build_id.size()));
    body.write(static_cast<uint16_t>(object.path.size())).write(uint32_t{0});
    return record(1, body.take() + object.build_id + object.path);
  }
  SideBuilder& unload(uint32_t number) {
    ByteWriter body(std::endian::little);
    return record(2, body.write(number).write(uint32_t{0}).write(start).take());
  }
  SideBuilder& assigned(uint32_t first_id, const std::vector<uint64_t>& addresses) {
    ByteWriter body(std::endian::little);
    body.write(first_id).write(static_cast<uint32_t>(addresses.size()));
    for (const uint64_t address : addresses) body.write(address);
    return record(3, body.take());
  }
  SideBuilder& thread(uint32_t tid, const std::string& name) {
    ByteWriter body(std::endian::little);
    body.write(tid).write(static_cast<uint32_t>(name.size())).write(start);
    return record(4, body.take() + name);
  }
  SideBuilder& name(uint32_t id, uint32_t line, const std::string& linkage_name,
                    const std::string& file) {
    ByteWriter body(std::endian::little);
    body.write(id).write(line).write(static_cast<uint32_t>(linkage_name.size()));
    return record(6, body.write(static_cast<uint32_t>(file.size())).take() + linkage_name + file);
  }
  SideBuilder& chosen(const std::string& list) {
    ByteWriter body(std::endian::little);
    return record(7,
                  body.write(static_cast<uint32_t>(list.size())).write(uint32_t{0}).take() + list);
  }
  SideBuilder& record(uint32_t kind, std::string body) {
    body.resize((body.size() + 7) / 8 * 8);
    ByteWriter head(std::endian::little);
    records_ += head.write(kind).write(static_cast<uint32_t>(8 + body.size())).take() + body;
    return *this;
  }
  SideBuilder& raw(const std::string& bytes) {
    records_ += bytes;
    return *this;
  }

  [[nodiscard]] const std::string& records() const { return records_; }
  [[nodiscard]] std::string bytes() const {
    ByteWriter out(std::endian::little);
    for (const char letter : std::string("TTXRSIDE")) out.write(letter);
    out.write(uint16_t{1}).write(uint16_t{256}).write(flags);
    out.write(uint64_t{256 + records_.size()}).write(pid).write(parent_pid);
    out.write(start).write(start_realtime_ns).write(uint64_t{5}).write(cycle_frequency);
    out.write(frequency_source).write(uncertainty_ppb).write(sparse_interval);
    out.write(uint32_t{65536});
    for (const uint64_t counter : counters) out.write(counter);
    out.write(fault_signal).write(fault_thread).write(fault_time).write(fault_address);
    out.write(end).write(end_status).write(end_monotonic_ns).write(user_ns).write(system_ns);
    out.write(cost_inside).write(cost_outside);
    out.zeros(48);
    return out.take() + records_;
  }

 private:
  std::string records_;
};

}  // namespace telltale::testing
