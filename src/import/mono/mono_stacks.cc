#include "import/mono/mono_stacks.h"

#include <atomic>

#include "bytes/cursor.h"
#include "bytes/leb_cursor.h"

namespace telltale {
namespace {

// No two live readings share a number.
uint64_t next_reading() {
  static std::atomic<uint32_t> last = 0;
  return uint64_t{++last} << 32;
}

}  // namespace

MonoStacks::Found MonoStacks::add(const mono::EncodedStack& stack, uint64_t hash) {
  if (reading_ == 0) reading_ = next_reading();
  const auto bytes = static_cast<size_t>(stack.end - stack.begin);
  LebCursor in(std::as_bytes(std::span(stack.begin, bytes)));
  Known known{stack, 0, functions_.size()};
  MonoMethods::Lookup ids = methods_.lookup();
  uint64_t method = stack.first;
  functions_.push_back(ids[method & address_mask_]);
  for (uint32_t i = 1; i < stack.methods; ++i) {
    method += static_cast<uint64_t>(in.sleb("frame"));
    functions_.push_back(ids[method & address_mask_]);
  }
  known.steps = method - stack.first;
  const auto number = static_cast<uint32_t>(known_.size());
  known_.push_back(known);
  if (2 * known_.size() > slots_.size()) grow();
  insert({hash, number});
  return found(number);
}

void MonoStacks::insert(const Slot& slot) {
  size_t at = slot.hash & (slots_.size() - 1);
  while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = slot;
}

void MonoStacks::grow() {
  constexpr size_t kFirstSlots = 256;
  std::vector<Slot> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.number != kNone) insert(slot);
}

}  // namespace telltale
