#include "program/loaded_files.h"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "program/elf_segments.h"

namespace telltale {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostHeaderBytes = 64 * 1024;
// Offsets in r_debug and link_map, and the size of a dynamic entry, of 64-bit programs.
constexpr uint64_t kFirstLibrary = 8;
constexpr uint64_t kName = 8;
constexpr uint64_t kNext = 24;
constexpr uint64_t kDynamicEntry = 16;

class LoadedFiles {
 public:
  explicit LoadedFiles(const CoreFile& core) : core_(core) {}

  std::vector<CoreMapping> program_and_libraries(uint64_t name_address) {
    const uint64_t headers = core_.program_headers_address();
    if (headers == 0) return {};
    const uint64_t begin = headers / kPage * kPage;
    const std::string name = text_at(name_address);
    const auto program = elf_at(begin);
    if (!program) {
      add_without_headers(begin, name);
    } else if (begin + program->headers_offset == headers) {
      const uint64_t bias = program->load_bias(0, begin);
      add(*program, bias, name);
      for (const ElfSegment& segment : program->segments)
        if (segment.type == PT_DYNAMIC) add_libraries(segment, bias);
    }
    return std::move(mappings_);
  }

  std::vector<CoreMapping> libraries(const ElfSegment& dynamic, uint64_t bias,
                                     const std::string& loader) {
    loader_ = loader;
    add_libraries(dynamic, bias);
    return std::move(mappings_);
  }

 private:
  [[nodiscard]] std::optional<ElfSegments> elf_at(uint64_t address) const {
    auto elf = read_elf_segments(core_.memory(address, kMostHeaderBytes), "memory");
    if (!elf || !elf->is_64_bit) return std::nullopt;
    return *std::move(elf);
  }
  [[nodiscard]] std::string text_at(uint64_t address) const {
    constexpr uint64_t kMostBytes = 4096;
    const Bytes bytes = core_.memory(address, kMostBytes);
    const auto end = std::ranges::find(bytes, std::byte{0});
    if (end == bytes.end()) return {};
    return {reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(end - bytes.begin())};
  }
  [[nodiscard]] uint64_t number_at(uint64_t address) const {
    return core_.read_number(address, sizeof(uint64_t)).value_or(0);
  }

  void add(const ElfSegments& elf, uint64_t bias, const std::string& path) {
    if (path.empty()) return;
    for (const ElfSegment& segment : elf.segments) {
      if (segment.type != PT_LOAD || segment.file_size == 0) continue;
      const uint64_t into_page = segment.offset % kPage;
      const uint64_t begin = segment.address + bias - into_page;
      const uint64_t pages = (into_page + segment.file_size + kPage - 1) / kPage;
      mappings_.push_back({.begin = begin,
                           .end = begin + pages * kPage,
                           .file_offset = segment.offset - into_page,
                           .path = path,
                           .build_id = {}});
    }
  }

  // qemu leaves executable memory out, where the headers of many files are. Such segments adjoin
  // those of a file's data, and often those of the next file.
  void add_without_headers(uint64_t address, const std::string& path) {
    if (path.empty() || !core_.memory(address, 1).empty()) return;
    for (const ElfSegment& segment : core_.segments()) {
      if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0 ||
          address - segment.address >= segment.memory_size)
        continue;
      mappings_.push_back({.begin = address,
                           .end = segment.address + segment.memory_size,
                           .file_offset = 0,
                           .path = path,
                           .build_id = {}});
      return;
    }
  }

  void add_libraries(const ElfSegment& dynamic, uint64_t bias) {
    constexpr uint64_t kMostEntries = 1000;
    constexpr int kMostLibraries = 1000;
    uint64_t debug = 0;
    const uint64_t entries = std::min(dynamic.memory_size / kDynamicEntry, kMostEntries);
    for (uint64_t i = 0; i < entries; ++i) {
      const uint64_t entry = dynamic.address + bias + i * kDynamicEntry;
      if (number_at(entry) == DT_DEBUG) debug = number_at(entry + sizeof(uint64_t));
    }
    if (debug == 0) return;
    uint64_t library = number_at(debug + kFirstLibrary);
    for (int i = 0; i < kMostLibraries && library != 0; ++i) {
      const uint64_t library_bias = number_at(library);
      const uint64_t name_address = number_at(library + kName);
      const bool is_program = library_bias == bias;
      const bool is_in_memory = !core_.memory(name_address, 1).empty();
      const std::string name = is_in_memory ? text_at(name_address) : loader_;
      if (!is_program && !name.empty()) {
        if (const auto elf = elf_at(library_bias)) {
          add(*elf, library_bias, name);
        } else {
          add_without_headers(library_bias, name);
        }
      }
      library = number_at(library + kNext);
    }
  }

  const CoreFile& core_;
  std::string loader_;
  std::vector<CoreMapping> mappings_;
};

}  // namespace

std::vector<CoreMapping> loaded_files(const CoreFile& core, uint64_t name_address) {
  return LoadedFiles(core).program_and_libraries(name_address);
}

std::vector<CoreMapping> loaded_libraries(const CoreFile& core, const ElfSegment& dynamic,
                                          uint64_t bias, const std::string& loader) {
  return LoadedFiles(core).libraries(dynamic, bias, loader);
}

}  // namespace telltale
