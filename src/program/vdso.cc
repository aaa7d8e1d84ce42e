#include "program/vdso.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace telltale {
namespace {

// A limit; those of Linux 6 have one or two pages.
constexpr uint64_t kMostVdsoBytes = 64 * 1024;
constexpr const char* kVdsoName = "linux-vdso.so.1";

// Writes the contents to an anonymous file in memory. Returns its descriptor, or -1 on failure.
int memory_file(const char* name, Bytes contents) {
  const int file = ::memfd_create(name, MFD_CLOEXEC);
  if (file < 0) return -1;
  if (::write(file, contents.data(), contents.size()) == static_cast<ssize_t>(contents.size()))
    return file;
  ::close(file);
  return -1;
}

}  // namespace

void report_vdso(const CoreFile& core, Dwfl* dwfl) {
  const Bytes memory = core.memory(core.vdso_address(), kMostVdsoBytes);
  Elf64_Ehdr header;
  if (core.vdso_address() == 0 || memory.size() < sizeof(header)) return;
  std::memcpy(&header, memory.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != core.machine()) return;
  // A core file may have anything in its place: without section headers, libdw reads no debug
  // information of it, and decompresses nothing.
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = SHN_UNDEF;
  std::vector<std::byte> contents(memory.begin(), memory.end());
  std::memcpy(contents.data(), &header, sizeof(header));
  const int file = memory_file(kVdsoName, contents);
  if (file < 0) return;
  if (dwfl_report_elf(dwfl, kVdsoName, kVdsoName, file, core.vdso_address(),
                      /*add_p_vaddr=*/true) == nullptr)
    ::close(file);
}

}  // namespace telltale
