#include "program/llvm_demangler.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

// LLVM's object under the names that cmake/TelltaleLlvmDemangler.cmake gives its symbols. It takes
// its memory from here, so that a short name whose text would fill the machine is abandoned.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): names in the object
extern "C" {
char* telltale_llvm___cxa_demangle(const char* name, char* buffer, size_t* size, int* status);
void* telltale_llvm_malloc(size_t size);
void* telltale_llvm_realloc(void* block, size_t size);
void telltale_llvm_free(void* block);
[[noreturn]] void telltale_llvm_abort_message(const char* format, ...);
}

namespace telltale {
namespace {

constexpr size_t kMaxMemory = size_t{16} << 20;

// The blocks of one name, freed together. It has no destructor: a longjmp skips LLVM's frames,
// which own nothing else.
struct Heap {
  struct Block {
    Block* next;
    size_t size;
  };
  Block* blocks = nullptr;
  size_t left = kMaxMemory;
  std::jmp_buf exhausted;

  void* take(size_t size) {
    if (size > left) std::longjmp(exhausted, 1);
    auto* const block = static_cast<Block*>(std::malloc(sizeof(Block) + size));
    if (block == nullptr) std::longjmp(exhausted, 1);
    left -= size;
    *block = {blocks, size};
    blocks = block;
    return block + 1;
  }
  void free_all() {
    while (blocks != nullptr) {
      Block* const next = blocks->next;
      std::free(blocks);
      blocks = next;
    }
  }
};

thread_local Heap* current = nullptr;

}  // namespace

std::optional<std::string> llvm_demangle(const char* linkage_name, size_t max_output) {
  Heap heap;
  current = &heap;
  std::optional<std::string> readable;
  if (setjmp(heap.exhausted) == 0) {  // NOLINT(cert-err52-cpp): see Heap
    int status = 0;
    const char* const text = telltale_llvm___cxa_demangle(linkage_name, nullptr, nullptr, &status);
    if (status == 0 && text != nullptr && std::strlen(text) <= max_output) readable = text;
  }
  heap.free_all();
  current = nullptr;
  return readable;
}

}  // namespace telltale

void* telltale_llvm_malloc(size_t size) { return telltale::current->take(size); }

void* telltale_llvm_realloc(void* block, size_t size) {
  void* const moved = telltale::current->take(size);
  if (block == nullptr) return moved;
  const auto* const old = static_cast<telltale::Heap::Block*>(block) - 1;
  std::memcpy(moved, block, std::min(size, old->size));
  return moved;
}

void telltale_llvm_free(void* /*block*/) {}

void telltale_llvm_abort_message(const char* /*format*/, ...) { std::abort(); }
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
