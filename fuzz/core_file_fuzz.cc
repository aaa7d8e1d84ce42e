// Core files, minidumps and the sections of path tracing that are not text: no crash, problems are
// placed, memory lies inside the input. Unwinding is not fuzzed here: libdwfl never reads the core
// file.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/csi/path_records.h"
#include "fuzz_checks.h"
#include "import/csi/path_positions.h"
#include "program/core_file.h"
#include "program/machine_blocks.h"
#include "program/minidump.h"

namespace {

using namespace telltale;

void check_memory(const CoreFile& core, Bytes file, uint64_t address) {
  const Bytes memory = core.memory(address, 64);
  fuzz::require(memory.size() <= 64, "no more memory than was asked for");
  fuzz::require(memory.empty() || (memory.data() >= file.data() &&
                                   memory.data() + memory.size() <= file.data() + file.size()),
                "memory lies inside the file");
  const auto number = core.read_number(address, 8);
  fuzz::require(number.has_value() == (memory.size() >= 8), "a number needs its bytes");
}

void check_content(const CoreFile& core, Bytes file) {
  for (const CoreThread& thread : core.threads()) {
    check_memory(core, file, thread.pc);
    for (const uint64_t value : thread.registers) check_memory(core, file, value);
  }
  for (const ElfSegment& segment : core.segments()) {
    check_memory(core, file, segment.address);
    check_memory(core, file, segment.address + segment.file_size - 4);
  }
  for (const CoreMapping& mapping : core.mappings())
    fuzz::require(mapping.path.size() <= 2 * file.size(), "a path is a part of the file");
}

void check_core(Bytes file) {
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(file, "f", problems);
  fuzz::require_placed(problems, file);
  if (!core) return;
  fuzz::require(is_core_file(file), "what is read as a core file is recognised");
  check_content(*core, file);
}

void check_minidump(Bytes file) {
  ProblemLog problems;
  Result<Minidump> dump = read_minidump(file, "f", problems);
  fuzz::require_placed(problems, file);
  if (!dump) return;
  fuzz::require(is_minidump(file), "what is read as a minidump is recognised");
  fuzz::require(dump->streams.size() <= file.size() / 12, "a stream has 12 bytes");
  check_content(CoreFile::from_parts(std::move(dump->parts), file, "f"), file);
}

void check_sections(Bytes file) {
  ProblemLog problems;
  csi::PathRecords records = csi::PathRecords::read(file, std::endian::little, "f", 0, problems);
  std::vector<MachineBlock> blocks =
      read_machine_blocks(file, std::endian::little, "f", 0, problems);
  fuzz::require_placed(problems, file);
  fuzz::require(records.positions.size() <= file.size() / 26, "a position has 26 bytes");
  fuzz::require(blocks.size() <= file.size(), "a machine block has a byte");
  std::vector<csi::PathPosition> copy = records.positions;
  // The file once more, as code.
  const auto code_of = [file](uint64_t begin, uint64_t end) {
    std::vector<uint8_t> code;
    for (const std::byte byte : file.first(std::min<uint64_t>(file.size(), end - begin)))
      code.push_back(static_cast<uint8_t>(byte));
    return code;
  };
  const std::vector<MachineBlock> some(
      blocks.begin(), blocks.begin() + std::min<ptrdiff_t>(100, std::ssize(blocks)));
  const PathPositions positions(std::move(records.positions), std::move(blocks), code_of);
  for (const csi::PathPosition& position : copy)
    static_cast<void>(positions.find(position.address, position.address, position.address + 1));
  for (const MachineBlock& block : some)
    static_cast<void>(positions.find(block.begin, some.front().begin, ~uint64_t{0}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  check_core(file);
  check_minidump(file);
  check_sections(file);
  return 0;
}
