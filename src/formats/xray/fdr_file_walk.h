#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/fdr_walk.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// Bytes of an FDR file outside any record.
struct SkippedBytes {
  enum class Reason : uint8_t {
    filler,  // version 1: between EndOfBuffer and the buffer's end; the unused rest of a cell
    gap,     // between buffers: no buffer begins there
    damage,  // the rest of a buffer after an unreadable record
  };
  uint64_t offset = 0;
  Bytes bytes;
  Reason reason = Reason::gap;
};

// Passes a whole FDR file after its header to a visitor, in file order, every byte exactly once:
//   visitor.begin_buffer(const BufferFrame&)     before its records (BufferExtents is the first)
//   visitor.function(uint64_t offset, const FunctionRecord&)
//   visitor.metadata(const FdrRecord&)           every other record
//   visitor.skipped(const SkippedBytes&)         between buffers, or last in one
//   visitor.end_buffer(const BufferFrame&)
//   visitor.problem(const Problem&)              before the bytes that it concerns
// `frames` is the result of frame_fdr_file for the same file. Never fails; memory does not grow
// with the file.
template <typename Visitor>
void walk_fdr_file(Bytes file, const FileHeader& header, const FdrFrames& frames,
                   const std::string& file_name, Visitor& visitor);

namespace detail {

template <typename Visitor>
void walk_frame(Bytes file, const FileHeader& header, const BufferFrame& frame,
                const std::string& file_name, Visitor& visitor) {
  visitor.begin_buffer(frame);
  if (frame.begin != frame.frame_begin) {
    Cursor in(file.subspan(static_cast<size_t>(frame.frame_begin),
                           static_cast<size_t>(frame.begin - frame.frame_begin)),
              header.order, frame.frame_begin);
    if (const Result<FdrRecord> extents = read_fdr_record(in, header.version))
      visitor.metadata(*extents);
  }
  const WalkEnd walk = walk_fdr_records(file, frame.begin, frame.end, header, visitor);
  const std::optional<Problem> problem = walk_problem(walk, file, header, frame, file_name);
  if (problem) visitor.problem(*problem);
  if (walk.offset != frame.end) {
    const Bytes rest = file.subspan(static_cast<size_t>(walk.offset),
                                    static_cast<size_t>(frame.end - walk.offset));
    visitor.skipped(
        {walk.offset, rest, problem ? SkippedBytes::Reason::damage : SkippedBytes::Reason::filler});
  }
  visitor.end_buffer(frame);
}

}  // namespace detail

template <typename Visitor>
void walk_fdr_file(Bytes file, const FileHeader& header, const FdrFrames& frames,
                   const std::string& file_name, Visitor& visitor) {
  const std::vector<Problem> problems = frames.problems.kept();
  size_t next_problem = 0;
  const auto tell_problems_before = [&](uint64_t offset) {
    while (next_problem < problems.size() && problems[next_problem].offset < offset) {
      visitor.problem(problems[next_problem++]);
    }
  };
  size_t next_gap = 0;
  const auto tell_gaps_before = [&](uint64_t offset) {
    for (; next_gap < frames.gaps.size() && frames.gaps[next_gap].offset < offset; ++next_gap) {
      const Gap& gap = frames.gaps[next_gap];
      tell_problems_before(gap.offset + gap.bytes);
      const Bytes bytes =
          file.subspan(static_cast<size_t>(gap.offset), static_cast<size_t>(gap.bytes));
      visitor.skipped({gap.offset, bytes,
                       gap.slack ? SkippedBytes::Reason::filler : SkippedBytes::Reason::gap});
    }
  };
  for (const BufferFrame& frame : frames.buffers) {
    tell_gaps_before(frame.frame_begin);
    tell_problems_before(frame.end);
    detail::walk_frame(file, header, frame, file_name, visitor);
  }
  tell_gaps_before(file.size());
  tell_problems_before(UINT64_MAX);
}

}  // namespace telltale::xray
