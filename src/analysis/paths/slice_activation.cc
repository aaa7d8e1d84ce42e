#include "analysis/paths/slice_activation.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace telltale {
namespace {

// The newest are kept.
constexpr size_t kMostKnownVisits = 20'000;

BlockEdges edges_of(const ProgramFlow::Function& function) {
  BlockEdges edges;
  for (const ProgramFlow::Block& block : function.blocks) edges.push_back(block.successors);
  return edges;
}

std::vector<bool> possible_of(const std::vector<Ran>& ran) {
  std::vector<bool> possible;
  for (const Ran each : ran) possible.push_back(each != Ran::no);
  return possible;
}

}  // namespace

SliceActivation::SliceActivation(const ProgramFlow::Function& function, const std::vector<Ran>& ran)
    : edges_(edges_of(function)),
      possible_(possible_of(ran)),
      before_(edges_.size()),
      is_loose_(function.calls_setjmp) {
  for (uint32_t block = 0; block < edges_.size(); ++block) {
    if (!possible_[block]) continue;
    all_possible_.push_back(block);
    for (const uint32_t next : edges_[block]) {
      std::vector<uint32_t>& before = before_[next];
      if (before.empty() || before.back() != block) before.push_back(block);
    }
  }
}

SliceActivation::SliceActivation(const ProgramFlow::Function& function,
                                 const SliceEvidence::Frame& frame)
    : SliceActivation(function, frame.blocks) {
  is_whole_ = frame.is_whole && !is_loose_;
  if (!is_loose_)
    for (const std::vector<uint32_t>& way : frame.ways)
      if (!way.empty()) add_way(way);
  if (!stops_.empty()) return;
  stops_ = frame.stopped_in;
  for (const std::vector<uint32_t>& way : frame.ways)
    if (!way.empty()) stops_.push_back(way.back());
  if (!stops_.empty()) return;
  stops_.resize(edges_.size());
  std::iota(stops_.begin(), stops_.end(), 0U);
  std::erase_if(stops_, [&](uint32_t block) { return !possible_[block]; });
}

// Adds the part of a way that follows edges up to its end.
void SliceActivation::add_way(const std::vector<uint32_t>& way) {
  size_t first = way.size() - 1;
  const size_t room = kMostKnownVisits - std::min(kMostKnownVisits, known_.size());
  const auto follows = [&](size_t i) {
    return std::ranges::find(edges_[way[i - 1]], way[i]) != edges_[way[i - 1]].end();
  };
  while (first > 0 && way.size() - first < room && follows(first)) --first;
  if (first != 0 || way[0] != 0) is_whole_ = false;
  for (size_t i = first; i < way.size(); ++i)
    known_.push_back({.block = way[i], .has_before = i != first});
  stops_.push_back(visits() - 1);
}

bool SliceActivation::is_first(uint32_t visit) const {
  if (visit < edges_.size()) return visit == 0;
  return block(visit) == 0 && !known_[visit - edges_.size()].has_before;
}

std::vector<uint32_t> SliceActivation::last_of(uint32_t block, uint32_t visit,
                                               bool includes_it) const {
  if (includes_it && this->block(visit) == block) return {visit};
  while (visit >= edges_.size() && known_[visit - edges_.size()].has_before) {
    --visit;
    if (this->block(visit) == block) return {visit};
  }
  // In the part of which the order is not known.
  return possible_[block] ? std::vector<uint32_t>{block} : std::vector<uint32_t>();
}

std::vector<uint32_t> SliceActivation::visits_of(uint32_t block) const {
  std::vector<uint32_t> visits;
  if (!is_whole_ && possible_[block]) visits.push_back(block);
  for (size_t i = 0; i < known_.size(); ++i)
    if (known_[i].block == block) visits.push_back(static_cast<uint32_t>(edges_.size() + i));
  return visits;
}

std::vector<uint32_t> SliceActivation::deciding(uint32_t visit) {
  if (!control_) {
    control_ = control_dependences(edges_);
    has_limit_ = control_->size() != edges_.size();
    if (has_limit_) control_->resize(edges_.size());
  }
  const std::vector<ControlEdge>& edges = (*control_)[block(visit)];
  if (edges.empty()) return {};
  const auto decides = [&](uint32_t of) {
    return std::ranges::find(edges, of, &ControlEdge::from) != edges.end();
  };
  while (visit >= edges_.size()) {
    if (!known_[visit - edges_.size()].has_before) {
      if (is_whole_) return {};
      break;
    }
    --visit;
    if (decides(block(visit))) return {visit};
  }
  std::vector<uint32_t> visits;
  for (const ControlEdge& edge : edges) {
    if (possible_[edge.from] && possible_[edge.to] &&
        std::ranges::find(visits, edge.from) == visits.end())
      visits.push_back(edge.from);
  }
  return visits;
}

}  // namespace telltale
