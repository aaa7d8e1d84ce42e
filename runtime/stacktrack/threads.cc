#include "threads.h"

#include <cstring>

namespace telltale::st {
namespace {

constexpr uint64_t kSlabBytes = 1U << 16;
constexpr uint32_t kNodesInSlab = kSlabBytes / sizeof(Node);
constexpr uint32_t kMostSlabs = 1U << 12;

Node* slabs[kMostSlabs];
uint32_t node_count = 0;
uint32_t thread_count = 0;
uint32_t looked_at = 0;

Node* node_at(uint32_t index) {
  Node* const slab = __atomic_load_n(&slabs[index / kNodesInSlab], __ATOMIC_ACQUIRE);
  return slab == nullptr ? nullptr : slab + index % kNodesInSlab;
}

Node* make_node() {
  const uint32_t index = __atomic_fetch_add(&node_count, 1, __ATOMIC_RELAXED);
  if (index / kNodesInSlab >= kMostSlabs) {
    __atomic_fetch_sub(&node_count, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  Node** const place = &slabs[index / kNodesInSlab];
  if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == nullptr) {
    void* const memory = map_memory(kSlabBytes);
    if (memory == nullptr) return nullptr;
    Node* expected = nullptr;
    if (!__atomic_compare_exchange_n(place, &expected, static_cast<Node*>(memory), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      unmap(memory, kSlabBytes);
    }
  }
  return node_at(index);
}

}  // namespace

detail::Thread Threads::none;

uint32_t Threads::take_over(Node& node, uint32_t pid, uint32_t tid) {
  uint32_t owner = __atomic_load_n(&node.tid32, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&node.taken, __ATOMIC_ACQUIRE) == 0 || owner == 0) return 0;
  // A previous owner with our own tid is gone, otherwise we could not have that tid.
  if (owner != tid && !thread_is_gone(pid, owner)) return 0;
  const bool is_ours = __atomic_compare_exchange_n(&node.tid32, &owner, 0, false, __ATOMIC_ACQ_REL,
                                                   __ATOMIC_RELAXED);
  return is_ours ? owner : 0;
}

// Checks a few nodes, different ones each time: threads that come and go reuse one another's nodes,
// and with ten thousand that stay a new one costs only a few system calls.
Node* Threads::find_left_over(uint32_t pid, uint32_t tid) {
  const uint32_t count = __atomic_load_n(&node_count, __ATOMIC_RELAXED);
  for (uint32_t attempt = 0; attempt < 4 && attempt < count; ++attempt) {
    Node* const node = node_at(__atomic_fetch_add(&looked_at, 1, __ATOMIC_RELAXED) % count);
    if (node != nullptr && take_over(*node, pid, tid) != 0) return node;
  }
  return nullptr;
}

Node* Threads::attach(uint32_t pid, uint32_t tid, bool* inherited) {
  Node* node = find_left_over(pid, tid);
  *inherited = node != nullptr;
  if (node == nullptr) node = make_node();
  if (node == nullptr) return nullptr;
  take_memory();
  if (__tsan_acquire != nullptr) __tsan_acquire(static_cast<detail::Thread*>(node));
  node->number = __atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED);
  node->tid = uint64_t{tid} << 32;
  node->head = uint64_t{node->number & 0xffff} << 16 | uint64_t{pid} << 32;
  node->sequence = 0;
  node->countdown = 0;
  node->name[0] = 0;
  for (uint64_t& named : node->named) named = 0;
  for (Stream& stream : node->streams) stream.name_asked = false;
  __atomic_store_n(&node->limit, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&node->tid32, tid, __ATOMIC_RELEASE);
  __atomic_store_n(&node->taken, 1, __ATOMIC_RELEASE);
  return node;
}

void Threads::interrupt_all() {
  for_each([](Node& node) {
    __atomic_store_n(&node.limit, 0, __ATOMIC_SEQ_CST);
    return true;
  });
}

Node* Threads::at(uint32_t index) {
  const uint32_t count = __atomic_load_n(&node_count, __ATOMIC_SEQ_CST);
  return index < count && index / kNodesInSlab < kMostSlabs ? node_at(index) : nullptr;
}

void Threads::forget_all() {
  for (Node*& slab : slabs) {
    if (slab == nullptr) break;
    std::memset(static_cast<void*>(slab), 0, kSlabBytes);
  }
  node_count = 0;
}

}  // namespace telltale::st
