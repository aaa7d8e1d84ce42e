#include "formats/xray/fdr_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "formats/xray/fdr_walk.h"
#include "formats/xray/recorder_cells.h"

namespace telltale::xray {
namespace {

// Ignores all records.
struct SkipRecords {
  void function(uint64_t, const FunctionRecord&) {}
  void metadata(const FdrRecord&) {}
};

class Framer {
 public:
  Framer(Bytes file, const FileHeader& header, const std::string& file_name)
      : file_(file), header_(header), layout_(fdr_layout(header.version)), file_name_(file_name) {
    if (layout_.has_extents) opening_[opening_size_++] = MetadataKind::buffer_extents;
    opening_[opening_size_++] = MetadataKind::new_buffer;
    opening_[opening_size_++] = MetadataKind::walltime_marker;
    if (layout_.has_pid) opening_[opening_size_++] = MetadataKind::pid;
    opening_[opening_size_++] = MetadataKind::new_cpu_id;
  }

  FdrFrames run() {
    uint64_t at = kFileHeaderBytes;
    while (at < file_.size()) {
      if (!opens_buffer(at)) {
        if (header_.recorder.cells) {
          at = skip_in_cell(at);
          continue;
        }
        const uint64_t next = find_opening(at + 1);
        skip(at, next - at);
        at = next;
        continue;
      }
      at = layout_.has_extents ? take_extents_frame(at) : take_fixed_frame(at);
    }
    check_parts();
    return std::move(frames_);
  }

 private:
  [[nodiscard]] bool is_kind(uint64_t at, MetadataKind kind) const {
    const auto first = std::to_integer<uint8_t>(file_[static_cast<size_t>(at)]);
    const auto number = static_cast<uint8_t>(kind);
    return first == (header_.order == std::endian::little ? (number << 1 | 1) : (0x80 | number));
  }

  // True if the records at `at` have the kinds that open a buffer, up to the end of the file.
  // BufferExtents alone, or truncated, is enough at the end of a file.
  [[nodiscard]] bool opens_buffer(uint64_t at) const {
    for (size_t i = 0; i < opening_size_; ++i) {
      const uint64_t record = at + i * kMetadataRecordBytes;
      if (record >= file_.size()) return true;
      if (!is_kind(record, opening_[i])) return opens_short_buffer(at, i);
    }
    return true;
  }

  // A buffer may lack a full preamble: a frame whose extents end exactly where the preamble does.
  [[nodiscard]] bool opens_short_buffer(uint64_t at, size_t matched) const {
    if (!layout_.has_extents || matched < 2) return false;
    const uint64_t extents = read_extents(at);
    return extents == (matched - 1) * kMetadataRecordBytes;
  }

  [[nodiscard]] uint64_t find_opening(uint64_t from) const {
    return find_opening(from, file_.size());
  }
  // The first opening in [from, to); `to` if there is none.
  [[nodiscard]] uint64_t find_opening(uint64_t from, uint64_t to) const {
    // The full opening must be in the file: a shorter match inside damage proves nothing.
    const uint64_t need = opening_size_ * kMetadataRecordBytes;
    for (uint64_t at = from; at < to && at + need <= file_.size(); ++at) {
      if (is_kind(at, opening_[0]) && opens_buffer(at)) return at;
    }
    return to;
  }

  [[nodiscard]] uint64_t read_extents(uint64_t at) const {
    Cursor in(file_.subspan(static_cast<size_t>(at)), header_.order, at);
    in.take(1, "kind");
    return in.read<uint64_t>("extents");  // 0 if the file ends inside it
  }

  [[nodiscard]] Bytes bytes_of(uint64_t from, uint64_t to) const {
    return file_.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
  }

  // Files of telltale's own recorder: where no buffer begins, the rest of the cell is unused or
  // damaged. Returns where to continue.
  uint64_t skip_in_cell(uint64_t at) {
    const uint64_t end = cell_end(file_, header_, at);
    if (!is_unused(bytes_of(at, end), header_.version)) {
      if (opens_buffer(at)) return at;  // a running program has just written it
      const uint64_t next = find_opening(at + 1, end);
      skip(at, next - at);
      return next;
    }
    if (!frames_.gaps.empty() && frames_.gaps.back().slack &&
        frames_.gaps.back().offset + frames_.gaps.back().bytes == at) {
      frames_.gaps.back().bytes += end - at;
    } else {
      frames_.gaps.push_back({at, end - at, true});
    }
    return end;
  }

  // Files of telltale's own recorder contain their number of cells or buffers.
  void check_parts() {
    if (!header_.recorder.parts) return;
    const uint64_t parts = *header_.recorder.parts;
    const bool cells = header_.recorder.cells;
    const uint64_t body = file_.size() - kFileHeaderBytes;
    const uint64_t found = cells ? body / header_.buffer_size : frames_.buffers.size();
    if (found >= parts) return;
    // The missing rest of the last part is reported separately.
    const uint64_t missing =
        cells ? (parts - found - (body % header_.buffer_size == 0 ? 0 : 1)) * header_.buffer_size
              : 0;
    frames_.problems.add(
        {Problem::Kind::torn_tail, file_.size(), file_name_, "file",
         fmt::format("ends after {} of {} {}", found, parts, cells ? "cells" : "buffers"),
         missing});
  }

  void skip(uint64_t offset, uint64_t bytes) {
    const Bytes skipped = file_.subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
    const bool zeros = std::ranges::all_of(skipped, [](std::byte b) { return b == std::byte{0}; });
    const bool tail = offset + bytes == file_.size();
    frames_.gaps.push_back({offset, bytes});
    frames_.problems.add({tail ? Problem::Kind::torn_tail : Problem::Kind::corruption, offset,
                          file_name_, "Buffer",
                          zeros  ? "zeros where a buffer should begin"
                          : tail ? "no buffer begins here"
                                 : "no buffer begins here; skipped to the next one",
                          bytes});
  }

  // Versions 2 and later: the BufferExtents record at `at` contains the buffer's length. Returns
  // where to continue.
  uint64_t take_extents_frame(uint64_t at) {
    const uint64_t begin = at + kMetadataRecordBytes;
    if (begin > file_.size()) {
      frames_.gaps.push_back({at, file_.size() - at});
      frames_.problems.add({Problem::Kind::torn_tail, at, file_name_, "BufferExtents",
                            "the file ends inside this record", file_.size() - at});
      return file_.size();
    }
    const uint64_t extents = read_extents(at);
    const uint64_t in_file = file_.size() - begin;
    BufferFrame frame;
    frame.frame_begin = at;
    frame.begin = begin;
    if (header_.recorder.cells && !is_cut(at, extents)) {
      end_in_cell(frame, extents);
    } else if (extents > in_file) {
      // Either the writer died or the number is damaged; a later buffer decides.
      frame.end = end_by_records(begin, file_.size()).value_or(file_.size());
      frame.torn = true;
      const bool damaged_number = frame.end != file_.size();
      frames_.problems.add(
          {damaged_number ? Problem::Kind::corruption : Problem::Kind::torn_tail, at, file_name_,
           "BufferExtents",
           damaged_number
               ? fmt::format("says {} bytes, but another buffer begins before that", extents)
               : fmt::format("says {} bytes, but the file ends after {}", extents, in_file),
           damaged_number ? 0 : extents - in_file});
    } else {
      frame.end = begin + extents;
      const bool ends_well = frame.end == file_.size() || opens_buffer(frame.end);
      if (!ends_well || extents > header_.buffer_size) {
        if (const auto end = end_by_records(begin, frame.end)) {
          frame.end = *end;
          frame.torn = true;
          frames_.problems.add(
              {Problem::Kind::corruption, at, file_name_, "BufferExtents",
               fmt::format(
                   "says {} bytes, but its records end, or another buffer begins, elsewhere",
                   extents),
               0});
        }
      }
    }
    const uint64_t next = frame.end;
    add(frame);
    return next;
  }

  // Files of telltale's own recorder: true if the file ends inside the buffer whose BufferExtents
  // record is at `at`, and not before its cell does.
  [[nodiscard]] bool is_cut(uint64_t at, uint64_t extents) const {
    const uint64_t in_cell = (at - kFileHeaderBytes) % header_.buffer_size;
    const uint64_t room = header_.buffer_size - in_cell;
    return file_.size() - at < room && room >= kMetadataRecordBytes &&
           extents > file_.size() - at - kMetadataRecordBytes &&
           extents <= room - kMetadataRecordBytes;
  }

  // Files of telltale's own recorder: only unused bytes or another buffer follow a buffer in its
  // cell, so damaged extents are detectable. The records then determine its end.
  void end_in_cell(BufferFrame& frame, uint64_t extents) {
    const uint64_t limit = cell_end(file_, header_, frame.frame_begin);
    // If the header's cell size is damaged, the BufferExtents record itself may exceed its cell.
    const bool fits = frame.begin <= limit && extents <= limit - frame.begin;
    frame.begin = std::min(frame.begin, limit);
    frame.end = fits ? frame.begin + extents : limit;
    if (fits && ends_cleanly(frame.begin, frame.end, limit)) return;
    const uint64_t said = frame.end;
    const RecordsEnd records = find_records_end(file_, header_, frame.begin, limit, said);
    if (read_extents(frame.frame_begin) != extents) return;  // a running program adds to it
    if (!fits || is_end(records.offset, limit)) frame.end = records.offset;
    // An event is counted after it has been written: the process may have died before it counted
    // the last one.
    if (fits && (frame.end == said || (frame.end > said && records.events_behind <= 1))) return;
    frame.torn = frame.end < said;
    frames_.problems.add({Problem::Kind::corruption, frame.frame_begin, file_name_, "BufferExtents",
                          fmt::format("says {} bytes, but its records end after {}", extents,
                                      frame.end - frame.begin),
                          0});
  }
  // Whether a buffer can end there in its cell.
  [[nodiscard]] bool is_end(uint64_t at, uint64_t limit) const {
    return at == limit || opens_buffer(at) || is_unused(bytes_of(at, limit), header_.version);
  }
  // The same, and its last word is not a free one.
  [[nodiscard]] bool ends_cleanly(uint64_t begin, uint64_t end, uint64_t limit) const {
    constexpr uint64_t kWord = kFunctionRecordBytes;
    if (end - begin >= kWord && is_unused(bytes_of(end - kWord, end), header_.version))
      return false;
    return is_end(end, limit);
  }

  // Version 1: buffers of the header's buffer_size, filler included.
  uint64_t take_fixed_frame(uint64_t at) {
    BufferFrame frame;
    frame.frame_begin = frame.begin = at;
    const uint64_t in_file = file_.size() - at;
    if (header_.recorder.cells && header_.buffer_size <= in_file) {
      frame.end = cell_end(file_, header_, at);
    } else if (header_.buffer_size != 0 && header_.buffer_size <= in_file &&
               (header_.buffer_size == in_file || opens_buffer(at + header_.buffer_size) ||
                !opens_anywhere(at))) {
      frame.end = at + header_.buffer_size;
    } else {
      frame.end = end_of_unsized_buffer(at);
      frame.torn = true;
    }
    const uint64_t next = frame.end;
    add(frame);
    return next;
  }

  // Whether a buffer begins off the grid of buffer_size before the next grid point: then
  // buffer_size is wrong here.
  [[nodiscard]] bool opens_anywhere(uint64_t at) const {
    return find_opening(at + 1, at + header_.buffer_size) < at + header_.buffer_size;
  }

  uint64_t end_of_unsized_buffer(uint64_t at) {
    SkipRecords skip_records;
    const WalkEnd walk = walk_fdr_records(file_, at, file_.size(), header_, skip_records);
    const uint64_t end = find_opening(std::max(walk.offset, at + 1));
    if (header_.buffer_size > file_.size() - at && end == file_.size()) {
      frames_.problems.add(
          {Problem::Kind::torn_tail, at, file_name_, "Buffer",
           fmt::format("the file ends inside this buffer of {} bytes{}", header_.buffer_size,
                       walk.end_of_buffer ? ", after its last record" : ""),
           0});
    } else if (walk.end_of_buffer) {
      frames_.problems.add({Problem::Kind::corruption, walk.offset - kMetadataRecordBytes,
                            file_name_, "EndOfBuffer",
                            fmt::format("ends a buffer of {} bytes, where all have {}", end - at,
                                        header_.buffer_size),
                            0});
    }
    return end;
  }

  // Where the buffer's records show that it ends, if they disagree with `end`, its stated end. The
  // result is never before the records already walked, so all calls together are linear in the
  // file.
  [[nodiscard]] std::optional<uint64_t> end_by_records(uint64_t begin, uint64_t end) const {
    SkipRecords skip_records;
    const WalkEnd walk = walk_fdr_records(file_, begin, end, header_, skip_records);
    if (!walk.error) return std::nullopt;
    const uint64_t opening = find_opening(walk.offset, end);
    if (opening != end) return opening;
    // Extents may end inside a record (typed events make them too short); other damage ends where a
    // buffer begins.
    const bool cut = walk.error->cause == Error::Cause::truncated;
    if (cut || end == file_.size() || opens_buffer(end)) return std::nullopt;
    return find_opening(end);
  }

  void add(BufferFrame frame) {
    Cursor in(file_.subspan(static_cast<size_t>(frame.begin),
                            static_cast<size_t>(frame.end - frame.begin)),
              header_.order, frame.begin);
    for (size_t i = 0; i < opening_size_ && !in.at_end(); ++i) {
      const Result<FdrRecord> record = read_fdr_record(in, header_.version);
      if (!record) break;
      if (const auto* buffer = std::get_if<NewBuffer>(&record->payload)) frame.tid = buffer->tid;
      if (const auto* pid = std::get_if<Pid>(&record->payload)) frame.pid = pid->pid;
      if (const auto* wall = std::get_if<WalltimeMarker>(&record->payload)) {
        frame.wall_us = static_cast<uint64_t>(wall->seconds) * 1'000'000 +
                        static_cast<uint64_t>(wall->microseconds);
      }
      if (const auto* cpu = std::get_if<NewCpuId>(&record->payload)) {
        frame.first_tsc = cpu->tsc;
        frame.cpu = cpu->cpu;
        frame.timed = true;
        break;
      }
      if (std::holds_alternative<FunctionRecord>(record->payload)) break;
    }
    frames_.buffers.push_back(frame);
  }

  Bytes file_;
  const FileHeader& header_;
  FdrLayout layout_;
  const std::string& file_name_;
  std::array<MetadataKind, 5> opening_{};  // the records that open a buffer
  size_t opening_size_ = 0;
  FdrFrames frames_;
};

}  // namespace

FdrFrames frame_fdr_file(Bytes file, const FileHeader& header, const std::string& file_name) {
  return Framer(file, header, file_name).run();
}

Error detail::misplaced_opening(uint64_t offset, const FdrPayload& payload) {
  return {
      Error::Cause::bad_order, {}, std::string(record_name(payload)), "is inside a buffer", offset};
}

TimedPlace find_next_timed(Bytes file, const FileHeader& header, uint64_t at, uint64_t end,
                           uint64_t now) {
  Cursor in(file.subspan(static_cast<size_t>(at), static_cast<size_t>(end - at)), header.order, at);
  while (!in.at_end()) {
    const Result<FdrRecord> record = read_fdr_record(in, header.version);
    if (!record || detail::begins_buffer(record->payload) ||
        std::holds_alternative<EndOfBuffer>(record->payload))
      break;
    if (const auto* function = std::get_if<FunctionRecord>(&record->payload))
      return {record->offset, now + function->tsc_delta};
    if (const auto* cpu = std::get_if<NewCpuId>(&record->payload))
      return {record->offset, cpu->tsc};
    if (const auto* wrap = std::get_if<TscWrap>(&record->payload))
      return {record->offset, wrap->tsc};
  }
  return {end, UINT64_MAX};
}

std::optional<Problem> walk_problem(const WalkEnd& walk, Bytes file, const FileHeader& header,
                                    const BufferFrame& frame, const std::string& file_name) {
  Problem problem;
  problem.offset = walk.offset;
  problem.file = file_name;
  problem.lost_bytes = frame.end - walk.offset;
  if (!walk.error) {
    // In the recorder's own cells EndOfBuffer is just the first of the free words.
    if (!walk.end_of_buffer || !header.recorder.cells || frame.torn) return std::nullopt;
    const uint64_t free_from = walk.offset - kMetadataRecordBytes;
    if (is_unused_filler(file.subspan(static_cast<size_t>(free_from),
                                      static_cast<size_t>(frame.end - free_from))))
      return std::nullopt;
    problem.record = "EndOfBuffer";
    problem.message = "comes before the end of the written data; the rest of the buffer is skipped";
    return problem;
  }
  const bool cut = walk.error->cause == Error::Cause::truncated;
  problem.record = walk.error->record;
  if (cut && frame.torn) {
    problem.kind = Problem::Kind::torn_tail;
    problem.message = "the file ends inside this record: " + walk.error->detail;
  } else if (cut) {
    problem.kind = Problem::Kind::loss;
    problem.message = "the buffer's extents end inside this record: " + walk.error->detail;
  } else {
    problem.kind = Problem::Kind::corruption;
    problem.message = walk.error->detail + "; the rest of the buffer is skipped";
  }
  return problem;
}

}  // namespace telltale::xray
