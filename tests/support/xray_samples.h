#pragma once

// The XRay files of tests, golden files and fuzz corpora: small, every version and byte order,
// every record, and the oddities of real writers. Values are distinct byte by byte, so that swapped
// or shifted fields are detected.

#include <string>
#include <vector>

#include "support/sample.h"
#include "support/xray_builder.h"

namespace telltale::testing {

namespace samples {

// Every record of the version, in two buffers of different threads, with non-zero unused bytes.
inline FdrBuilder every_fdr_record(uint16_t version, std::endian order) {
  FdrBuilder file(version, order);
  file.unused(0xA8).filler(0xFF).buffer_size(512).frequency(0x1122334455667788);
  file.buffer({.tid = 0x01020304,
               .pid = 0x05060708,
               .cpu = 0x090A,
               .tsc = 0x1112131415161718,
               .seconds = 0x2122232425,
               .microseconds = 0x31323})
      .enter(1, 0)
      .enter_args(0x0ABCDEF, 0x41424344)
      .argument(0x5152535455565758)
      .argument(2)
      .custom("custom \x01\x1b[31m\"text\"\n", 7)
      .exit(0x0ABCDEF, 0x61626364)
      .wrap(0x7172737475767778)
      .enter(3, 0)
      .tail_exit(3, 9)
      .cpu(0x0B0C, 0x8182838485868788);
  if (xray::fdr_layout(version).has_typed_events) file.typed(0x0D0E, "typed", 11).typed(1, "", 0);
  file.custom("", 0).exit(1, 0xFFFFFFFF);
  file.buffer({.tid = 2, .pid = 0x05060708, .cpu = 1, .tsc = 0x1112131415161719})
      .enter(xray::kMaxFdrFunctionId, 0)
      .exit(xray::kMaxFdrFunctionId, 1);
  return file;
}

inline BasicBuilder every_basic_record(uint16_t version, std::endian order) {
  BasicBuilder file(version, order);
  file.unused(0xA8).frequency(0x1122334455667788);
  file.thread(0x01020304, 0x05060708, 0x09)
      .enter(0x11121314, 0x2122232425262728)
      .enter_args(2, 0x2122232425262729);
  file.argument(0x3132333435363738).exit(2, 0x212223242526272A);
  file.thread(7, 0x05060708, 0xFF).enter(3, 0x2122232425262701).exit(3, 0x2122232425262799);
  file.thread(0x01020304, 0x05060708, 0x0A);
  if (xray::basic_layout(version).has_tail_exit) {
    file.tail_exit(0x11121314, 0x21222324252627AA);
  } else {
    file.exit(0x11121314, 0x21222324252627AA);
  }
  return file;
}

// 18 buffers of one thread, the newest in the middle, as in a ring that wrapped around.
inline FdrBuilder wrapped_ring() {
  FdrBuilder file(5);
  std::vector<size_t> order;
  for (size_t i = 0; i < 18; ++i) {
    const auto tsc = 1000 + 100 * i;
    file.buffer({.tid = 1, .tsc = tsc, .seconds = 1, .microseconds = static_cast<int32_t>(i)});
    file.enter(1, 0).enter(2, 10).exit(2, 20).exit(1, 30);
    order.push_back((i + 11) % 18);
  }
  return file.reorder(order);
}

// Calls that span buffers, tail calls, recursion, a function left by an exception.
inline FdrBuilder calls() {
  FdrBuilder file(5);
  file.buffer({.tid = 1, .cpu = 0, .tsc = 1000})
      .enter(1, 0)
      .enter(2, 10)
      .enter(2, 10)
      .exit(2, 10)
      .exit(2, 10);
  file.enter(3, 5).enter(4, 5);
  file.buffer({.tid = 2, .cpu = 1, .tsc = 1001})
      .enter(5, 0)
      .tail_exit(5, 3)
      .enter(6, 1)
      .exit(6, 3)
      .enter(7, 1);
  file.buffer({.tid = 1, .cpu = 0, .tsc = 2000}).exit(1, 0).enter(8, 10).exit(8, 10);
  return file;
}

// The worked example of docs/formats/xray.md.
inline FdrBuilder worked_example() {
  FdrBuilder file(5);
  file.buffer(
      {.tid = 7, .pid = 42, .cpu = 3, .tsc = 1'000'000, .seconds = 12, .microseconds = 345});
  return file.enter(1, 0)
      .enter_args(2, 100)
      .argument(99)
      .custom("hello", 50)
      .exit(2, 850)
      .exit(1, 200);
}

}  // namespace samples

inline std::vector<Sample> valid_samples() {
  std::vector<Sample> all;
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const std::string suffix = order == std::endian::little ? "" : "_be";
    for (uint16_t version = 1; version <= 5; ++version) {
      all.push_back({"every_record_v" + std::to_string(version) + suffix + ".fdr",
                     samples::every_fdr_record(version, order).bytes()});
    }
    for (uint16_t version = 1; version <= 3; ++version) {
      all.push_back({"every_record_v" + std::to_string(version) + suffix + ".basic",
                     samples::every_basic_record(version, order).bytes()});
    }
  }
  all.push_back({"wrapped_ring.fdr", samples::wrapped_ring().bytes()});
  all.push_back({"calls.fdr", samples::calls().bytes()});
  all.push_back({"worked_example.fdr", samples::worked_example().bytes()});
  all.push_back({"header_only.fdr", FdrBuilder(5).bytes()});
  all.push_back({"header_only.basic", BasicBuilder(3).bytes()});
  return all;
}

// Readable, but not strictly valid.
inline std::vector<Sample> odd_samples() {
  std::vector<Sample> all;
  const auto add = [&](std::string name, std::string bytes) {
    all.push_back({std::move(name), std::move(bytes), false});
  };
  // As clang writes it: each typed event makes its buffer's extents 16 bytes too short, here by an
  // exit and half of another.
  add("short_extents.fdr", FdrBuilder(5)
                               .short_extents_for_typed_events()
                               .buffer({.tid = 1, .tsc = 100})
                               .enter(1, 0)
                               .typed(3, "abcd", 5)
                               .exit(1, 5)
                               .enter(2, 5)
                               .enter(3, 5)
                               .buffer({.tid = 2, .tsc = 200})
                               .typed(4, "abcdefgh", 0)
                               .custom("longer than eight", 1)
                               .buffer({.tid = 3, .tsc = 300})
                               .enter(1, 0)
                               .exit(1, 1)
                               .bytes());
  add("torn.fdr", samples::calls().torn(13));
  add("torn_v1.fdr", samples::every_fdr_record(1, std::endian::little).torn(500));
  add("torn.basic", samples::every_basic_record(3, std::endian::little).torn(13));
  add("gap.fdr", FdrBuilder(5)
                     .buffer({.tid = 1, .tsc = 100})
                     .enter(1, 0)
                     .exit(1, 1)
                     .gap("garbage between buffers")
                     .buffer({.tid = 2, .tsc = 200})
                     .enter(2, 0)
                     .exit(2, 1)
                     .bytes());
  add("unknown_kind.fdr", FdrBuilder(5)
                              .buffer({.tid = 1, .tsc = 100})
                              .enter(1, 0)
                              .raw(std::string(16, '\x7F'))
                              .exit(1, 1)
                              .buffer({.tid = 2, .tsc = 200})
                              .enter(2, 0)
                              .exit(2, 1)
                              .bytes());
  add("hostile_extents.fdr", FdrBuilder(3)
                                 .buffer({.tid = 1, .tsc = 100})
                                 .extents(UINT64_MAX)
                                 .enter(1, 0)
                                 .exit(1, 1)
                                 .buffer({.tid = 2})
                                 .bytes());
  add("preamble_only.fdr",
      FdrBuilder(4).bare_buffer().record(xray::NewBuffer{5}).buffer({.tid = 6}).bytes());
  add("orphan_argument.basic", BasicBuilder(3)
                                   .thread(1)
                                   .enter(1, 10)
                                   .argument(7)
                                   .exit(1, 20)
                                   .argument_of(9, 8)
                                   .enter_args(2, 30)
                                   .bytes());
  add("unknown_kind.basic", BasicBuilder(2)
                                .thread(1)
                                .enter(1, 10)
                                .call(static_cast<xray::BasicKind>(9), 2, 11)
                                .exit(1, 20)
                                .bytes());
  return all;
}

inline std::vector<Sample> all_samples() {
  std::vector<Sample> all = valid_samples();
  for (Sample& sample : odd_samples()) all.push_back(std::move(sample));
  return all;
}

}  // namespace telltale::testing
