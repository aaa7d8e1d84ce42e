#include "side_record.h"

#include "state.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {
namespace {

constexpr size_t kPoolBytes = size_t{64} << 20;
constexpr size_t kStep = size_t{64} << 10;

struct Pool {
  std::byte* base;
  size_t used;
  SpinLock lock;
  uint32_t assigned;
};
Pool pool = {};

// Writes the part of the pool that the file lacks: more than the last record if the disk was full
// for a while.
void copy_to_file() {
  if (side_file.base() == nullptr) return;
  const size_t end = sizeof(SideHeader) + pool.used;
  const size_t from = state.side->committed - sizeof(SideHeader);
  if (end > side_file.allocated() &&
      !side_file.grow(least(side_file.mapped(), most(end, side_file.allocated() + kStep))) &&
      !side_file.grow(end)) {
    return;
  }
  copy_bytes(side_file.base() + sizeof(SideHeader) + from, pool.base + from, pool.used - from);
  __atomic_store_n(&state.side->committed, end, __ATOMIC_RELEASE);
}

}  // namespace

bool append_side(SideKind kind, const void* first, size_t first_bytes, const void* second,
                 size_t second_bytes) {
  const Locked locked(pool.lock);
  if (pool.base == nullptr) pool.base = static_cast<std::byte*>(sys::map_private(kPoolBytes));
  const size_t bytes = (8 + first_bytes + second_bytes + 7) / 8 * 8;
  if (pool.base == nullptr || pool.used + bytes > kPoolBytes) return false;
  std::byte* const at = pool.base + pool.used;
  const uint32_t head[2] = {static_cast<uint32_t>(kind), static_cast<uint32_t>(bytes)};
  copy_bytes(at, head, sizeof(head));
  copy_bytes(at + 8, first, first_bytes);
  copy_bytes(at + 8 + first_bytes, second, second_bytes);
  // Last: a child forked before this has none of it.
  __atomic_store_n(&pool.used, pool.used + bytes, __ATOMIC_RELEASE);
  copy_to_file();
  return true;
}

void reset_side_lock() { pool.lock.reset(); }

void rewrite_side() {
  const Locked locked(pool.lock);
  copy_to_file();
}

void cut_side_record() {
  const Locked locked(pool.lock);
  side_file.cut(sizeof(SideHeader) + pool.used);
}

const void* side_records(size_t& bytes) {
  bytes = pool.used;
  return pool.base;
}

uint32_t assign_function_id(uint64_t address) {
  const sys::BlockSignals blocked;
  const uint32_t number = __atomic_fetch_add(&pool.assigned, 1, __ATOMIC_RELAXED);
  if (number > xray::kMaxFdrFunctionId - xray::kFirstAssignedId) return 0;
  struct {
    uint32_t first_id;
    uint32_t count;
    uint64_t address;
  } record = {xray::kFirstAssignedId + number, 1, address};
  append_side(SideKind::assigned, &record, sizeof(record));
  return record.first_id;
}

}  // namespace telltale::recorder
