#include "elf_file.h"

#include "plain.h"
#include "syscalls.h"

// Declared here because <stdlib.h> in C++ needs long double, which clang lacks with
// -mgeneral-regs-only.
extern "C" void free(void* memory);
// Present in every program that uses the C++ library; elsewhere only plain names are available.
// NOLINTBEGIN(*-reserved-identifier,*-identifier-naming): its name is what it is
extern "C" __attribute__((weak)) char* __cxa_demangle(const char* name, char* buffer, size_t* bytes,
                                                      int* status);
// NOLINTEND(*-reserved-identifier,*-identifier-naming)

namespace telltale::recorder {

ElfFile::ElfFile(const char* path) {
  const long file = sys::open(path, O_RDONLY);
  if (sys::failed(file)) return;
  struct stat status{};
  sys::call(SYS_fstat, file, &status);
  bytes_ = static_cast<uint64_t>(status.st_size);
  modified_ns_ = static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                 static_cast<uint64_t>(status.st_mtim.tv_nsec);
  if (S_ISREG(status.st_mode) && bytes_ >= sizeof(Elf64_Ehdr)) {
    data_ = static_cast<const std::byte*>(
        sys::map(nullptr, bytes_, PROT_READ, MAP_PRIVATE, static_cast<int>(file), 0));
  }
  sys::call(SYS_close, file);
  if (data_ == nullptr) return;
  Elf64_Ehdr header;
  __builtin_memcpy(&header, data_, sizeof(header));
  const bool is_elf = header.e_ident[EI_MAG0] == ELFMAG0 && header.e_ident[EI_MAG1] == ELFMAG1 &&
                      header.e_ident[EI_MAG2] == ELFMAG2 && header.e_ident[EI_MAG3] == ELFMAG3 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % 8 != 0 ||
      header.e_shoff > bytes_ ||
      uint64_t{header.e_shnum} * sizeof(Elf64_Shdr) > bytes_ - header.e_shoff ||
      header.e_shstrndx >= header.e_shnum) {
    return;
  }
  const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(data_ + header.e_shoff);
  section_count_ = header.e_shnum;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  names_ = reinterpret_cast<const char*>(contents(names));
  names_bytes_ = names.sh_size;
  if (names_ == nullptr || names_bytes_ == 0 || names_[names_bytes_ - 1] != '\0') return;
  sections_ = sections;
}

ElfFile::~ElfFile() {
  if (data_ != nullptr) sys::call(SYS_munmap, const_cast<std::byte*>(data_), bytes_);
}

const std::byte* ElfFile::contents(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_ ||
      section.sh_size > bytes_ - section.sh_offset) {
    return nullptr;
  }
  return data_ + section.sh_offset;
}

const Elf64_Shdr* ElfFile::section(const char* name) const {
  for (uint64_t i = 0; sections_ != nullptr && i < section_count_; ++i) {
    if (sections_[i].sh_name < names_bytes_ && same_text(names_ + sections_[i].sh_name, name))
      return &sections_[i];
  }
  return nullptr;
}

namespace {

// Matches one set `[...]` at `glob` and advances past it. An unfinished set matches nothing.
bool in_set(const char*& glob, char letter) {
  const bool wanted = glob[1] != '!';
  const char* at = glob + (wanted ? 1 : 2);
  bool found = false;
  for (bool first = true; *at != '\0' && (first || *at != ']'); first = false) {
    const char low = *at++;
    char high = low;
    if (at[0] == '-' && at[1] != ']' && at[1] != '\0') {
      high = at[1];
      at += 2;
    }
    found = found || (low <= letter && letter <= high);
  }
  if (*at == '\0') {
    glob = at;
    return false;
  }
  glob = at + 1;
  return found == wanted;
}

// Without recursion: after a mismatch, the last star takes one more letter.
bool matches(const char* glob, const char* glob_end, const char* text) {
  const char* star = nullptr;
  const char* behind_star = nullptr;
  while (true) {
    if (glob < glob_end && *glob == '*') {
      star = ++glob;
      behind_star = text;
      continue;
    }
    if (*text == '\0') return glob == glob_end;
    const char* next = glob;
    bool same = false;
    if (glob < glob_end) {
      if (*glob == '[') {
        same = in_set(next, *text);
      } else {
        same = *glob == '?' || *glob == *text;
        ++next;
      }
    }
    if (same) {
      glob = next;
      ++text;
    } else if (star != nullptr) {
      glob = star;
      text = ++behind_star;
    } else {
      return false;
    }
  }
}

// The last glob of the list that matches one of the names: 1 included, 0 excluded, -1 none matches.
int last_match(const char* list, const char* const (&names)[3]) {
  int decision = -1;
  while (*list != '\0') {
    const char* end = list;
    while (*end != '\0' && *end != ';') ++end;
    const bool excludes = *list == '!';
    for (const char* name : names) {
      if (name != nullptr && end != list && matches(list + (excludes ? 1 : 0), end, name))
        decision = excludes ? 0 : 1;
    }
    list = *end == '\0' ? end : end + 1;
  }
  return decision;
}

// The start of a demangled name's parameter list: the parenthesis that matches the last one.
size_t parameters_begin(const char* name) {
  size_t at = text_length(name);
  while (at > 0 && name[at - 1] != ')') --at;
  int open = 0;
  while (at > 0) {
    --at;
    if (name[at] == ')') ++open;
    if (name[at] == '(' && --open == 0) return at;
  }
  return text_length(name);
}

}  // namespace

bool matches_glob(const char* glob, const char* text) {
  return matches(glob, glob + text_length(glob), text);
}

bool is_chosen(const char* list, const char* name) {
  if (*list == '\0') return true;
  char* demangled = nullptr;
  char* plain = nullptr;
  if (name[0] == '_' && name[1] == 'Z' && __cxa_demangle != nullptr) {
    demangled = __cxa_demangle(name, nullptr, nullptr, nullptr);
    plain = __cxa_demangle(name, nullptr, nullptr, nullptr);
    if (plain != nullptr) plain[parameters_begin(plain)] = '\0';
  }
  const char* const names[3] = {name, demangled, plain};
  const int decision = last_match(list, names);
  free(demangled);
  free(plain);
  return decision < 0 ? *list == '!' : decision == 1;
}

}  // namespace telltale::recorder
