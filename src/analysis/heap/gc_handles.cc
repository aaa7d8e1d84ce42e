#include "analysis/heap/gc_handles.h"

#include <algorithm>
#include <utility>

#include "base/sort_rows.h"

namespace telltale {

void GcHandles::on(const HandleEvent& event) {
  const auto kind = static_cast<size_t>(event.kind);
  if (kind >= kKinds) return;
  if (pieces_.empty() || pieces_.back().place != place_) pieces_.push_back({process_, place_, {}});
  Change& change = pieces_.back().kinds[kind];
  change.made += event.created ? 1 : -1;
  change.most = std::max(change.most, change.made);
  if (event.created) ++change.created;
}

void GcHandles::append(const GcHandles& next) {
  pieces_.insert(pieces_.end(), next.pieces_.begin(), next.pieces_.end());
}

std::array<GcHandles::Kind, GcHandles::kKinds> GcHandles::kinds() const {
  std::vector<Piece> sorted = pieces_;
  sort_rows(sorted, {}, [](const Piece& piece) { return std::pair(piece.process, piece.place); });
  std::array<Kind, kKinds> kinds{};
  std::array<int64_t, kKinds> alive{};
  size_t process = 0;
  for (const Piece& piece : sorted) {
    if (piece.process != process) alive = {};
    process = piece.process;
    for (size_t i = 0; i < kKinds; ++i) {
      const Change& change = piece.kinds[i];
      kinds[i].most = std::max(kinds[i].most, alive[i] + change.most);
      alive[i] += change.made;
      kinds[i].created += change.created;
      kinds[i].destroyed += change.created - static_cast<uint64_t>(change.made);
    }
  }
  return kinds;
}

}  // namespace telltale
