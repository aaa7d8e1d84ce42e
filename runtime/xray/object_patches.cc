#include "object_patches.h"

#include "frequent_functions.h"
#include "name_patterns.h"
#include "record.h"
#include "side_record.h"

namespace telltale::recorder {
namespace {

// By function number, from 1: whether the list of globs includes it. Null: no memory, or no list.
struct Choice {
  uint8_t* chosen = nullptr;
  size_t bytes = 0;
  [[nodiscard]] bool of(uint32_t function) const {
    return chosen == nullptr || chosen[function] != 0;
  }
};

// First the functions' addresses by number, then the symbol at each.
Choice choose(const Object& object, const char* list) {
  Choice choice;
  if (*list == '\0') return choice;
  const size_t functions = object.record.functions + size_t{1};
  choice.bytes = functions * (1 + sizeof(uint64_t));
  auto* const memory = static_cast<uint8_t*>(sys::map_private(choice.bytes));
  if (memory == nullptr) return choice;
  auto* const addresses = reinterpret_cast<uint64_t*>(memory);
  choice.chosen = memory + functions * sizeof(uint64_t);
  bool sorted = true;
  for_each_sled(object, [&](const Sled& sled, uint32_t function) {
    addresses[function] = sled.function() - object.record.bias;
    sorted = sorted && addresses[function - 1] <= addresses[function];
  });
  // Unnamed functions are included only by a list that includes all others.
  for (size_t i = 1; i < functions; ++i) choice.chosen[i] = *list == '!' ? 1 : 0;
  const ElfFile file(file_of(object));
  if (!file.valid()) return choice;
  file.for_each_function([&](const char* name, uint64_t address) {
    size_t low = 1;
    size_t high = functions;
    while (sorted && low < high) {
      const size_t middle = low + (high - low) / 2;
      if (addresses[middle] < address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bool known = false;
    bool chosen = false;
    for (size_t i = low; i < functions && (!sorted || addresses[i] == address); ++i) {
      if (addresses[i] != address) continue;
      if (!known) chosen = is_chosen(list, name);
      known = true;
      choice.chosen[i] = chosen ? 1 : 0;
    }
  });
  return choice;
}

bool is_entry(const Sled& sled) { return sled.kind == 0 || sled.kind == 3; }

// Makes the code with the object's sleds writable as long as it lives.
class WritableCode {
 public:
  explicit WritableCode(const Object& object) {
    code_range(object, low_, high_);
    low_ = low_ / kPage * kPage;
    high_ = (high_ + kPage - 1) / kPage * kPage;
    writable_ = protect(kReadExecute | PROT_WRITE);
  }
  ~WritableCode() {
    if (writable_) protect(kReadExecute);
  }
  WritableCode(const WritableCode&) = delete;
  WritableCode& operator=(const WritableCode&) = delete;

  [[nodiscard]] bool writable() const { return writable_; }

 private:
  static constexpr int kReadExecute = PROT_READ | PROT_EXEC;
  bool protect(int access) const {  // false: not possible
    return !sys::failed(sys::call(SYS_mprotect, low_, high_ - low_, access));
  }
  uint64_t low_ = 0;
  uint64_t high_ = 0;
  bool writable_ = false;
};

// Patches the selected functions; returns how many.
int patch(Object& object, const Choice& choice, bool on) {
  if (object.sled_count == 0 || object.jumps == nullptr) return 0;
  const WritableCode code(object);
  if (!code.writable()) {
    __atomic_fetch_or(&state.side->flags, kSideNotAllPatched, __ATOMIC_RELAXED);
    return 0;
  }
  int patched = 0;
  uint32_t before = 0;
  for_each_sled(object, [&](const Sled& sled, uint32_t function) {
    if (!choice.of(function)) return;
    const uint32_t id = object.record.id_base + function;
    if (on && is_entry(sled) && drops_functions() && is_dropped(id)) return;
    if (id >= xray::kFirstAssignedId || !patch_sled(sled, id, object.jumps, on)) {
      __atomic_fetch_or(&state.side->flags, kSideNotAllPatched, __ATOMIC_RELAXED);
      return;
    }
    if (function != before) ++patched;
    before = function;
  });
  return patched;
}

}  // namespace

void unpatch_dropped_in(const Object& object) {
  const WritableCode code(object);
  if (!code.writable()) return;
  for_each_sled(object, [&](const Sled& sled, uint32_t function) {
    const uint32_t id = object.record.id_base + function;
    if (is_entry(sled) && id < xray::kFirstAssignedId && is_dropped(id))
      patch_sled(sled, id, object.jumps, false);
  });
}

int choose_and_patch(Object& object, const char* list, bool on) {
  if (object.sled_count == 0) return 0;
  const Choice choice = choose(object, list);
  const int patched = patch(object, choice, on);
  if (choice.chosen != nullptr)
    sys::call(SYS_munmap, choice.chosen - (object.record.functions + size_t{1}) * 8, choice.bytes);
  return patched;
}

}  // namespace telltale::recorder
