#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/paths/control_dependence.h"
#include "analysis/paths/slice.h"

namespace telltale {

// The blocks of an activation, or of all other activations of a function together, as a backward
// slice goes through them. A visit is a block at a place in the order of execution. The first
// visits are those of the blocks by index, whose order is not known; visits of known order follow.
class SliceActivation {
 public:
  // For all activations of a function that are not on the stack. `ran`: by block.
  SliceActivation(const ProgramFlow::Function& function, const std::vector<Ran>& ran);
  // For one on the stack.
  SliceActivation(const ProgramFlow::Function& function, const SliceEvidence::Frame& frame);

  [[nodiscard]] uint32_t block(uint32_t visit) const {
    return visit < edges_.size() ? visit : known_[visit - edges_.size()].block;
  }
  [[nodiscard]] uint32_t visits() const {
    return static_cast<uint32_t>(edges_.size() + known_.size());
  }
  // Calls use(visit) for those that may come directly before.
  template <typename Use>
  void for_each_before(uint32_t visit, const Use& use) const {
    if (visit >= edges_.size()) {
      const Known& known = known_[visit - edges_.size()];
      if (known.has_before) return use(visit - 1);
      if (is_whole_) return;
      visit = known.block;
    }
    for (const uint32_t before : is_loose_ ? all_possible_ : before_[visit]) use(before);
  }
  // Whether the activation may begin with it.
  [[nodiscard]] bool is_first(uint32_t visit) const;
  // Visits that may be the last of a block before `visit`, or `visit` itself if it is of the block
  // and `includes_it`.
  [[nodiscard]] std::vector<uint32_t> last_of(uint32_t block, uint32_t visit,
                                              bool includes_it) const;
  // All visits of a block that may have taken place.
  [[nodiscard]] std::vector<uint32_t> visits_of(uint32_t block) const;
  // Visits with the branches that may have decided that `visit` took place.
  [[nodiscard]] std::vector<uint32_t> deciding(uint32_t visit);
  // Those in which it stopped, of an activation on the stack.
  [[nodiscard]] const std::vector<uint32_t>& stops() const { return stops_; }
  [[nodiscard]] bool is_possible(uint32_t block) const { return possible_[block]; }
  // Control may come from anywhere (setjmp): no definition hides an older one.
  [[nodiscard]] bool is_loose() const { return is_loose_; }
  [[nodiscard]] bool has_limit() const { return has_limit_; }

 private:
  struct Known {
    uint32_t block = 0;
    bool has_before = false;  // the visit before it in the list is the one before
  };
  void add_way(const std::vector<uint32_t>& way);

  BlockEdges edges_;
  std::vector<bool> possible_;
  BlockEdges before_;                   // possible ones, without an order that is known
  std::vector<uint32_t> all_possible_;  // blocks
  std::vector<Known> known_;
  std::vector<uint32_t> stops_;
  bool is_whole_ = false;
  bool is_loose_ = false;
  bool has_limit_ = false;
  std::optional<std::vector<std::vector<ControlEdge>>> control_;  // once it is needed
};

}  // namespace telltale
