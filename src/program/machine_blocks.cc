#include "program/machine_blocks.h"

#include <fmt/format.h>

#include "base/sort_rows.h"
#include "bytes/read_leb.h"

namespace telltale {
namespace {

constexpr uint8_t kOldestVersion = 2;
constexpr uint8_t kNewestVersion = 5;
constexpr uint8_t kWideFeatures = 5;   // since this version features have two bytes
constexpr unsigned kRanges = 0x08;     // feature: a function has several ranges of addresses
constexpr unsigned kCallEnds = 0x20;   // feature: each block has a list of ends of calls
constexpr uint64_t kFallsThrough = 8;  // a block's flag

// Offsets count from the end of the block before, or of its last call.
void read_range(Cursor& in, unsigned features, std::vector<MachineBlock>& blocks) {
  uint64_t end = in.read<uint64_t>("address");
  const uint64_t count = read_leb(in);
  for (uint64_t i = 0; i < count && !in.error(); ++i) {
    read_leb(in);  // the block's number
    const uint64_t begin = end + read_leb(in);
    uint64_t last_call = 0;
    const uint64_t calls = (features & kCallEnds) == 0 ? 0 : read_leb(in);
    for (uint64_t call = 0; call < calls && !in.error(); ++call) last_call += read_leb(in);
    end = begin + last_call + read_leb(in);
    const uint64_t flags = read_leb(in);
    if (!in.error()) blocks.push_back({begin, end, (flags & kFallsThrough) != 0});
  }
}

void read_function(Cursor& in, std::vector<MachineBlock>& blocks) {
  const auto version = in.read<uint8_t>("version");
  if (version < kOldestVersion || version > kNewestVersion)
    return in.fail(Error::Cause::unsupported_version, fmt::format("version {}", version));
  const unsigned features =
      version >= kWideFeatures ? in.read<uint16_t>("features") : in.read<uint8_t>("features");
  if ((features & ~(kRanges | kCallEnds)) != 0)
    return in.fail(Error::Cause::unsupported_version, fmt::format("features {:#x}", features));
  const uint64_t ranges = (features & kRanges) == 0 ? 1 : read_leb(in);
  for (uint64_t i = 0; i < ranges && !in.error(); ++i) read_range(in, features, blocks);
}

}  // namespace

std::vector<MachineBlock> read_machine_blocks(Bytes section, std::endian order,
                                              const std::string& file, uint64_t file_offset,
                                              ProblemLog& problems) {
  std::vector<MachineBlock> blocks;
  Cursor in(section, order, file_offset);
  while (!in.at_end() && !in.error()) read_function(in, blocks);
  if (in.error()) {
    problems.add({Problem::Kind::oddity, in.offset(), file, ".llvm_bb_addr_map", in.error()->detail,
                  in.left()});
  }
  sort_rows(blocks, {}, &MachineBlock::begin);
  return blocks;
}

}  // namespace telltale
