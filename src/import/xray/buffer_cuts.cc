#include "import/xray/buffer_cuts.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/parallel.h"

namespace telltale {
namespace {

// A time stamp, absolute or relative to the first record read.
struct RunningTime {
  uint64_t tsc = 0;
  bool absolute = false;

  void move(uint64_t ticks) { tsc += ticks; }
  void set(uint64_t to) { *this = {to, true}; }
  // Combines this with `later`, which began here.
  [[nodiscard]] RunningTime then(const RunningTime& later) const {
    return later.absolute ? later : RunningTime{tsc + later.tsc, absolute};
  }
};

// Reads a piece of a buffer without knowing the time before it.
class PieceScan {
 public:
  PieceScan() = default;
  PieceScan(Bytes file, const xray::FileHeader& header, uint64_t begin, uint64_t end)
      : begin_(begin) {
    const xray::WalkEnd walk = xray::walk_fdr_records(file, begin, end, header, *this);
    end_ = walk.offset;
    ends_buffer_ = walk.end_of_buffer;
  }

  template <typename Run>
  uint64_t functions(const Run& run) {
    uint64_t at = run.begin();
    if (!cut_) {
      at = run.for_each([&](uint64_t offset, const xray::FunctionRecord& record, bool) {
        if (moved_) cut_ = Cut{offset, time_};
        time_.move(record.tsc_delta);
        moved_ = record.tsc_delta != 0;
        return !cut_;
      });
    }
    uint64_t ticks = 0;
    at = run.from(at).for_each(
        [&](uint64_t, const xray::FunctionRecord& record, bool) { ticks += record.tsc_delta; });
    time_.move(ticks);
    return at;
  }
  void metadata(const xray::FdrRecord& record) {
    moved_ = false;
    if (xray::detail::begins_buffer(record.payload)) begins_buffer_ = true;
    if (const auto* cpu = std::get_if<xray::NewCpuId>(&record.payload)) {
      time_.set(cpu->tsc);
    } else if (const auto* wrap = std::get_if<xray::TscWrap>(&record.payload)) {
      time_.set(wrap->tsc);
    } else if (const auto* custom = std::get_if<xray::CustomEvent>(&record.payload)) {
      // 0 if the event has its own time.
      time_.move(static_cast<uint64_t>(int64_t{custom->tsc_delta}));
    } else if (const auto* typed = std::get_if<xray::TypedEvent>(&record.payload)) {
      time_.move(static_cast<uint64_t>(int64_t{typed->tsc_delta}));
    }
  }

  struct Cut {
    uint64_t offset;
    RunningTime time;
  };
  [[nodiscard]] uint64_t begin() const { return begin_; }
  [[nodiscard]] uint64_t end() const { return end_; }  // one past the last whole record
  [[nodiscard]] bool ends_buffer() const { return ends_buffer_; }
  // The piece begins with a record that occurs only at the start of a buffer.
  [[nodiscard]] bool begins_buffer() const { return begins_buffer_; }
  // The first position at which the piece can be cut.
  [[nodiscard]] const std::optional<Cut>& cut() const { return cut_; }
  [[nodiscard]] const RunningTime& time() const { return time_; }

 private:
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  std::optional<Cut> cut_;
  RunningTime time_;
  bool moved_ = false;  // the time, with the last record
  bool ends_buffer_ = false;
  bool begins_buffer_ = false;
};

}  // namespace

std::vector<BufferCut> cut_buffer(Bytes file, const xray::FileHeader& header, uint64_t begin,
                                  uint64_t end, uint64_t piece_bytes, size_t workers) {
  // Only the previous piece determines whether a record begins at the start of a piece. Since
  // nearly all records have 8 or 16 bytes, all pieces are read concurrently, and reread where the
  // guess was wrong.
  const auto piece_end = [&](uint64_t piece) {
    return std::min(end, begin + (piece + 1) * piece_bytes);
  };
  std::vector<PieceScan> pieces(static_cast<size_t>((end - begin) / piece_bytes));
  parallel_for(pieces.size(), workers, [&](size_t i, size_t) {
    pieces[i] = PieceScan(file, header, begin + i * piece_bytes, piece_end(i));
  });
  std::vector<BufferCut> cuts;
  RunningTime time;
  uint64_t at = begin;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].begin() != at) pieces[i] = PieceScan(file, header, at, piece_end(i));
    const PieceScan& piece = pieces[i];
    if (i != 0) {
      if (piece.begins_buffer() || piece.end() == at) break;
      if (piece.cut()) {
        const RunningTime at_cut = time.then(piece.cut()->time);
        if (at_cut.absolute) cuts.push_back({piece.cut()->offset, at_cut.tsc});
      }
    }
    if (piece.ends_buffer()) break;
    time = time.then(piece.time());
    at = piece.end();
  }
  return cuts;
}

std::optional<BufferCut> last_cut(Bytes file, const xray::FileHeader& header, uint64_t begin,
                                  uint64_t end) {
  const PieceScan scan(file, header, begin, end);
  if (!scan.time().absolute) return std::nullopt;
  return BufferCut{scan.end(), scan.time().tsc};
}

}  // namespace telltale
