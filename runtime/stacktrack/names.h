#pragma once

// Numbers of source files, their properties, and readable names of functions. Texts are copied,
// because the module that they came from may be unloaded. Async-signal-safe and without locks.

#include <cstddef>
#include <cstdint>

#include "system.h"

namespace telltale::st {

struct Property {
  Property* next;
  uint32_t bytes;
  char text[1];
};

// A source file that has a checkpoint or a property.
struct SourceFile {
  uint64_t hash;         // of its name; 0: free
  uint32_t number;       // from 1; 0: not assigned yet
  uint32_t cycle;        // the write cycle in which it was last posted
  Property* properties;  // the newest first
  uint32_t property_count;
};

// For a file from find_source_file(): another thread may assign the number at the same time.
inline uint32_t number_of(const SourceFile& file) {
  return __atomic_load_n(&file.number, __ATOMIC_RELAXED);
}

// Null: there are already 65,535.
SourceFile* find_source_file(const char* name);
// -ENOMEM: out of memory.
int add_property(SourceFile& file, const char* text);

// Decimal, zero-terminated, truncated to the buffer. Returns the number of characters without the
// terminator.
size_t write_number(char* text, size_t bytes, uint64_t number);

struct Text {
  const char* begin;
  size_t bytes;
};
// "file_sink_impl::open" of "int file_sink_impl::open(const char*) [with T = int]": without result,
// parameters and the compiler's template arguments. A name that it cannot parse stays whole.
Text short_function_name(const char* pretty);

}  // namespace telltale::st
