#include "loaded_object.h"

namespace telltale::recorder {

void find_extent(const dl_phdr_info& info, ObjectRecord& record) {
  record.begin = UINT64_MAX;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    record.begin = least(record.begin, info.dlpi_addr + segment.p_vaddr);
    record.end = most(record.end, info.dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
}

void find_build_id(const dl_phdr_info& info, Object& object) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const std::byte*>(info.dlpi_addr + segment.p_vaddr);
    const std::byte* const end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      __builtin_memcpy(&note, at, sizeof(note));
      const uint64_t name_bytes = (uint64_t{note.n_namesz} + 3) / 4 * 4;
      const uint64_t text_bytes = (uint64_t{note.n_descsz} + 3) / 4 * 4;
      at += sizeof(note);
      if (name_bytes + text_bytes > static_cast<uint64_t>(end - at)) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kMostBuildId) {
        copy_bytes(object.build_id, at + name_bytes, note.n_descsz);
        object.record.build_id_bytes = static_cast<uint16_t>(note.n_descsz);
        return;
      }
      at += name_bytes + text_bytes;
    }
  }
}

bool find_path(const dl_phdr_info& info, Object& object) {
  const char* name = info.dlpi_name;
  object.record.flags = name == nullptr || name[0] == '\0' ? 1 : 0;
  char text[1024];
  text[0] = '\0';  // clang-tidy does not see that system calls write it
  if (object.record.flags != 0) {
    const long length =
        sys::call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", text, sizeof(text) - 1);
    if (sys::failed(length)) return false;
    text[length] = '\0';
    object.path.add(text);
    return true;
  }
  bool has_folder = false;
  for (const char* at = name; *at != '\0'; ++at) has_folder = has_folder || *at == '/';
  if (!has_folder) return false;
  if (name[0] != '/' && !sys::failed(sys::call(SYS_getcwd, text, sizeof(text))))
    object.path.add(text).add('/');
  object.path.add(name);
  return true;
}

void find_sleds(const ElfFile& file, Object& object) {
  const Elf64_Shdr* const section = file.valid() ? file.section("xray_instr_map") : nullptr;
  if (section == nullptr || section->sh_size < sizeof(Sled)) return;
  const uint64_t at = object.record.bias + section->sh_addr;
  if (at < object.record.begin || section->sh_size > object.record.end - at) return;
  const auto* const sleds = reinterpret_cast<const Sled*>(at);
  const std::byte* const in_file = file.contents(*section);
  if (in_file == nullptr) return;
  if (sleds->version >= 2 && !same_bytes(sleds, in_file, section->sh_size)) {
    return;
  }
  object.sleds = sleds;
  object.sled_count = section->sh_size / sizeof(Sled);
  // A function is a run of sleds with one function address.
  uint64_t before = 0;
  for (size_t i = 0; i < object.sled_count; ++i) {
    const uint64_t function = sleds[i].function();
    if (i == 0 || function != before) ++object.record.functions;
    before = function;
  }
}

void forget_sleds(Object& object) {
  object.sleds = nullptr;
  object.sled_count = 0;
  object.record.functions = 0;
}

bool is_same(const Object& a, const Object& b) {
  return a.record.build_id_bytes == b.record.build_id_bytes &&
         a.record.functions == b.record.functions && a.record.file_bytes == b.record.file_bytes &&
         a.record.modified_ns == b.record.modified_ns &&
         same_text(a.path.c_str(), b.path.c_str()) &&
         same_bytes(a.build_id, b.build_id, a.record.build_id_bytes);
}

void code_range(const Object& object, uint64_t& low, uint64_t& high) {
  low = UINT64_MAX;
  high = 0;
  for (size_t i = 0; i < object.sled_count; ++i) {
    low = least(low, object.sleds[i].address());
    high = most(high, object.sleds[i].address() + 32);
  }
}

}  // namespace telltale::recorder
