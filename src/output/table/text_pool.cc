#include "output/table/text_pool.h"

#include <functional>

namespace telltale {

size_t TextPool::slot_of(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] != 0 && (*this)[slots_[slot] - 1] != text) slot = (slot + 1) & mask;
  return slot;
}

uint32_t TextPool::find(std::string_view text) const {
  if (slots_.empty()) return kNone;
  const uint32_t found = slots_[slot_of(text)];
  return found == 0 ? kNone : found - 1;
}

uint32_t TextPool::add(std::string_view text) {
  if (2 * (size() + 1) > slots_.size()) grow();
  uint32_t& slot = slots_[slot_of(text)];
  if (slot == 0) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
    slot = static_cast<uint32_t>(size());
  }
  return slot - 1;
}

void TextPool::grow() {
  slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), 0);
  for (uint32_t number = 0; number < size(); ++number)
    slots_[slot_of((*this)[number])] = number + 1;
}

}  // namespace telltale
