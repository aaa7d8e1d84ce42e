#include "program/joined_memory.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>

namespace telltale {
namespace {

// Memory, and where the file has its bytes.
struct Range {
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// The memory that the file has, by address. What two ranges have is in the first one only.
std::vector<Range> distinct_ranges(Bytes file, const CoreParts& parts) {
  std::vector<Range> ranges;
  for (const ElfSegment& each : parts.memory) {
    if (each.offset >= file.size()) continue;
    const uint64_t size =
        std::min({each.file_size, file.size() - each.offset, UINT64_MAX - each.address});
    if (size != 0) ranges.push_back({each.address, each.offset, size});
  }
  std::ranges::stable_sort(ranges, {}, &Range::address);
  uint64_t reached = 0;
  for (Range& each : ranges) {
    const uint64_t known = std::min(each.size, reached - std::min(reached, each.address));
    each = {each.address + known, each.offset + known, each.size - known};
    reached = std::max(reached, each.address + each.size);
  }
  std::erase_if(ranges, [](const Range& each) { return each.size == 0; });
  return ranges;
}

bool adjoin_in_memory(const Range& first, const Range& second) {
  return first.address + first.size == second.address;
}

bool adjoin_in_file(const Range& first, const Range& second) {
  return first.offset + first.size == second.offset;
}

}  // namespace

std::vector<std::byte> join_memory(Bytes file, CoreParts& parts) {
  std::vector<Range> ranges = distinct_ranges(file, parts);
  uint64_t bytes = 0;
  bool is_needed = false;
  for (size_t i = 0; i < ranges.size(); ++i) {
    bytes += ranges[i].size;
    is_needed = is_needed || (i != 0 && adjoin_in_memory(ranges[i - 1], ranges[i]) &&
                              !adjoin_in_file(ranges[i - 1], ranges[i]));
  }
  // Ranges of a damaged file may have the same bytes; copies of them would need much memory.
  if (!is_needed || bytes > file.size()) return {};
  std::vector<std::byte> copy;
  copy.reserve(static_cast<size_t>(bytes));
  parts.memory.clear();
  for (const Range& each : ranges) {
    parts.memory.push_back({.type = PT_LOAD,
                            .flags = PF_R,
                            .offset = copy.size(),
                            .address = each.address,
                            .file_size = each.size,
                            .memory_size = each.size});
    const Bytes from =
        file.subspan(static_cast<size_t>(each.offset), static_cast<size_t>(each.size));
    copy.insert(copy.end(), from.begin(), from.end());
  }
  return copy;
}

}  // namespace telltale
