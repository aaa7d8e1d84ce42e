#pragma once

// An object of the process, the program or a shared library: where it is, which file it came from,
// and its sleds. Guarded by the caller's lock; not async-signal-safe.

#include <link.h>
#include <stdint.h>

#include <cstddef>

#include "elf_file.h"
#include "plain.h"
#include "sleds.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {

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

// Sets the range of addresses of the object's segments.
void find_extent(const dl_phdr_info& info, ObjectRecord& record);
// Sets the build-id, if the object has one of at most kMostBuildId bytes.
void find_build_id(const dl_phdr_info& info, Object& object);
// Sets the path and whether the object is the program. False: an object without a file (the vDSO).
bool find_path(const dl_phdr_info& info, Object& object);
// The path to open the object's file by.
inline const char* file_of(const Object& object) {
  return object.record.flags != 0 ? "/proc/self/exe" : object.path.c_str();
}
// Finds the instrumentation map of the object, if the one in memory equals the one in the file, so
// that the file is the one that was loaded.
void find_sleds(const ElfFile& file, Object& object);
void forget_sleds(Object& object);
// Whether both are the same file at the same path.
bool is_same(const Object& a, const Object& b);
// The range of addresses of the code with sleds.
void code_range(const Object& object, uint64_t& low, uint64_t& high);

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

}  // namespace telltale::recorder
