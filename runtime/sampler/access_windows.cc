// Accesses to shared memory. atoms, atoms-rw and compare-swap open a window, in which every access
// is observed; yields yields the processor. Allocates nothing but a thread's own table.
#include "access_windows.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "abi.h"
#include "leader.h"
#include "timestamps.h"
#include "trace.h"

namespace telltale::sampler {
namespace {

constexpr uint32_t kMaxAccessesByOpener = 100;
constexpr uint32_t kMaxAccessesByAll = 60'000;

// The last access to an address. Entries of old windows remain until they are replaced.
struct Entry {
  uintptr_t address;
  uint64_t value;
  uint64_t window;
};

class Table {
 public:
  static constexpr uint32_t kWays = 8;

  Table(Entry* entries, uint32_t sets) : entries_(entries), sets_(sets) {}

  // The entry of `address`, or the one to replace by it; that has another address.
  Entry& find(uintptr_t address) {
    constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
    Entry* const set = entries_ + size_t{kWays} * ((address * kGolden >> 40) % sets_);
    Entry* oldest = set;
    for (uint32_t i = 0; i < kWays; ++i) {
      if (set[i].address == address) return set[i];
      if (set[i].window < oldest->window) oldest = &set[i];
    }
    return *oldest;
  }

 private:
  Entry* entries_;
  uint32_t sets_;
};

void bump(const AccessDescriptor& access, uint32_t row, uint32_t slot) {
  uint64_t* const counter = &access.counters[size_t{row} * 2 + slot];
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  if (is_tracing()) telltale_sampler_trace_v1(counter, 0);
  record_timestamp(access.first, access.last, row);
}

// Looks up the last access, counts whether it differs, and records this one. The first row counts
// always; the second only if the last access was in this window, or in any with `old_too`.
void compare(const AccessDescriptor& access, Entry& entry, uintptr_t address, uint64_t value,
             uint64_t window, bool old_too) {
  const bool found = entry.address == address && entry.window != 0;
  const uint32_t slot = found && entry.value != value ? 1 : 0;
  bump(access, 0, slot);
  if (found && (old_too || entry.window == window)) bump(access, 1, slot);
  entry = {address, value, window};
}

// Counts from 1; numbers are not reused.
uint64_t thread_number() {
  static uint64_t last = 0;
  static thread_local uint64_t mine __attribute__((tls_model("initial-exec"))) = 0;
  if (mine == 0) mine = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  return mine;
}

// The windows of atoms and of atoms-rw, which all threads share.
constexpr uint32_t kSets = 16 * 1024;
struct Atoms {
  uint64_t owner;  // the thread inside; 0 if there is none
  uint64_t opener;
  uint64_t window;  // the number of this one
  uint32_t by_opener;
  uint32_t by_all;
  int32_t* open;
  Entry entries[size_t{kSets} * Table::kWays];
};
Atoms both[2];

Atoms& atoms_of(const AccessDescriptor& access) {
  Atoms& atoms = both[access.window];
  atoms.open =
      access.window == 0 ? &telltale_sampler_atoms_window : &telltale_sampler_atoms_rw_window;
  return atoms;
}

// Waits for a limited time: the thread inside may have left by longjmp, or be stopped.
bool enter_window(Atoms& atoms, uint64_t self) {
  constexpr int kMaxAttempts = 1000;
  for (int i = 0; i < kMaxAttempts; ++i) {
    uint64_t nobody = 0;
    if (__atomic_compare_exchange_n(&atoms.owner, &nobody, self, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return true;
    if (nobody == self) {
      // A signal handler, or a thread that left by longjmp: this access is not observed, the next
      // one finds the window free.
      __atomic_store_n(&atoms.owner, 0, __ATOMIC_RELEASE);
      break;
    }
    ::sched_yield();
  }
  return false;
}

// compare-swap has a window for each thread.
struct Swaps {
  uint64_t window;
  uint32_t accesses;
  Entry entries[size_t{256} * Table::kWays];
};
pthread_key_t swaps_key;
bool has_swaps_key = false;
thread_local Swaps* my_swaps __attribute__((tls_model("initial-exec"))) = nullptr;

void free_swaps(void* memory) {
  telltale_sampler_swap_window = 0;
  my_swaps = nullptr;
  ::munmap(memory, sizeof(Swaps));
}

Swaps* make_swaps() {
  if (!has_swaps_key) return nullptr;
  const int kept = errno;
  void* const memory =
      ::mmap(nullptr, sizeof(Swaps), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = kept;
  if (memory == MAP_FAILED) return nullptr;
  if (::pthread_setspecific(swaps_key, memory) != 0) {
    ::munmap(memory, sizeof(Swaps));
    return nullptr;
  }
  return static_cast<Swaps*>(memory);
}

}  // namespace

void prepare_windows() { has_swaps_key = ::pthread_key_create(&swaps_key, free_swaps) == 0; }

void forget_windows() {
  telltale_sampler_atoms_window = 0;
  telltale_sampler_atoms_rw_window = 0;
  for (Atoms& atoms : both) atoms.owner = 0;
}

}  // namespace telltale::sampler

using telltale::sampler::AccessDescriptor;
using telltale::sampler::both;
using telltale::sampler::EntryPoints;
using telltale::sampler::leader;

#define TELLTALE_SHOWN __attribute__((visibility("default")))

TELLTALE_SHOWN int32_t telltale_sampler_atoms_window = 0;
TELLTALE_SHOWN int32_t telltale_sampler_atoms_rw_window = 0;
TELLTALE_SHOWN thread_local int32_t telltale_sampler_swap_window = 0;

TELLTALE_SHOWN uint32_t telltale_sampler_atoms_enter_v1(const AccessDescriptor* access,
                                                        const void* place) {
  if (const EntryPoints* const other = leader(); other != nullptr)
    return other->atoms_enter(access, place);
  using telltale::sampler::Table;
  telltale::sampler::Atoms& atoms = telltale::sampler::atoms_of(*access);
  if (__atomic_load_n(atoms.open, __ATOMIC_RELAXED) == 0) return 0;
  const uint64_t self = telltale::sampler::thread_number();
  if (!telltale::sampler::enter_window(atoms, self)) return 0;
  if (__atomic_load_n(atoms.open, __ATOMIC_RELAXED) == 0) {
    // The window was closed in the meantime.
    __atomic_store_n(&atoms.owner, 0, __ATOMIC_RELEASE);
    return 0;
  }
  const auto address = reinterpret_cast<uintptr_t>(place);
  telltale::sampler::compare(*access, Table(atoms.entries, telltale::sampler::kSets).find(address),
                             address, self, atoms.window, access->window != 0);
  return 1;
}

TELLTALE_SHOWN void telltale_sampler_atoms_leave_v1(const AccessDescriptor* access) {
  if (const EntryPoints* const other = leader(); other != nullptr)
    return other->atoms_leave(access);
  telltale::sampler::Atoms& atoms = telltale::sampler::atoms_of(*access);
  if (telltale::sampler::thread_number() == atoms.opener) ++atoms.by_opener;
  if (atoms.by_opener >= telltale::sampler::kMaxAccessesByOpener ||
      ++atoms.by_all >= telltale::sampler::kMaxAccessesByAll)
    __atomic_store_n(atoms.open, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&atoms.owner, 0, __ATOMIC_RELEASE);
}

TELLTALE_SHOWN void telltale_sampler_atoms_leave_if_v1(uint32_t watched,
                                                       const AccessDescriptor* access) {
  if (watched != 0) telltale_sampler_atoms_leave_v1(access);
}

TELLTALE_SHOWN void telltale_sampler_atoms_begin_v1(uint32_t watched,
                                                    const AccessDescriptor* access) {
  if (const EntryPoints* const other = leader(); other != nullptr)
    return other->atoms_begin(watched, access);
  telltale::sampler::Atoms& atoms = telltale::sampler::atoms_of(*access);
  if (watched != 0 || __atomic_load_n(atoms.open, __ATOMIC_RELAXED) != 0) return;
  const uint64_t self = telltale::sampler::thread_number();
  if (!telltale::sampler::enter_window(atoms, self)) return;
  if (__atomic_load_n(atoms.open, __ATOMIC_RELAXED) == 0) {
    atoms.opener = self;
    atoms.by_opener = 0;
    atoms.by_all = 0;
    ++atoms.window;
    __atomic_store_n(atoms.open, 1, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&atoms.owner, 0, __ATOMIC_RELEASE);
}

TELLTALE_SHOWN uint32_t telltale_sampler_swap_enter_v1(const AccessDescriptor* access,
                                                       const void* place, uint64_t value) {
  if (const EntryPoints* const other = leader(); other != nullptr) {
    const uint32_t watched = other->swap_enter(access, place, value);
    telltale_sampler_swap_window = other->swap_window();
    return watched;
  }
  telltale::sampler::Swaps* const swaps = telltale::sampler::my_swaps;
  if (swaps == nullptr || telltale_sampler_swap_window == 0) return 0;
  const auto address = reinterpret_cast<uintptr_t>(place);
  constexpr uint32_t kSets =
      sizeof(swaps->entries) / sizeof(swaps->entries[0]) / telltale::sampler::Table::kWays;
  telltale::sampler::compare(*access, telltale::sampler::Table(swaps->entries, kSets).find(address),
                             address, value, swaps->window, false);
  return 1;
}

TELLTALE_SHOWN void telltale_sampler_swap_leave_v1(const AccessDescriptor* access,
                                                   const void* place, uint64_t value) {
  if (const EntryPoints* const other = leader(); other != nullptr) {
    other->swap_leave(access, place, value);
    telltale_sampler_swap_window = other->swap_window();
    return;
  }
  telltale::sampler::Swaps* const swaps = telltale::sampler::my_swaps;
  if (swaps == nullptr) return;
  const auto address = reinterpret_cast<uintptr_t>(place);
  constexpr uint32_t kSets =
      sizeof(swaps->entries) / sizeof(swaps->entries[0]) / telltale::sampler::Table::kWays;
  telltale::sampler::Table(swaps->entries, kSets).find(address) = {address, value, swaps->window};
  if (++swaps->accesses >= telltale::sampler::kMaxAccessesByOpener)
    telltale_sampler_swap_window = 0;
}

TELLTALE_SHOWN void telltale_sampler_swap_leave_if_v1(uint32_t watched,
                                                      const AccessDescriptor* access,
                                                      const void* place, uint64_t value) {
  if (watched != 0) telltale_sampler_swap_leave_v1(access, place, value);
}

TELLTALE_SHOWN void telltale_sampler_swap_begin_v1(uint32_t watched,
                                                   const AccessDescriptor* access) {
  using telltale::sampler::my_swaps;
  if (const EntryPoints* const other = leader(); other != nullptr) {
    other->swap_begin(watched, access);
    telltale_sampler_swap_window = other->swap_window();
    return;
  }
  if (watched != 0 || telltale_sampler_swap_window != 0) return;
  if (my_swaps == nullptr) my_swaps = telltale::sampler::make_swaps();
  if (my_swaps == nullptr) return;
  my_swaps->accesses = 0;
  ++my_swaps->window;
  telltale_sampler_swap_window = 1;
}

TELLTALE_SHOWN void telltale_sampler_yield_v1(uint64_t* counters) {
  __atomic_fetch_sub(&counters[0], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&counters[1], 1, __ATOMIC_RELAXED);
  if (telltale::sampler::is_tracing()) telltale_sampler_trace_v1(&counters[1], 0);
  ::sched_yield();
}
