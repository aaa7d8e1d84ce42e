#include "backtrace.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

namespace telltale::sampler {
namespace {

// argv[0] as it was at the beginning: servers overwrite it with what they are doing.
char program_name[4096];

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)

// The exported symbols of a module, from its dynamic section.
struct Exports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;
};

Exports exports_of(const link_map& module) {
  Exports found;
  if (module.l_ld == nullptr) return found;
  // The loader relocates these entries only where the section is writable.
  const auto place = [&module](uintptr_t at) {
    const uintptr_t relocated = at < module.l_addr ? at + module.l_addr : at;
    return reinterpret_cast<const void*>(relocated);  // NOLINT: an address
  };
  for (const ElfW(Dyn)* entry = module.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const void* const at = place(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) found.symbols = static_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) found.names = static_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) found.gnu_hash = static_cast<const uint32_t*>(at);
    if (entry->d_tag == DT_HASH) found.hash = static_cast<const uint32_t*>(at);
  }
  return found;
}

// Finds the symbol that contains the address; of several, the one with the highest start.
class NearestSymbol {
 public:
  NearestSymbol(const ElfW(Sym) * symbols, uintptr_t address)
      : symbols_(symbols), address_(address) {}
  void look_at(uint32_t index) {
    const ElfW(Sym)& symbol = symbols_[index];
    const bool defined = symbol.st_shndx != SHN_UNDEF || symbol.st_value != 0;
    if (!defined || (symbol.st_info & 0xf) == STT_TLS || address_ < symbol.st_value) return;
    const uintptr_t inside = address_ - symbol.st_value;
    const bool has_size = symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0;
    if (has_size ? inside >= symbol.st_size : inside != 0) return;
    if (found_ == nullptr || found_->st_value < symbol.st_value) found_ = &symbol;
  }
  [[nodiscard]] const ElfW(Sym) * found() const { return found_; }

 private:
  const ElfW(Sym) * symbols_;
  uintptr_t address_;
  const ElfW(Sym) * found_ = nullptr;
};

const ElfW(Sym) * find_symbol(const Exports& exports, uintptr_t address) {
  if (exports.symbols == nullptr || exports.names == nullptr) return nullptr;
  NearestSymbol nearest(exports.symbols, address);
  if (exports.gnu_hash != nullptr) {
    // DT_GNU_HASH: four words, a Bloom filter of machine words, buckets, and a word for each symbol
    // from `first` on, whose lowest bit ends a bucket's chain.
    const uint32_t bucket_count = exports.gnu_hash[0];
    const uint32_t first = exports.gnu_hash[1];
    const uint32_t* const buckets =
        exports.gnu_hash + 4 + size_t{exports.gnu_hash[2]} * (sizeof(ElfW(Addr)) / 4);
    const uint32_t* const chains = buckets + bucket_count;
    for (uint32_t bucket = 0; bucket < bucket_count; ++bucket) {
      uint32_t index = buckets[bucket];
      if (index < first) continue;
      do nearest.look_at(index);
      while ((chains[index++ - first] & 1) == 0);
    }
  } else if (exports.hash != nullptr) {
    for (uint32_t index = 0; index < exports.hash[1]; ++index) nearest.look_at(index);
  }
  return nearest.found();
}

void put_place(Writer& out, uintptr_t address) {
  dl_find_object object = {};
  void* const at = reinterpret_cast<void*>(address);  // NOLINT: an address
  if (::_dl_find_object(at, &object) != 0 || object.dlfo_link_map == nullptr) return;
  const link_map& module = *object.dlfo_link_map;
  const char* const name = module.l_name == nullptr ? "" : module.l_name;
  out.put(*name == 0 ? program_name : name);
  const Exports exports = exports_of(module);
  const ElfW(Sym)* const symbol = find_symbol(exports, address - module.l_addr);
  if (symbol == nullptr && module.l_addr == 0) return;
  out.put('(');
  if (symbol != nullptr) out.put(exports.names + symbol->st_name);
  const uintptr_t from = module.l_addr + (symbol == nullptr ? 0 : symbol->st_value);
  out.put(address < from ? "-0x" : "+0x");
  out.hex(address < from ? from - address : address - from);
  out.put(')');
}

#else

void put_place(Writer&, uintptr_t) {}

#endif

}  // namespace

void prepare_backtrace() {
  ::strncpy(program_name, program_invocation_name, sizeof(program_name) - 1);
  void* frame = nullptr;
  ::backtrace(&frame, 1);
}

void put_frame(Writer& out, void* address, bool with_place) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  if (with_place) put_place(out, number);
  out.put("[0x");
  out.hex(number);
  out.put("]\n");
}

}  // namespace telltale::sampler
