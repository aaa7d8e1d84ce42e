#pragma once

// The StackTrack streams of tests, golden files and fuzz corpora: small, both layouts and byte
// orders, every record, and the remains of a recorder that died. Written field by field with
// ByteWriter, independently of the reader's descriptions. Values are distinct byte by byte, so that
// swapped or shifted fields are detected.

#include <string>
#include <string_view>
#include <vector>

#include "bytes/byte_writer.h"
#include "formats/stacktrack/wire.h"
#include "support/sample.h"

namespace telltale::testing {

class StacktrackBuilder {
 public:
  using Type = stacktrack::RecordType;

  explicit StacktrackBuilder(bool wide, std::endian order = std::endian::little)
      : wide_(wide), order_(order) {}

  StacktrackBuilder& process(uint32_t pid) { return pid_ = pid, *this; }
  StacktrackBuilder& stream(uint16_t number) { return stream_ = number, *this; }
  StacktrackBuilder& at(uint64_t sequence) { return sequence_ = sequence, *this; }
  // Fills the bytes that no field uses.
  StacktrackBuilder& unused(char byte) { return unused_ = byte, *this; }

  StacktrackBuilder& prologue(uint32_t ring_bytes = 0) {
    ByteWriter body(order_);
    body.write(stacktrack::kMagic)
        .write(wide_ ? stacktrack::kWideVersion : stacktrack::kClassicVersion)
        .write(uint8_t{16})
        .write(uint8_t(wide_ ? 32 : 24))
        .write(uint8_t(wide_ ? 16 : 8));
    if (wide_) body.write(uint8_t{0}).write(ring_bytes);
    return record(Type::prologue, 0, 0, body);
  }
  StacktrackBuilder& process_info(uint32_t cycle, uint32_t clock_every = 1,
                                  std::string_view program = {}) {
    ByteWriter body(order_);
    narrow(body, pid_);
    narrow(body, cycle);
    if (wide_) body.write(uint32_t{0x0A0B0C0D}).write(clock_every);
    return with_text(Type::process_info, 0, body, program);
  }
  StacktrackBuilder& time_type(uint64_t divisor, uint16_t type = stacktrack::kTimeMonotonic) {
    ByteWriter body(order_);
    return record(Type::time_type, 0, 0, body.write(divisor).write(type));
  }
  StacktrackBuilder& time_info(uint64_t start_hires, uint32_t start, uint32_t start_ns = 0) {
    ByteWriter body(order_);
    body.write(start_hires).write(start);
    if (wide_) body.write(start_ns);
    return record(Type::time_info, 0, 0, body);
  }
  StacktrackBuilder& file(uint32_t number, uint32_t cycle, uint32_t properties,
                          std::string_view name) {
    ByteWriter body(order_);
    narrow(body, number), narrow(body, cycle), narrow(body, properties);
    return with_text(Type::file_location, sequence_, body, name);
  }
  StacktrackBuilder& property(uint32_t file_number, uint32_t cycle, uint32_t number,
                              std::string_view text) {
    ByteWriter body(order_);
    narrow(body, file_number), narrow(body, cycle), narrow(body, number);
    return with_text(Type::file_property, sequence_, body, text);
  }
  StacktrackBuilder& scope(uint32_t index, stacktrack::Style style, uint32_t line, uint32_t cycle,
                           uint16_t file_number, std::string_view name) {
    ByteWriter body(order_);
    if (wide_) {
      body.write(index).write(line).write(cycle).write(static_cast<uint16_t>(style));
    } else {
      body.write(static_cast<uint16_t>(index)).write(static_cast<uint16_t>(style));
      body.write(static_cast<uint16_t>(line)).write(static_cast<uint16_t>(cycle));
    }
    return with_text(Type::source_location, sequence_, body.write(file_number), name);
  }
  StacktrackBuilder& hit(uint64_t when, uint32_t scope_index, uint32_t tid, uint16_t bits = 0) {
    ByteWriter body(order_);
    body.write(when);
    narrow(body, scope_index), narrow(body, tid);
    return record(Type::hit, bits, sequence_, body);
  }
  StacktrackBuilder& exit(uint64_t when, uint32_t scope_index, uint32_t tid) {
    return hit(when, scope_index, tid, stacktrack::kExit);
  }
  // A HIT with its INFO records.
  StacktrackBuilder& value(uint64_t when, uint32_t scope_index, uint32_t tid,
                           std::string_view text) {
    hit(when, scope_index, tid, stacktrack::kHasInfo);
    return info(text);
  }
  StacktrackBuilder& info(std::string_view text, bool ends = true) {
    do {
      const std::string_view piece = text.substr(0, stacktrack::kInfoBytes);
      text.remove_prefix(piece.size());
      ByteWriter body(order_);
      body.write(std::as_bytes(std::span(piece))).zeros(stacktrack::kInfoBytes - piece.size());
      record(Type::info, text.empty() && ends ? stacktrack::kInfoEnd : 0, sequence_, body);
    } while (!text.empty());
    return *this;
  }
  // Wide only.
  StacktrackBuilder& chunk(uint32_t tid, uint32_t thread, uint32_t bytes) {
    ByteWriter body(order_);
    body.write(tid).write(bytes).write(thread).write(uint32_t{0});
    stream_ = static_cast<uint16_t>(thread);
    return record(Type::stream, bytes != 0 ? stacktrack::kChunkStart : 0, 0, body);
  }
  StacktrackBuilder& lost(uint64_t count, stacktrack::LostReason reason) {
    ByteWriter body(order_);
    body.write(count).write(static_cast<uint32_t>(reason)).write(uint32_t{0});
    return record(Type::lost, 0, 0, body);
  }
  // Empty slots up to a multiple of `bytes`.
  StacktrackBuilder& fill(size_t bytes) {
    bytes_.append((bytes - bytes_.size() % bytes) % bytes, '\0');
    return *this;
  }
  StacktrackBuilder& raw(std::string_view bytes) { return bytes_ += bytes, *this; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  // A number that has 32 bits in the wide layout.
  void narrow(ByteWriter& body, uint32_t value) const {
    wide_ ? body.write(value) : body.write(static_cast<uint16_t>(value));
  }
  StacktrackBuilder& with_text(Type type, uint64_t sequence, const ByteWriter& body,
                               std::string_view text) {
    if (text.empty()) return record(type, 0, sequence, body);
    record(type, stacktrack::kHasInfo, sequence, body);
    const uint64_t kept = std::exchange(sequence_, sequence);
    info(text);
    sequence_ = kept;
    return *this;
  }
  StacktrackBuilder& record(Type type, uint16_t bits, uint64_t sequence, const ByteWriter& body) {
    ByteWriter out(order_);
    out.write(static_cast<uint16_t>(static_cast<uint16_t>(type) | bits));
    if (wide_) {
      out.write(stream_).write(pid_).write(sequence);
    } else {
      out.write(static_cast<uint16_t>(pid_)).write(static_cast<uint32_t>(sequence));
    }
    bytes_ += out.bytes() + body.bytes();
    bytes_.append(16 - body.size(), unused_);
    return *this;
  }

  bool wide_;
  std::endian order_;
  uint32_t pid_ = 0x0708;
  uint16_t stream_ = 0;
  uint64_t sequence_ = 0;
  char unused_ = 0;
  std::string bytes_;
};

namespace samples {

// Every record of the classic layout, with texts that need one, two and no whole INFO records, one
// of them interleaved with other records.
inline StacktrackBuilder classic_stream(std::endian order, bool marked_exits = true,
                                        uint32_t pid = 0x0708) {
  using enum stacktrack::Style;
  StacktrackBuilder b(false, order);
  b.process(pid)
      .unused('\xA5')
      .prologue()
      .process_info(1)
      .time_type(0x01020304)
      .time_info(0x1112131415161700, 0x5152535);
  uint64_t next = 1;
  const uint64_t outer = next++;
  b.at(outer)
      .file(0x0102, 0, 1, "src/a directory/file_of_a_long_name.cpp")
      .property(0x0102, 0, 0, "owner=<nobody> & \"co\"")
      .scope(0x0304, function, 0x0506, 0, 0x0102, "outer(int)")
      .hit(0x1112131415161718, 0x0304, 0x0910);
  const uint64_t inner = next++;
  b.at(inner).scope(2, block, 7, 0, 0x0102, "sixteen letters.").hit(0x1112131415161728, 2, 0x0910);
  const uint64_t value_at = next++;
  b.at(value_at)
      .scope(3, value, 8, 0, 0x0102, "name")
      .hit(0x1112131415161738, 3, 0x0910, stacktrack::kHasInfo);
  b.info("a value in piece", false).at(next++).scope(4, step, 9, 0, 0x0102, "step");
  b.hit(0x1112131415161739, 4, 0x0911).at(value_at).info("s \x1b[31m<&>\"'");
  if (marked_exits) {
    b.at(next++).exit(0x1112131415161748, 2, 0x0910);
    b.at(next++).exit(0x1112131415161758, 0x0304, 0x0910);
  } else {
    b.at(inner)
        .hit(0x1112131415161748, 2, 0x0910)
        .at(outer)
        .hit(0x1112131415161758, 0x0304, 0x0910);
  }
  return b;
}

// A file of telltale's recorder: a chunk of all threads with the context, chunks of two threads,
// empty slots, a thread that takes over a chunk, a sparse clock, losses. The slots of thread 1 are
// not quite in order, as after a signal handler.
inline StacktrackBuilder wide_stream(std::endian order, uint32_t ring_bytes = 0) {
  using enum stacktrack::Style;
  constexpr uint32_t kPage = stacktrack::wide::kPageBytes;
  constexpr uint16_t kHeld = stacktrack::kHeldTime;
  StacktrackBuilder b(true, order);
  b.process(0x01020304).chunk(0, 0, kPage).prologue(ring_bytes);
  b.process_info(2, 4, "/usr/bin/a program of a name").time_type(1'000'000'000);
  b.time_info(0x1000, 1'700'000'000, 123'456'789).lost(0, stacktrack::LostReason::no_space);
  b.lost(17, stacktrack::LostReason::overwritten);
  b.at(0x2000).file(1, 0, 1, "src/server.cpp").property(1, 0, 0, "module=server");
  b.at(0x2000).scope(0x10001, function, 0x10002, 0, 1, "serve(Request const&)");
  b.at(0x2001).scope(2, block, 12, 0, 1, "parse").at(0x2002).scope(3, value, 13, 0, 1, "url");
  b.at(0x2003).scope(4, step, 14, 1, 1, "sent").at(0x2004).scope(5, function, 15, 0, 0, "late()");
  b.fill(kPage).chunk(0x00ABCDEF, 1, kPage);
  b.at(0x2000).hit(0x2000, 0x10001, 0x00ABCDEF).at(0x2010).hit(0x2000, 2, 0x00ABCDEF, kHeld);
  b.at(0x2030).hit(0x2000, 4, 0x00ABCDEF, kHeld);
  b.at(0x2020).value(0x2000, 3, 0x00ABCDEF, "/index.html?of=a&long=query");
  b.raw(std::string(32, '\0'));
  b.at(0x2040).exit(0x2040, 2, 0x00ABCDEF).at(0x2050).exit(0x2060, 0x10001, 0x00ABCDEF);
  b.chunk(0x00ABCDEE, 2, 0).at(0x3000).hit(0x3000, 5, 0x00ABCDEE);
  b.at(0x3100).exit(0x3100, 5, 0x00ABCDEE);
  b.fill(kPage);
  return b;
}

}  // namespace samples

// Name and bytes of every sample; `valid` according to `check`.
inline std::vector<Sample> stacktrack_samples() {
  using std::endian;
  const std::string classic = samples::classic_stream(endian::little).bytes();
  const std::string wide = samples::wide_stream(endian::little).bytes();
  constexpr size_t kPage = stacktrack::wide::kPageBytes;
  std::vector<Sample> all = {
      {"classic.tlg", classic},
      {"classic_be.tlg", samples::classic_stream(endian::big).bytes()},
      {"classic_unmarked.tlg", samples::classic_stream(endian::little, false).bytes()},
      {"wide.tlg", wide},
      {"wide_be.tlg", samples::wide_stream(endian::big).bytes()},
      {"prologue_only.tlg", StacktrackBuilder(false).prologue().bytes()},
      {"torn.tlg", classic.substr(0, classic.size() - 7), false},
      {"no_prologue.tlg", classic.substr(24), false},
      {"cut_head.tlg", "end of a record" + classic, false},
      {"unknown_type.tlg", std::string(classic).replace(24, 2, "\x09\x01"), false},
      {"no_process.tlg", std::string(classic).replace(26, 2, std::string(2, '\0')), false},
  };
  // A ring whose second chunk was being cleared when the program died.
  std::string ring = samples::wide_stream(endian::little, kPage).bytes();
  ring.replace(kPage, 64, std::string(64, '\0'));
  all.push_back({"ring_being_cleared.tlg", ring});
  // Two processes, one after the other, in one stream.
  all.push_back({"two_processes.tlg",
                 classic + samples::classic_stream(endian::little, true, 0x090A).bytes()});
  return all;
}

}  // namespace telltale::testing
