#include "loader.h"

#include <link.h>

#include "begin.h"
#include "cells.h"
#include "elf_file.h"
#include "frequent_functions.h"
#include "instrument_functions.h"
#include "record.h"
#include "side_record.h"
#include "sleds.h"
#include "syscalls.h"
#include "trace_file.h"

// <link.h> declares it as always present.
#pragma weak _r_debug

namespace telltale::recorder {
namespace {

constexpr size_t kPage = 4096;

// The head of an Object record in the side record.
struct ObjectRecord {
  uint32_t number;
  uint32_t flags;
  uint64_t bias;
  uint64_t begin;
  uint64_t end;
  uint32_t id_base;
  uint32_t functions;
  uint64_t time;
  uint64_t file_bytes;
  uint64_t modified_ns;
  uint16_t build_id_bytes;
  uint16_t path_bytes;
  uint32_t zero;
};
constexpr size_t kMostBuildId = 64;

struct Object {
  ObjectRecord record;
  uint8_t build_id[kMostBuildId];
  Path path;
  const Sled* sleds;
  size_t sled_count;
  std::byte* jumps;
  bool loaded;
  bool seen;
  bool stays;              // until the process ends
  bool unchosen_left_out;  // for functions that are known by address
};

struct Objects {
  Object* list;  // kMostObjects entries; pages are touched as they are used
  uint32_t count;
  uint32_t next_id_base;
  SpinLock lock;
};
Objects objects = {};
// While the program's constructors have not run, all objects are those that stay.
bool scans_at_start = false;

uint64_t now() {
  return state.clock == ClockKind::monotonic ? static_cast<uint64_t>(sys::clock_ns(CLOCK_MONOTONIC))
                                             : read_counter();
}

void find_extent(const dl_phdr_info& info, ObjectRecord& record) {
  record.begin = UINT64_MAX;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    record.begin = least(record.begin, info.dlpi_addr + segment.p_vaddr);
    record.end = most(record.end, info.dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
}

void find_build_id(const dl_phdr_info& info, Object& object) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const std::byte*>(info.dlpi_addr + segment.p_vaddr);
    const std::byte* const end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      __builtin_memcpy(&note, at, sizeof(note));
      const uint64_t name_bytes = (uint64_t{note.n_namesz} + 3) / 4 * 4;
      const uint64_t text_bytes = (uint64_t{note.n_descsz} + 3) / 4 * 4;
      at += sizeof(note);
      if (name_bytes + text_bytes > static_cast<uint64_t>(end - at)) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kMostBuildId) {
        copy_bytes(object.build_id, at + name_bytes, note.n_descsz);
        object.record.build_id_bytes = static_cast<uint16_t>(note.n_descsz);
        return;
      }
      at += name_bytes + text_bytes;
    }
  }
}

// False: an object without a file (the vDSO).
bool find_path(const dl_phdr_info& info, Object& object) {
  const char* name = info.dlpi_name;
  object.record.flags = name == nullptr || name[0] == '\0' ? 1 : 0;
  char text[1024];
  if (object.record.flags != 0) {
    const long length =
        sys::call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", text, sizeof(text) - 1);
    if (sys::failed(length)) return false;
    text[length] = '\0';
    object.path.add(text);
    return true;
  }
  bool has_folder = false;
  for (const char* at = name; *at != '\0'; ++at) has_folder = has_folder || *at == '/';
  if (!has_folder) return false;
  if (name[0] != '/' && !sys::failed(sys::call(SYS_getcwd, text, sizeof(text))))
    object.path.add(text).add('/');
  object.path.add(name);
  return true;
}

// Whether the map in memory equals the one in the file, so that the file is the one that was
// loaded.
bool same_bytes(const std::byte* a, const std::byte* b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

void find_sleds(const ElfFile& file, Object& object) {
  const Elf64_Shdr* const section = file.valid() ? file.section("xray_instr_map") : nullptr;
  if (section == nullptr || section->sh_size < sizeof(Sled)) return;
  const uint64_t at = object.record.bias + section->sh_addr;
  if (at < object.record.begin || section->sh_size > object.record.end - at) return;
  const auto* const sleds = reinterpret_cast<const Sled*>(at);
  const std::byte* const in_file = file.contents(*section);
  if (in_file == nullptr) return;
  if (sleds->version >= 2 &&
      !same_bytes(reinterpret_cast<const std::byte*>(sleds), in_file, section->sh_size)) {
    return;
  }
  object.sleds = sleds;
  object.sled_count = section->sh_size / sizeof(Sled);
  // A function is a run of sleds with one function address.
  uint64_t before = 0;
  for (size_t i = 0; i < object.sled_count; ++i) {
    const uint64_t function = sleds[i].function();
    if (i == 0 || function != before) ++object.record.functions;
    before = function;
  }
}

void forget_sleds(Object& object) {
  object.sleds = nullptr;
  object.sled_count = 0;
  object.record.functions = 0;
}

// Calls use(sled, function number from 1) for each.
template <typename Use>
void for_each_sled(const Object& object, Use use) {
  uint64_t before = 0;
  uint32_t function = 0;
  for (size_t i = 0; i < object.sled_count; ++i) {
    const uint64_t address = object.sleds[i].function();
    if (i == 0 || address != before) ++function;
    before = address;
    use(object.sleds[i], function);
  }
}

void code_range(const Object& object, uint64_t& low, uint64_t& high) {
  low = UINT64_MAX;
  high = 0;
  for (size_t i = 0; i < object.sled_count; ++i) {
    low = least(low, object.sleds[i].address());
    high = most(high, object.sleds[i].address() + 32);
  }
}

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
  const ElfFile file(object.record.flags != 0 ? "/proc/self/exe" : object.path.c_str());
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

void write_object(Object& object) {
  object.record.time = now();
  struct {
    ObjectRecord record;
    char tail[kMostBuildId + kMostPath];
  } text;
  copy_bytes(&text.record, &object.record, sizeof(ObjectRecord));
  object.record.path_bytes = text.record.path_bytes = static_cast<uint16_t>(object.path.size());
  copy_bytes(text.tail, object.build_id, object.record.build_id_bytes);
  copy_bytes(text.tail + object.record.build_id_bytes, object.path.c_str(), object.path.size());
  append_side(SideKind::object, &text,
              sizeof(ObjectRecord) + object.record.build_id_bytes + object.path.size());
}

bool is_same(const Object& a, const Object& b) {
  return a.record.build_id_bytes == b.record.build_id_bytes &&
         a.record.functions == b.record.functions && a.record.file_bytes == b.record.file_bytes &&
         a.record.modified_ns == b.record.modified_ns &&
         same_text(a.path.c_str(), b.path.c_str()) &&
         same_bytes(reinterpret_cast<const std::byte*>(a.build_id),
                    reinterpret_cast<const std::byte*>(b.build_id), a.record.build_id_bytes);
}

// An object that is loaded again gets its previous number and ids.
void number_object(Object& object) {
  for (uint32_t i = 0; i < objects.count; ++i) {
    Object& known = objects.list[i];
    if (known.loaded || !is_same(known, object)) continue;
    object.record.number = known.record.number;
    object.record.id_base = known.record.id_base;
    copy_bytes(&known, &object, sizeof(Object));
    return;
  }
  if (objects.count == kMostObjects) return;
  object.record.number = objects.count;
  object.record.id_base = objects.next_id_base;
  objects.next_id_base += object.record.functions;
  copy_bytes(&objects.list[objects.count], &object, sizeof(Object));
  // Last: a child forked before this does not have the object, and finds it when it looks next.
  __atomic_store_n(&objects.count, objects.count + 1, __ATOMIC_RELEASE);
}

bool is_known(const dl_phdr_info& info, uint64_t begin) {
  for (uint32_t i = 0; i < objects.count; ++i) {
    Object& object = objects.list[i];
    if (!object.loaded || object.record.bias != info.dlpi_addr || object.record.begin != begin)
      continue;
    object.seen = true;
    return true;
  }
  return false;
}

int see_object(dl_phdr_info* info, size_t, void*) {
  static Object object;  // large, and guarded by the lock
  fill_words(&object, 0, sizeof(Object) / 8);
  object.record.bias = info->dlpi_addr;
  find_extent(*info, object.record);
  if (is_known(*info, object.record.begin) || !find_path(*info, object)) return 0;
  find_build_id(*info, object);
  {
    const ElfFile file(object.record.flags != 0 ? "/proc/self/exe" : object.path.c_str());
    object.record.file_bytes = file.file_bytes();
    object.record.modified_ns = file.modified_ns();
    find_sleds(file, object);
    object.unchosen_left_out =
        leave_out_unchosen(file, object.record.bias, state.options.functions);
  }
  if (object.sled_count != 0) {
    uint64_t low;
    uint64_t high;
    code_range(object, low, high);
    object.jumps = make_jump_page(low, high);
    if (object.jumps == nullptr) {
      __atomic_fetch_or(&state.side->flags, kSideNotAllPatched, __ATOMIC_RELAXED);
      forget_sleds(object);
    }
  }
  object.loaded = object.seen = true;
  object.stays = object.record.flags != 0 || scans_at_start;
  number_object(object);
  write_object(object);
  choose_and_patch(object, state.options.functions, true);
  return 0;
}

void forget_gone() {
  for (uint32_t i = 0; i < objects.count; ++i) {
    Object& object = objects.list[i];
    if (!object.loaded || object.seen) continue;
    object.loaded = false;
    forget_called_functions(object.record.begin, object.record.end);
    if (object.jumps != nullptr) sys::call(SYS_munmap, object.jumps, kPage);
    object.jumps = nullptr;
    struct {
      uint32_t number;
      uint32_t zero;
      uint64_t time;
    } record = {object.record.number, 0, now()};
    append_side(SideKind::unload, &record, sizeof(record));
  }
}

}  // namespace

void scan_objects() {
  const sys::BlockSignals blocked;
  const Locked locked(objects.lock);
  if (objects.list == nullptr)
    objects.list = static_cast<Object*>(sys::map_private(kMostObjects * sizeof(Object)));
  if (objects.list == nullptr) return;
  for (uint32_t i = 0; i < objects.count; ++i) objects.list[i].seen = false;
  dl_iterate_phdr(see_object, nullptr);
  forget_gone();
}

void set_scans_at_start(bool scans) { scans_at_start = scans; }

void reset_objects_lock() { objects.lock.reset(); }

bool has_sleds() {
  const Locked locked(objects.lock);
  bool any = false;
  for (uint32_t i = 0; i < objects.count; ++i)
    any = any || (objects.list[i].loaded && objects.list[i].sled_count != 0);
  return any;
}

bool is_function_chosen(uint64_t address) {
  const char* const list = state.options.functions;
  if (*list == '\0') return true;
  const Locked locked(objects.lock);
  for (uint32_t i = 0; i < objects.count; ++i) {
    const Object& object = objects.list[i];
    if (!object.loaded || address < object.record.begin || address >= object.record.end) continue;
    if (object.unchosen_left_out) return true;
    const ElfFile file(object.record.flags != 0 ? "/proc/self/exe" : object.path.c_str());
    bool known = false;
    bool chosen = false;
    if (file.valid()) {
      file.for_each_function([&](const char* name, uint64_t at) {
        if (known || at + object.record.bias != address) return;
        known = true;
        chosen = is_chosen(list, name);
      });
    }
    if (known) return chosen;
  }
  return *list == '!';
}

int patch_functions(const char* glob, bool on) {
  const Locked locked(objects.lock);
  int patched = 0;
  for (uint32_t i = 0; i < objects.count; ++i) {
    if (objects.list[i].loaded) patched += choose_and_patch(objects.list[i], glob, on);
  }
  return patched;
}

void unpatch_dropped() {
  if (!objects.lock.try_lock()) return;
  for (uint32_t i = 0; i < objects.count; ++i) {
    const Object& object = objects.list[i];
    if (object.loaded && object.stays && object.sled_count != 0) unpatch_dropped_in(object);
  }
  objects.lock.unlock();
}

void choose_functions(const char* list) {
  const sys::BlockSignals blocked;
  const Locked locked(objects.lock);
  copy_bytes(state.options.functions, list, text_length(list) + 1);
  // A thread that decides about a function by the old list notices it.
  __atomic_fetch_add(&state.epoch, 1, __ATOMIC_ACQ_REL);
  for (uint32_t i = 0; i < objects.count; ++i) {
    Object& object = objects.list[i];
    if (!object.loaded) continue;
    const ElfFile file(object.record.flags != 0 ? "/proc/self/exe" : object.path.c_str());
    object.unchosen_left_out = choose_called_functions(
        file, object.record.bias, object.record.begin, object.record.end, state.options.functions);
  }
}

int patch_chosen(bool on) { return patch_functions(on ? state.options.functions : "", on); }

void on_loader_event() {
  begin_if_forked();
  if (!state.recording || _r_debug.r_state != r_debug::RT_CONSISTENT) return;
  const uint32_t before = thread_state.busy;
  thread_state.busy = 1;
  scan_objects();
  thread_state.busy = before;
}

bool watch_loader() {
  if (&_r_debug == nullptr || _r_debug.r_brk == 0) return false;
  auto* const code = reinterpret_cast<uint8_t*>(_r_debug.r_brk);
  constexpr uint8_t kEndBranch[4] = {0xF3, 0x0F, 0x1E, 0xFA};
  constexpr uint8_t kJumpNear = 0xE9;
  constexpr uint8_t kReturn = 0xC3;
  const bool marked = same_bytes(reinterpret_cast<const std::byte*>(code),
                                 reinterpret_cast<const std::byte*>(kEndBranch), 4);
  // An empty function, aligned to 16 bytes, so that the five bytes of the jump belong to it.
  if (code[marked ? 4 : 0] != kReturn || _r_debug.r_brk % 16 != 0) return code[0] == kJumpNear;
  std::byte* const page = make_jump_page(_r_debug.r_brk, _r_debug.r_brk + 16);
  if (page == nullptr) return false;
  const uint64_t low = _r_debug.r_brk / kPage * kPage;
  if (sys::failed(sys::call(SYS_mprotect, low, kPage, PROT_READ | PROT_WRITE | PROT_EXEC)))
    return false;
  const auto to = static_cast<int32_t>(reinterpret_cast<int64_t>(jump_in(page, Jump::loader)) -
                                       static_cast<int64_t>(_r_debug.r_brk + 5));
  const uint64_t word = kJumpNear | static_cast<uint64_t>(static_cast<uint32_t>(to)) << 8;
  uint64_t behind;
  __builtin_memcpy(&behind, code, 8);
  __atomic_store_n(reinterpret_cast<uint64_t*>(code), (behind & ~uint64_t{0xFF'FFFF'FFFF}) | word,
                   __ATOMIC_RELEASE);
  sys::call(SYS_mprotect, low, kPage, PROT_READ | PROT_EXEC);
  return true;
}

}  // namespace telltale::recorder
