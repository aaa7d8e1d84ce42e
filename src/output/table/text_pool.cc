#include "output/table/text_pool.h"

#include <functional>

namespace telltale {
uint32_t TextPool::hash_of(std::string_view text) {
  return static_cast<uint32_t>(std::hash<std::string_view>()(text));
}

size_t TextPool::slot_of(std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].text != 0 &&
         (slots_[slot].hash != hash || (*this)[slots_[slot].text - 1] != text)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

uint32_t TextPool::find(std::string_view text) const {
  if (slots_.empty()) return kNone;
  const uint32_t found = slots_[slot_of(text, hash_of(text))].text;
  return found == 0 ? kNone : found - 1;
}

uint32_t TextPool::add(std::string_view text) {
  if (2 * (size() + 1) > slots_.size()) grow();
  const uint32_t hash = hash_of(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.text == 0) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
    slot = {static_cast<uint32_t>(size()), hash};
  }
  return slot.text - 1;
}

void TextPool::grow() {
  std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& text : old) {
    if (text.text == 0) continue;
    size_t slot = text.hash & mask;
    while (slots_[slot].text != 0) slot = (slot + 1) & mask;
    slots_[slot] = text;
  }
}

}  // namespace telltale
