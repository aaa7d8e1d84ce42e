#include "formats/xray/fdr_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "formats/xray/fdr_walk.h"

namespace telltale::xray {
namespace {

// Accepts every record and does nothing with it.
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
          at = skip_slack(at);
          continue;
        }
        const uint64_t next = find_opening(at + 1);
        skip(at, next - at);
        at = next;
        continue;
      }
      at = layout_.has_extents ? take_extents_frame(at) : take_fixed_frame(at);
    }
    return std::move(frames_);
  }

 private:
  [[nodiscard]] bool is_kind(uint64_t at, MetadataKind kind) const {
    const auto first = std::to_integer<uint8_t>(file_[static_cast<size_t>(at)]);
    const auto number = static_cast<uint8_t>(kind);
    return first == (header_.order == std::endian::little ? (number << 1 | 1) : (0x80 | number));
  }

  // True if the records at `at` have the kinds that open a buffer, as far as the file goes.
  // BufferExtents alone, or cut, is enough at the end of a file.
  [[nodiscard]] bool opens_buffer(uint64_t at) const {
    for (size_t i = 0; i < opening_size_; ++i) {
      const uint64_t record = at + i * kMetadataRecordBytes;
      if (record >= file_.size()) return true;
      if (!is_kind(record, opening_[i])) return opens_short_buffer(at, i);
    }
    return true;
  }

  // A buffer need not have a full preamble to be one: a frame whose extents end exactly where the
  // preamble does.
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
    // The full opening must be in the file: a shorter match in the middle of damage proves nothing.
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

  // Files of telltale's own recorder: where the cell ends that holds the byte at `at`.
  [[nodiscard]] uint64_t cell_end(uint64_t at) const {
    const uint64_t in_cell = (at - kFileHeaderBytes) % header_.buffer_size;
    return at + std::min<uint64_t>(header_.buffer_size - in_cell, file_.size() - at);
  }
  uint64_t skip_slack(uint64_t at) {
    const uint64_t end = cell_end(at);
    if (!frames_.gaps.empty() && frames_.gaps.back().slack &&
        frames_.gaps.back().offset + frames_.gaps.back().bytes == at) {
      frames_.gaps.back().bytes += end - at;
    } else {
      frames_.gaps.push_back({at, end - at, true});
    }
    return end;
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

  // Versions 2 and later: the BufferExtents record at `at` says how long the buffer is. Returns
  // where to go on.
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
    if (extents > in_file) {
      // Either the writer died or the number is damaged; a buffer that begins further on shows
      // which.
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
      const bool ends_well =
          frame.end == file_.size() ||
          (header_.recorder.cells ? frame.end <= cell_end(at) : opens_buffer(frame.end));
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

  // Version 1: buffers of the header's buffer_size, filler included.
  uint64_t take_fixed_frame(uint64_t at) {
    BufferFrame frame;
    frame.frame_begin = frame.begin = at;
    const uint64_t in_file = file_.size() - at;
    if (header_.buffer_size != 0 && header_.buffer_size <= in_file &&
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
    const bool torn = !walk.end_of_buffer;
    if (torn && header_.buffer_size > file_.size() - at) {
      frames_.problems.add(
          {Problem::Kind::torn_tail, at, file_name_, "Buffer",
           fmt::format("the file ends inside this buffer of {} bytes", header_.buffer_size), 0});
    }
    return find_opening(std::max(walk.offset, at + 1));
  }

  // Where the records that begin at `begin` show that a buffer ends, if that is not `end`, where it
  // is said to end. The answer is never before what was walked through, so that all calls together
  // stay linear in the file.
  [[nodiscard]] std::optional<uint64_t> end_by_records(uint64_t begin, uint64_t end) const {
    SkipRecords skip_records;
    const WalkEnd walk = walk_fdr_records(file_, begin, end, header_, skip_records);
    if (!walk.error) return std::nullopt;
    const uint64_t opening = find_opening(walk.offset, end);
    if (opening != end) return opening;
    // Extents may end inside a record (typed events shorten them); other damage ends where a buffer
    // begins.
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
  return {Error::Cause::bad_order,
          {},
          std::string(record_name(payload)),
          "stands inside a buffer",
          offset};
}

Problem walk_problem(const WalkEnd& walk, uint64_t end, const BufferFrame& frame,
                     const std::string& file_name) {
  const bool cut = walk.error->cause == Error::Cause::truncated;
  Problem problem;
  problem.offset = walk.offset;
  problem.file = file_name;
  problem.record = walk.error->record;
  problem.lost_bytes = end - walk.offset;
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
