#pragma once

#include "tallies.h"

namespace telltale::sampler {

// Goes through the rows of a scheme's tables: where the counters and tallies of a site are.
class RowCursor {
 public:
  RowCursor(const SchemeTable& scheme, uint32_t bank) : scheme_(scheme), bank_(bank) {}

  [[nodiscard]] bool is_end() const { return row_ >= scheme_.rows; }
  // A search for each row would take as long as all else that a report does with it.
  void next() {
    ++row_;
    while (block_ < scheme_.blocks && uint64_t{first_row(block_)} + kTallySites <= row_) ++block_;
  }

  [[nodiscard]] const SchemeTable& scheme() const { return scheme_; }
  [[nodiscard]] uint32_t row() const { return row_; }
  // Of the first copy.
  [[nodiscard]] uint64_t* counters() const {
    return scheme_.counters + (uint64_t{bank_} * scheme_.rows + row_) * scheme_.arity;
  }
  // Calls `visit` for each place where tallies of the row may be: the distance of the block from
  // the first one of a copy, in bytes, and the site's number in the block.
  template <typename Visit>
  void visit_tallies(const Visit& visit) const {
    for (uint32_t at = block_; at < scheme_.blocks && first_row(at) <= row_; ++at) {
      const uint32_t block = scheme_.tally_blocks[at].by_row;
      const uint32_t site = row_ - first_row(at);
      if (site < scheme_.tally_blocks[block].sites)
        visit((uint64_t{block} * scheme_.banks + bank_) * kTallyBytes, site);
    }
  }

 private:
  [[nodiscard]] uint32_t first_row(uint32_t at) const {
    return scheme_.tally_blocks[scheme_.tally_blocks[at].by_row].row;
  }

  const SchemeTable& scheme_;
  uint32_t bank_;
  uint32_t row_ = 0;
  uint32_t block_ = 0;  // in the order of rows; earlier ones have no later rows
};

}  // namespace telltale::sampler
