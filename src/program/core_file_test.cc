#include "program/core_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "bytes/as_bytes.h"
#include "support/core_builder.h"

namespace telltale {
namespace {

using testing::CoreBuilder;
using ::testing::ElementsAre;

std::string sample() {
  return CoreBuilder()
      .thread(101, 11, 0x1000)
      .process(100, "./parser -v")
      .program_headers(0x555000000040)
      .mappings({{0x555000000000, 0x555000002000, 0, "/home/user/parser"},
                 {0x555000002000, 0x555000003000, 2, "/home/user/parser"}})
      .note("LINUX", 7, "what telltale does not know")
      .thread(102, 0, 0x2000)
      .memory(0x7ffe1000, "0123456789abcdef")
      .memory(0x7ffe2000, "ABCDEFGH")
      .build();
}

TEST(CoreFile, TellsProcessThreadsAndMappings) {
  const std::string bytes = sample();
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_TRUE(core) << to_string(core.error());
  EXPECT_EQ(problems.count(), 0U);
  EXPECT_TRUE(is_core_file(as_bytes(bytes)));
  EXPECT_EQ(core->pid(), 100);
  EXPECT_EQ(core->signal(), 11);
  EXPECT_EQ(core->command(), "./parser -v");
  EXPECT_EQ(core->program_headers_address(), 0x555000000040U);
  ASSERT_EQ(core->threads().size(), 2U);
  const CoreThread& thread = core->threads()[0];
  EXPECT_EQ(thread.tid, 101);
  // rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip: places in struct user_regs_struct.
  EXPECT_THAT(thread.registers,
              ElementsAre(0x100a, 0x100c, 0x100b, 0x1005, 0x100d, 0x100e, 0x1004, 0x1013, 0x1009,
                          0x1008, 0x1007, 0x1006, 0x1003, 0x1002, 0x1001, 0x1000, 0x1010));
  EXPECT_EQ(thread.pc, 0x1010U);
  EXPECT_EQ(core->threads()[1].tid, 102);
  ASSERT_EQ(core->mappings().size(), 2U);
  EXPECT_EQ(core->mappings()[1].begin, 0x555000002000U);
  EXPECT_EQ(core->mappings()[1].file_offset, 2 * 4096U);
  EXPECT_EQ(core->mappings()[1].path, "/home/user/parser");
}

TEST(CoreFile, MemoryIsWhatTheSegmentsHave) {
  const std::string bytes = sample();
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_TRUE(core);
  const auto read = [&](uint64_t address, uint64_t size) {
    const Bytes found = core->memory(address, size);
    return std::string(reinterpret_cast<const char*>(found.data()), found.size());
  };
  EXPECT_EQ(read(0x7ffe1000, 4), "0123");
  EXPECT_EQ(read(0x7ffe100e, 4), "ef");
  EXPECT_EQ(read(0x7ffe1010, 4), "");
  EXPECT_EQ(read(0x7ffe0fff, 4), "");
  EXPECT_EQ(read(0x7ffe2000, 100), "ABCDEFGH");
  EXPECT_EQ(core->read_number(0x7ffe2000, 8), 0x4847464544434241U);
  EXPECT_EQ(core->read_number(0x7ffe2006, 2), 0x4847U);
  EXPECT_EQ(core->read_number(0x7ffe2001, 8), std::nullopt);
}

TEST(CoreFile, MemoryGoesOnInTheNextSegment) {
  const std::string bytes = CoreBuilder()
                                .thread(1, 11, 0x1000)
                                .memory(0x2000, "01234567")
                                .memory(0x2008, "89abcdef")
                                .memory(0x2011, "x")
                                .build();
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_TRUE(core);
  EXPECT_EQ(core->memory(0x2004, 8).size(), 8U);
  EXPECT_EQ(core->read_number(0x2004, 8),
            core->read_number(0x2004, 4).value() | core->read_number(0x2008, 4).value() << 32U);
  EXPECT_EQ(core->memory(0x200c, 100).size(), 4U);
  EXPECT_EQ(core->memory(0x2010, 1).size(), 0U);
}

TEST(CoreFile, ThreadsThatAreLeftOut) {
  const auto read = [](const std::string& contents) {
    ProblemLog problems;
    const std::string bytes =
        CoreBuilder().thread(1, 11, 0x1000).note("Telltale", 2, contents).build();
    const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
    EXPECT_TRUE(core);
    EXPECT_EQ(core_note_name(core->notes().back()), "threads left out");
    return std::pair(core->has_all_threads(), problems);
  };
  const auto [has_all, problems] = read(std::string("\5\0\0\0\0\0\0\0", 8));
  EXPECT_FALSE(has_all);
  ASSERT_EQ(problems.kept().size(), 1U);
  EXPECT_EQ(problems.kept()[0].kind, Problem::Kind::loss);
  EXPECT_EQ(problems.kept()[0].message, "it has 1 threads, and not the other 5 of the process");
  EXPECT_TRUE(read(std::string(8, '\0')).first);
}

TEST(CoreFile, BitsOfReturnAddressesThatMayBeSigned) {
  constexpr uint64_t kMask = 0x007F'FF80'0000'0000;  // of addresses with 39 bits
  std::string masks(16, '\0');
  std::memcpy(&masks[8], &kMask, sizeof(kMask));
  const auto bits = [](const CoreBuilder& builder) {
    ProblemLog problems;
    const std::string bytes = builder.build();
    const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
    EXPECT_TRUE(core);
    return core ? core->signature_bits() : 1;
  };
  EXPECT_EQ(bits(CoreBuilder().machine(EM_AARCH64).note("LINUX", NT_ARM_PAC_MASK, masks)), kMask);
  EXPECT_EQ(bits(CoreBuilder().machine(EM_AARCH64).note("LINUX", NT_ARM_PAC_MASK, "short")),
            0xFFFF'0000'0000'0000U);
  EXPECT_EQ(bits(CoreBuilder().machine(EM_AARCH64)), 0xFFFF'0000'0000'0000U);
  EXPECT_EQ(bits(CoreBuilder().note("LINUX", NT_ARM_PAC_MASK, masks)), 0U);
}

TEST(CoreFile, MemoryInOverlappingSegmentsIsFound) {
  const std::string bytes = CoreBuilder()
                                .memory(0x1004, "4567")
                                .memory(0x1000, "0123456789abcdef")
                                .memory(0x1000, "01")
                                .memory(0x100c, "cdefghij")
                                .build();
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_TRUE(core);
  const auto read = [&](uint64_t address, uint64_t size) {
    const Bytes found = core->memory(address, size);
    return std::string(reinterpret_cast<const char*>(found.data()), found.size());
  };
  EXPECT_EQ(read(0x1001, 4), "1234");
  EXPECT_EQ(read(0x1005, 6), "56789a");
  EXPECT_EQ(read(0x1009, 2), "9a");
  EXPECT_EQ(read(0x100d, 6), "defghi");
}

TEST(CoreFile, EveryPrefixGivesWhatIsThereAndSaysWhatIsMissing) {
  const std::string bytes = sample();
  constexpr size_t kHeader = 58;  // up to the number of program headers
  size_t threads = 0;
  for (size_t size = kHeader; size < bytes.size(); ++size) {
    ProblemLog problems;
    const Result<CoreFile> core =
        CoreFile::read(as_bytes(std::string_view(bytes).substr(0, size)), "core", problems);
    ASSERT_TRUE(core) << size;
    EXPECT_TRUE(problems.damaged()) << size;
    for (const Problem& problem : problems.kept()) EXPECT_LE(problem.offset, size);
    EXPECT_GE(core->threads().size(), threads) << size;
    threads = core->threads().size();
    EXPECT_LE(core->memory(0x7ffe1000, 16).size(), 16U);
  }
  EXPECT_EQ(threads, 2U);
  for (size_t size = 0; size < kHeader; ++size) {
    ProblemLog problems;
    EXPECT_FALSE(
        CoreFile::read(as_bytes(std::string_view(bytes).substr(0, size)), "core", problems))
        << size;
  }
}

TEST(CoreFile, IsNoOtherElfFile) {
  std::string bytes = sample();
  bytes[16] = ET_DYN;
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_FALSE(core);
  EXPECT_EQ(core.error().detail, "not a core file");
  EXPECT_FALSE(is_core_file(as_bytes(bytes)));
}

TEST(CoreFile, OfA32BitProgramIsRefused) {
  std::string bytes(52, '\0');
  bytes.replace(0, 7,
                "\x7f"
                "ELF\x01\x01\x01");
  bytes[16] = ET_CORE;
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_FALSE(core);
  EXPECT_EQ(core.error().cause, Error::Cause::unsupported_version);
}

// Segments with the same notes would multiply them.
TEST(CoreFile, NotesOfOverlappingSegmentsAreReadOnce) {
  std::string bytes = sample();
  // The second program header becomes a copy of the first.
  bytes.replace(64 + sizeof(Elf64_Phdr), sizeof(Elf64_Phdr), bytes, 64, sizeof(Elf64_Phdr));
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_TRUE(core);
  EXPECT_EQ(core->threads().size(), 2U);
}

TEST(ElfSegments, LoadBiasIsAddressLessLinkTimeAddress) {
  ElfSegments elf;
  elf.segments = {{.type = PT_LOAD, .offset = 0, .address = 0, .file_size = 0x600},
                  {.type = PT_LOAD, .offset = 0x1040, .address = 0x2040, .file_size = 0x100}};
  EXPECT_EQ(elf.load_bias(0, 0x555000000000), 0x555000000000U);
  EXPECT_EQ(elf.load_bias(0x1000, 0x555000002000), 0x555000000000U);
  EXPECT_EQ(elf.load_bias(0x9000, 0x555000002000), 0U);
}

}  // namespace
}  // namespace telltale
