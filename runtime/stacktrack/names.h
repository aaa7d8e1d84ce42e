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

// "file_sink_impl::open" of "bool file_sink_impl::open(const char*)", "twice [with T = int]" of
// "T twice(T) [with T = int]": without result and parameters, with the template arguments as the
// compiler writes them. A name that it cannot parse stays whole. Not terminated. Returns the length
// of the name, of which `capacity` bytes at most are written.
size_t write_function_name(const char* pretty, char* text, size_t capacity);

}  // namespace telltale::st
