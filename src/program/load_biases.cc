#include "program/load_biases.h"

#include <elf.h>

#include <algorithm>
#include <functional>
#include <set>

namespace telltale {
namespace {

bool has_bytes_in_file(const ElfSegment& segment) {
  return segment.type == PT_LOAD && segment.file_size != 0;
}

bool is_code(const ElfSegment& segment) {
  return has_bytes_in_file(segment) && (segment.flags & PF_X) != 0;
}

// Whether the segment's byte number `byte` is mapped where the bias puts it.
bool is_mapped(const ElfSegment& segment, uint64_t byte, uint64_t bias,
               std::span<const CoreMapping> mappings) {
  const uint64_t address = segment.address + byte + bias;
  return std::ranges::any_of(mappings, [&](const CoreMapping& mapping) {
    return address >= mapping.begin && address < mapping.end &&
           mapping.file_offset + (address - mapping.begin) == segment.offset + byte;
  });
}

// Whether the core file says that code there may run. Files of TELLTALE_PATHS and minidumps say
// nothing of most memory.
bool is_executable(const CoreFile& core, uint64_t address) {
  return std::ranges::any_of(core.segments(), [&](const ElfSegment& segment) {
    return (segment.flags & PF_X) != 0 && address - segment.address < segment.memory_size;
  });
}

}  // namespace

std::vector<uint64_t> load_biases(const ElfSegments& object, std::span<const CoreMapping> mappings,
                                  const CoreFile& core) {
  if (mappings.empty()) return {};
  std::set<uint64_t> candidates;
  for (const CoreMapping& mapping : mappings) {
    for (const ElfSegment& segment : object.segments) {
      if (has_bytes_in_file(segment) &&
          segment.offset - mapping.file_offset < mapping.end - mapping.begin)
        candidates.insert(mapping.begin + (segment.offset - mapping.file_offset) - segment.address);
    }
  }
  // A mapping for reading has the first segment where it would be loaded, seldom the others.
  std::vector<uint64_t> found;
  uint64_t most = 1;
  for (const uint64_t bias : candidates) {
    uint64_t bytes = 0;  // of segments that are mapped where this bias puts them
    for (const ElfSegment& segment : object.segments)
      if (has_bytes_in_file(segment) && is_mapped(segment, 0, bias, mappings))
        bytes += segment.file_size;
    if (bytes < most) continue;
    if (bytes > most) found.clear();
    most = bytes;
    found.push_back(bias);
  }
  if (found.empty()) {
    const CoreMapping& first = mappings.front();
    return {object.load_bias(first.file_offset, first.begin)};
  }
  const auto runs = [&](uint64_t bias) {
    return std::ranges::any_of(object.segments, [&](const ElfSegment& segment) {
      return is_code(segment) && is_executable(core, segment.address + bias);
    });
  };
  if (std::ranges::any_of(found, runs)) std::erase_if(found, std::not_fn(runs));
  return found;
}

bool are_segments_mapped(const ElfSegments& object, uint64_t bias,
                         std::span<const CoreMapping> mappings) {
  return std::ranges::all_of(object.segments, [&](const ElfSegment& segment) {
    return !has_bytes_in_file(segment) ||
           (is_mapped(segment, 0, bias, mappings) &&
            is_mapped(segment, segment.file_size - 1, bias, mappings));
  });
}

}  // namespace telltale
