#include "guard.h"

#include "system.h"

namespace telltale::st {
namespace {
uint32_t inside = 0;
Retired* retired = nullptr;

void push(Retired* first, Retired* last) {
  Retired* head = __atomic_load_n(&retired, __ATOMIC_RELAXED);
  do {
    last->link = head;
  } while (!__atomic_compare_exchange_n(&retired, &head, first, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED));
}

// Whatever is taken off the list here was replaced before: if we are the only thread inside after
// that, no thread holds it.
void clean() {
  Retired* const items = __atomic_exchange_n(&retired, nullptr, __ATOMIC_SEQ_CST);
  if (items == nullptr) return;
  if (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) != 1) {
    Retired* last = items;
    while (last->link != nullptr) last = last->link;
    push(items, last);
    return;
  }
  for (Retired* item = items; item != nullptr;) {
    const Retired copy = *item;
    for (int i = 0; i < 2; ++i) {
      if (copy.base[i] != nullptr) unmap(copy.base[i], copy.bytes[i]);
    }
    item = copy.link;
  }
}
}  // namespace

Inside::Inside() { __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST); }

Inside::~Inside() {
  if (__atomic_load_n(&retired, __ATOMIC_RELAXED) != nullptr) clean();
  __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

void Inside::retire(Retired* item) { push(item, item); }

void Inside::reset(uint32_t times) { __atomic_store_n(&inside, times, __ATOMIC_SEQ_CST); }

}  // namespace telltale::st
