#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <variant>

#include "bytes/prefetch_input.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// Where a walk through a buffer ended and, if that is not the buffer's end, why.
struct WalkEnd {
  uint64_t offset = 0;         // one past the last whole record
  bool end_of_buffer = false;  // an EndOfBuffer record was found (version 1)
  std::optional<Error> error;  // the record at `offset` could not be read
};

// Consecutive function records, from `begin` to at most `end`: up to the first record of another
// kind, or an unreadable one.
template <std::endian kOrder>
class FunctionRun {
 public:
  FunctionRun(const std::byte* file, uint64_t begin, uint64_t end)
      : file_(file), begin_(begin), end_(end) {}

  // Calls use(offset, record, exits) for each; `exits` is true for exits and tail exits, and takes
  // fewer instructions than comparing the action. Returns the offset after the last record. If
  // use() returns a bool, false ends the loop after that record. A visitor that keeps its state in
  // local variables around this call lets the compiler hold them in registers: this loop dominates
  // the cost of decoding.
  template <typename Use>
  [[gnu::always_inline]] uint64_t for_each(Use use) const {
    const std::byte* const file = file_;
    const std::byte* at = file + begin_;
    const std::byte* const end = at + (end_ - begin_) / kFunctionRecordBytes * kFunctionRecordBytes;
    while (at != end) {
      prefetch_input(at);
      uint64_t both;
      std::memcpy(&both, at, sizeof both);
      if constexpr (kOrder != std::endian::native) both = __builtin_bswap64(both);
      // The record's first four bytes are the lower half in little-endian order, the upper in big.
      const auto lower = static_cast<uint32_t>(both);
      const auto upper = static_cast<uint32_t>(both >> 32);
      const uint32_t word = kOrder == std::endian::little ? lower : upper;
      const uint32_t delta = kOrder == std::endian::little ? upper : lower;
      if (!is_known_function<kOrder>(word)) break;  // read_fdr_record makes the error
      const FunctionRecord record = decode_function<kOrder>(word, delta);
      const auto offset = static_cast<uint64_t>(at - file);
      at += kFunctionRecordBytes;
      const bool exits = is_exit<kOrder>(word);
      if constexpr (std::is_same_v<decltype(use(offset, record, exits)), bool>) {
        if (!use(offset, record, exits)) break;
      } else {
        use(offset, record, exits);
      }
    }
    return static_cast<uint64_t>(at - file);
  }
  [[nodiscard]] uint64_t begin() const { return begin_; }
  // The records from `offset` on. REQUIRES: for_each has returned it.
  [[nodiscard]] FunctionRun from(uint64_t offset) const { return {file_, offset, end_}; }
  // The action of the record that ends at `end`. REQUIRES: for_each has visited it.
  [[nodiscard]] FunctionAction action_before(uint64_t end) const {
    return FunctionRun(file_, end - kFunctionRecordBytes, end).first_action();
  }

 private:
  [[nodiscard]] FunctionAction first_action() const {
    FunctionAction action{};
    for_each([&](uint64_t, const FunctionRecord& record, bool) { action = record.action; });
    return action;
  }

  const std::byte* file_;
  uint64_t begin_;
  uint64_t end_;
};

namespace detail {

inline bool begins_buffer(const FdrPayload& payload) {
  return std::holds_alternative<NewBuffer>(payload) ||
         std::holds_alternative<BufferExtents>(payload);
}
Error misplaced_opening(uint64_t offset, const FdrPayload& payload);

template <std::endian kOrder, typename Visitor>
WalkEnd walk_in_order(Bytes file, uint64_t begin, uint64_t end, uint16_t version,
                      Visitor& visitor) {
  const std::byte* const base = file.data();
  uint64_t at = begin;
  while (true) {
    // Fast path: function records, eight bytes each.
    const FunctionRun<kOrder> run(base, at, end);
    if constexpr (requires { visitor.functions(run); }) {
      at = visitor.functions(run);
    } else {
      at = run.for_each([&](uint64_t offset, const FunctionRecord& record, bool) {
        visitor.function(offset, record);
      });
    }
    if (at == end) return {at, false, {}};
    Cursor in(file.subspan(static_cast<size_t>(at), static_cast<size_t>(end - at)), kOrder, at);
    const Result<FdrRecord> record = read_fdr_record(in, version);
    if (!record) return {at, false, record.error()};
    if (begins_buffer(record->payload) && at != begin)
      return {at, false, misplaced_opening(at, record->payload)};
    visitor.metadata(*record);
    at = in.offset();
    if (version == 1 && std::holds_alternative<EndOfBuffer>(record->payload)) return {at, true, {}};
  }
}

}  // namespace detail

// Passes the records in [begin, end) of `file` to a visitor, in file order:
//   visitor.function(uint64_t offset, const FunctionRecord&)
//   visitor.functions(run)                  if defined, instead of function(): a FunctionRun;
//                                           returns the result of run.for_each(...)
//   visitor.metadata(const FdrRecord&)      every other record, with its payload
// Stops at the first unreadable record, at a record that is only allowed at a buffer's beginning
// (BufferExtents, and NewBuffer after the first record), and after version 1's EndOfBuffer.
// REQUIRES: begin <= end <= size.
template <typename Visitor>
WalkEnd walk_fdr_records(Bytes file, uint64_t begin, uint64_t end, const FileHeader& header,
                         Visitor& visitor) {
  return header.order == std::endian::little
             ? detail::walk_in_order<std::endian::little>(file, begin, end, header.version, visitor)
             : detail::walk_in_order<std::endian::big>(file, begin, end, header.version, visitor);
}

// The same for records in this machine's byte order: half the code. REQUIRES: header.order says so.
template <typename Visitor>
WalkEnd walk_native_fdr_records(Bytes file, uint64_t begin, uint64_t end, const FileHeader& header,
                                Visitor& visitor) {
  return detail::walk_in_order<std::endian::native>(file, begin, end, header.version, visitor);
}

// A position on a buffer's running time.
struct TimedPlace {
  uint64_t offset = 0;  // of a record
  uint64_t tsc = 0;     // after it; UINT64_MAX: no record up to `offset` has a time
};
// The first record in [at, end) that affects the running time, which is `now` before `at`: a
// function record, NewCPUId or TSCWrap. Only for versions 1 to 4, where a custom event has a time
// of its own that does not change the running time: it still belongs between its neighbours, and is
// reported no later than this record.
TimedPlace find_next_timed(Bytes file, const FileHeader& header, uint64_t at, uint64_t end,
                           uint64_t now);

// The problem if a walk through `frame`'s records ended before the frame: the rest of the buffer is
// lost. Empty: the frame is complete.
std::optional<Problem> walk_problem(const WalkEnd& walk, Bytes file, const FileHeader& header,
                                    const BufferFrame& frame, const std::string& file_name);

}  // namespace telltale::xray
