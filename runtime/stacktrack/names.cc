#include "names.h"

#include <cstring>

#include "records.h"

namespace telltale::st {
namespace {

constexpr size_t kTableSize = 1U << 17;  // twice the largest number: searches stay short
constexpr uint32_t kMostFiles = 65535;

SourceFile table[kTableSize];  // unused pages cost nothing
uint32_t file_count = 0;

// FNV-1a, then mixed: the probability that any two of 65,535 names collide is 1 in 8 thousand
// million.
uint64_t hash_of(const char* name) {
  uint64_t hash = 14695981039346656037U;
  for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211U;
  hash ^= hash >> 32;
  return hash == 0 ? 1 : hash;
}

constexpr size_t kPageBytes = 1U << 16;
struct Page {
  Page* before;
  uint64_t used;
};
Page* page = nullptr;

void* take_memory(size_t bytes) {
  bytes = (bytes + 7) & ~size_t{7};
  for (;;) {
    Page* current = __atomic_load_n(&page, __ATOMIC_ACQUIRE);
    if (current != nullptr) {
      const uint64_t at = __atomic_fetch_add(&current->used, bytes, __ATOMIC_RELAXED);
      if (at + bytes <= kPageBytes) return reinterpret_cast<uint8_t*>(current) + at;
    }
    Page* const fresh = static_cast<Page*>(map_memory(kPageBytes));
    if (fresh == nullptr) return nullptr;
    *fresh = {current, sizeof(Page)};
    if (!__atomic_compare_exchange_n(&page, &current, fresh, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
      unmap(fresh, kPageBytes);
    }
  }
}

// The parenthesis that matches `close`; null if there is none.
const char* opening(const char* begin, const char* close) {
  int depth = 0;
  for (const char* at = close; at >= begin; --at) {
    depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
    if (depth == 0) return at;
  }
  return nullptr;
}

// The end of the result type: the last space, * or & outside brackets.
const char* name_begin(const char* begin, const char* end) {
  int depth = 0;
  for (const char* at = end - 1; at >= begin; --at) {
    if (*at == '>' || *at == ')') ++depth;
    if (*at == '<' || *at == '(') --depth;
    if ((*at == ' ' || *at == '*' || *at == '&') && depth == 0) return at + 1;
  }
  return begin;
}

struct Text {
  const char* begin;
  size_t bytes;
};
// The second part: arguments of templates, " [T = int]".
struct FunctionName {
  Text parts[2];
};

FunctionName parts_of(const char* pretty) {
  const size_t length = std::strlen(pretty);
  const FunctionName whole{{{pretty, length}, {pretty, 0}}};
  const char* end = pretty + length;
  // Closures and operators have brackets in their names.
  if (std::strstr(pretty, "lambda") != nullptr || std::strstr(pretty, "operator") != nullptr ||
      std::strstr(pretty, "decltype") != nullptr) {
    return whole;
  }
  Text arguments{pretty, 0};
  for (const char* from = pretty;;) {
    const char* const note = std::strstr(from, " [");
    if (note != nullptr && note < end && end[-1] == ']') {
      arguments = {note, static_cast<size_t>(end - note)};
      end = note;
    }
    const char* close = end - 1;
    while (close >= from && *close != ')') --close;
    const char* const open = close < from ? nullptr : opening(from, close);
    if (open == nullptr || open == from) return whole;
    // What returns a pointer to an array or a function is in parentheses: "int (*f(char))[3]",
    // "int (*f(char))(long)".
    if (close + 1 < end && close[1] == '[') {
      from = open + 1;
      end = close;
      continue;
    }
    const char* const begin = name_begin(from, open);
    if (begin >= open) return whole;
    if (open[-1] != ')' || opening(begin, open - 1) != begin)
      return {{{begin, static_cast<size_t>(open - begin)}, arguments}};
    from = begin + 1;
    end = open - 1;
  }
}

}  // namespace

SourceFile* find_source_file(const char* name) {
  const uint64_t hash = hash_of(name);
  for (size_t i = hash % kTableSize, looked = 0; looked < kTableSize;
       i = (i + 1) % kTableSize, ++looked) {
    SourceFile& file = table[i];
    uint64_t there = __atomic_load_n(&file.hash, __ATOMIC_ACQUIRE);
    if (there == 0) {
      if (__atomic_load_n(&file_count, __ATOMIC_RELAXED) >= kMostFiles) return nullptr;
      if (__atomic_compare_exchange_n(&file.hash, &there, hash, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
        there = hash;
    }
    if (there != hash) continue;
    if (__atomic_load_n(&file.number, __ATOMIC_RELAXED) == 0) {
      // Two threads at once may both take a number; one of the numbers stays unused.
      const uint32_t number = __atomic_add_fetch(&file_count, 1, __ATOMIC_RELAXED);
      uint32_t none = 0;
      if (number > kMostFiles) return nullptr;
      __atomic_compare_exchange_n(&file.number, &none, number, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED);
    }
    return &file;
  }
  return nullptr;
}

int add_property(SourceFile& file, const char* text) {
  const size_t bytes = truncated(text, std::strlen(text));
  Property* const property = static_cast<Property*>(take_memory(sizeof(Property) + bytes));
  if (property == nullptr) return -ENOMEM;
  property->bytes = static_cast<uint32_t>(bytes);
  std::memcpy(property->text, text, bytes);
  Property* first = __atomic_load_n(&file.properties, __ATOMIC_RELAXED);
  do {
    property->next = first;
  } while (!__atomic_compare_exchange_n(&file.properties, &first, property, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
  __atomic_fetch_add(&file.property_count, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&file.cycle, 0, __ATOMIC_RELAXED);  // posted again with it
  return 0;
}

size_t write_number(char* text, size_t bytes, uint64_t number) {
  size_t digits = 1;
  for (uint64_t rest = number; rest >= 10; rest /= 10) ++digits;
  for (size_t i = digits; i-- > 0; number /= 10) {
    if (i + 1 < bytes) text[i] = static_cast<char>('0' + number % 10);
  }
  if (digits >= bytes) digits = bytes - 1;
  text[digits] = 0;
  return digits;
}

size_t write_function_name(const char* pretty, char* text, size_t capacity) {
  const FunctionName name = parts_of(pretty);
  size_t bytes = 0;
  for (const Text& part : name.parts) {
    for (size_t i = 0; i < part.bytes; ++i, ++bytes) {
      if (bytes < capacity) text[bytes] = part.begin[i];
    }
  }
  return bytes;
}

}  // namespace telltale::st
