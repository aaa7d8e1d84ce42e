// What is mapped in this process, from /proc/self/maps. Async-signal-safe.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace telltale::paths {

// A part of a program or library.
struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t pages = 0;  // offset in the file
  const char* path = nullptr;
};

// A stack: in, any address in it, or 0; out, the readable mapping that has the address, or that
// begins within 1 MiB above it, as at the end of a stack that overflowed, with those that follow it
// without a gap. 0: none.
struct StackRange {
  uint64_t address = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct Mappings {
  static constexpr size_t kMost = 4096;
  static constexpr size_t kTextBytes = size_t{128} * 1024;

  // Files of which no part is executable are left out, and those beyond the limits.
  void read(StackRange* stacks, size_t stack_count);

  Mapping all[kMost];
  size_t count = 0;
  char text[kTextBytes];  // paths, each with a NUL
  size_t text_bytes = 0;
};

}  // namespace telltale::paths
