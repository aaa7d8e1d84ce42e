#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// Distinct texts, numbered from 0 in order of insertion; each is stored once. Memory: the bytes of
// the texts, and 24 to 40 bytes per text.
class TextPool {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // The number of `text`; kNone if absent.
  [[nodiscard]] uint32_t find(std::string_view text) const;
  // The same, but adds a new text. REQUIRES: fewer than kNone texts.
  uint32_t add(std::string_view text);

  [[nodiscard]] size_t size() const { return ends_.size(); }
  // REQUIRES: number < size(). Valid until the next add().
  [[nodiscard]] std::string_view operator[](uint32_t number) const {
    const size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
  }

 private:
  static uint32_t hash_of(std::string_view text);
  // The slot of `text` in slots_, or where to insert it. REQUIRES: a free slot.
  [[nodiscard]] size_t slot_of(std::string_view text, uint32_t hash) const;
  void grow();

  struct Slot {
    uint32_t text = 0;  // 1 + its number; 0: free
    uint32_t hash = 0;  // of the text: most others differ in it, and it need not be computed again
  };

  std::string bytes_;         // bytes of all texts, concatenated
  std::vector<size_t> ends_;  // where each text ends in bytes_
  std::vector<Slot> slots_;   // open addressing; never full
};

}  // namespace telltale
