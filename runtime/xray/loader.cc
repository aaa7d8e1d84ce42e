#include "loader.h"

#include <link.h>

#include "begin.h"
#include "cells.h"
#include "elf_file.h"
#include "instrument_functions.h"
#include "loaded_object.h"
#include "name_patterns.h"
#include "object_patches.h"
#include "record.h"
#include "side_record.h"
#include "sleds.h"
#include "syscalls.h"
#include "trace_file.h"

// <link.h> declares it as always present.
#pragma weak _r_debug

namespace telltale::recorder {
namespace {

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
  if (object.record.flags != 0) note_program(object.record.bias);
  {
    const ElfFile file(file_of(object));
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
    const ElfFile file(file_of(object));
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
  state.compares_linkage_names = false;
  // A thread that decides about a function by the old list notices it.
  __atomic_fetch_add(&state.epoch, 1, __ATOMIC_ACQ_REL);
  for (uint32_t i = 0; i < objects.count; ++i) {
    Object& object = objects.list[i];
    if (!object.loaded) continue;
    const ElfFile file(file_of(object));
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
  const bool marked = same_bytes(code, kEndBranch, 4);
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
  uint64_t after;
  __builtin_memcpy(&after, code, 8);
  __atomic_store_n(reinterpret_cast<uint64_t*>(code), (after & ~uint64_t{0xFF'FFFF'FFFF}) | word,
                   __ATOMIC_RELEASE);
  sys::call(SYS_mprotect, low, kPage, PROT_READ | PROT_EXEC);
  return true;
}

}  // namespace telltale::recorder
