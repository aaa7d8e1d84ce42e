#pragma once

#include "tallies.h"
#include "untouched_pages.h"

namespace telltale::sampler {

// Goes through the rows of a scheme's tables: where the counters and tallies of a site are.
class RowCursor {
 public:
  // `untouched` is where zeros need not be read; null: they are read.
  RowCursor(const SchemeTable& scheme, uint32_t bank, UntouchedPages* untouched = nullptr)
      : scheme_(scheme), bank_(bank), untouched_(untouched) {}

  [[nodiscard]] bool is_end() const { return row_ >= scheme_.rows; }
  // A search for each row would take as long as all else that a report does with it.
  void next() { skip(1); }
  void skip(uint32_t rows) {
    row_ += rows;
    while (block_ < scheme_.blocks && uint64_t{first_row(block_)} + kTallySites <= row_) ++block_;
  }

  // Zeros are looked for in so many rows at a time.
  static constexpr uint32_t kRowsAtOnce = 64;
  // How many rows from this one on are certainly zeros. Most rows of most reports are: looking at
  // many of them at a time is several times as fast. Not for schemes in thread slots.
  [[nodiscard]] uint32_t zero_rows() {
    if (zeros_end_ <= row_) zeros_end_ = find_zeros_end();
    return zeros_end_ - row_;
  }

  [[nodiscard]] const SchemeTable& scheme() const { return scheme_; }
  [[nodiscard]] uint32_t row() const { return row_; }
  // The row's counters, in the first copy.
  [[nodiscard]] uint64_t* counters() const {
    return scheme_.counters + (uint64_t{bank_} * scheme_.rows + row_) * scheme_.arity;
  }
  // Calls `visit` for each place where tallies of the row may be: the distance of the block from
  // the first one of a copy, in bytes, and the site's number in the block.
  template <typename Visit>
  void visit_tallies(const Visit& visit) const {
    for (uint32_t at = block_; at < scheme_.blocks && first_row(at) <= row_; ++at) {
      const uint32_t site = row_ - first_row(at);
      if (site < scheme_.tally_blocks[block_at(at)].sites) visit(place_of(block_at(at)), site);
    }
  }

 private:
  [[nodiscard]] uint32_t block_at(uint32_t at) const { return scheme_.tally_blocks[at].by_row; }
  [[nodiscard]] uint32_t first_row(uint32_t at) const {
    return scheme_.tally_blocks[block_at(at)].row;
  }
  [[nodiscard]] uint64_t place_of(uint32_t block) const {
    return (uint64_t{block} * scheme_.banks + bank_) * kTallyBytes;
  }
  [[nodiscard]] bool are_zeros(const uint64_t* words, uint64_t count) const {
    if (untouched_ != nullptr && untouched_->contain(words, count * sizeof(uint64_t))) return true;
    uint64_t all = 0;
    for (uint64_t i = 0; i < count; ++i) all |= __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    return all == 0;
  }

  // The end of the zeros from this row on, at most kRowsAtOnce.
  [[nodiscard]] uint32_t find_zeros_end() const {
    uint32_t end = scheme_.rows - row_ > kRowsAtOnce ? row_ + kRowsAtOnce : scheme_.rows;
    // Bytes of a block that no site has are zeros, too, or make the search end too early.
    for (uint32_t at = block_; at < scheme_.blocks && first_row(at) < end; ++at) {
      const uint8_t* const block = scheme_.tallies + place_of(block_at(at));
      if (!are_zeros(reinterpret_cast<const uint64_t*>(block), kTallyBytes / sizeof(uint64_t)))
        end = first_row(at) > row_ ? first_row(at) : row_;
    }
    if (are_zeros(counters(), uint64_t{end - row_} * scheme_.arity)) return end;
    uint32_t zeros = row_;
    const uint64_t* counter = counters();
    while (zeros < end && are_zeros(counter, scheme_.arity)) {
      ++zeros;
      counter += scheme_.arity;
    }
    return zeros;
  }

  const SchemeTable& scheme_;
  uint32_t bank_;
  UntouchedPages* untouched_;
  uint32_t row_ = 0;
  uint32_t block_ = 0;  // in the order of rows; earlier ones have no later rows
  uint32_t zeros_end_ = 0;
};

}  // namespace telltale::sampler
