#include "program/debug_file_search.h"

#include <fcntl.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "bytes/input_file.h"
#include "program/elf_image.h"

namespace telltale {

DebugFileSearch::DebugFileSearch(SymbolizerOptions options)
    : options_(std::move(options)), path_("+:.debug:/usr/lib/debug") {
  for (const std::string& directory : options_.debug_directories) path_ += ":" + directory;
  path_text_ = path_.data();
  callbacks_.find_elf = dwfl_build_id_find_elf;
  callbacks_.find_debuginfo = find;
  callbacks_.section_address = dwfl_offline_section_address;
  callbacks_.debuginfo_path = &path_text_;
}

void DebugFileSearch::attach(Dwfl_Module* module) {
  void** userdata = nullptr;
  dwfl_module_info(module, &userdata, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *userdata = this;
}

int DebugFileSearch::find(Dwfl_Module* module, void** userdata, const char* module_name,
                          Dwarf_Addr base, const char* file_name, const char* link,
                          GElf_Word checksum, char** found_name) {
  const auto* self = static_cast<const DebugFileSearch*>(*userdata);
  const int given = self == nullptr ? -1 : self->open_given_file(module, found_name);
  if (given >= 0) return given;
  // A link names a file beside the program or below a debug root; never another folder.
  if (link != nullptr && std::strchr(link, '/') != nullptr) link = nullptr;
  return dwfl_standard_find_debuginfo(module, userdata, module_name, base, file_name, link,
                                      checksum, found_name);
}

int DebugFileSearch::open_given_file(Dwfl_Module* module, char** found_name) const {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int size = dwfl_module_build_id(module, &bits, &address);
  if (size <= 0) return -1;
  std::string wanted;
  for (int i = 0; i < size; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    wanted += kDigits[bits[i] >> 4];
    wanted += kDigits[bits[i] & 15];
  }
  for (const std::string& file : options_.debug_files) {
    const Result<InputFile> input = InputFile::open(file);
    if (!input) continue;
    const Result<ElfImage> image = ElfImage::read(input->bytes(), file);
    if (!image || image->build_id() != wanted) continue;
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) *found_name = ::strdup(file.c_str());
    return fd;
  }
  return -1;
}

}  // namespace telltale
