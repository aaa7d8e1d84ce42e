#pragma once

// Numbers of source files, their properties, and how a function is called. Texts are copied: the
// module that they came from may be unloaded. Async-signal-safe and without locks.

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
  uint32_t number;       // from 1; 0: not given yet
  uint32_t cycle;        // the write cycle in which it was posted last
  Property* properties;  // the newest first
  uint32_t property_count;
};

// Of a file that find_source_file() gave: another thread may give it the number at the same time.
inline uint32_t number_of(const SourceFile& file) {
  return __atomic_load_n(&file.number, __ATOMIC_RELAXED);
}

// Null: there are 65,535 already.
SourceFile* find_source_file(const char* name);
// -ENOMEM: there is no memory.
int add_property(SourceFile& file, const char* text);

// Decimal, terminated; what does not fit is left out. Returns the characters without the
// terminator.
size_t write_number(char* text, size_t bytes, uint64_t number);

struct Text {
  const char* begin;
  size_t bytes;
};
// "file_sink_impl::open" of "int file_sink_impl::open(const char*) [with T = int]": without result,
// parameters and template arguments of the compiler's own note. What it does not understand it
// leaves whole.
Text short_function_name(const char* pretty);

}  // namespace telltale::st
