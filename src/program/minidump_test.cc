#include "program/minidump.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"
#include "support/minidump_builder.h"

namespace telltale {
namespace {

using ::testing::ElementsAre;
using testing::MinidumpBuilder;

constexpr uint16_t kX86 = 9;

MinidumpBuilder sample_dump() {
  MinidumpBuilder builder;
  builder.system(kX86)
      .process(100)
      .command(std::string("./parser\0-v\0", 12))
      .program_headers(0x555000000040)
      .module(0x555000000000, 0x3000, u"/opt/p\u00e4rser", std::string("LEpB\x12\x34\xab", 7))
      .threads({{101, 0x1000, 0x7ffe1000, "0123456789abcdef"}, {102, 0x2000, 0x7fff0000, "xyz"}})
      .exception(102, 11, 0x3000)
      .memory(0x555000001000, "code");
  return builder;
}

Result<Minidump> read_dump(const std::string& bytes, ProblemLog& problems) {
  return read_minidump(as_bytes(bytes), "dump", problems);
}

TEST(Minidump, HasProcessThreadsModulesAndMemory) {
  const std::string bytes = sample_dump().build();
  EXPECT_TRUE(is_minidump(as_bytes(bytes)));
  ProblemLog problems;
  Result<Minidump> dump = read_dump(bytes, problems);
  ASSERT_TRUE(dump) << to_string(dump.error());
  EXPECT_EQ(problems.count(), 0U);
  EXPECT_EQ(dump->streams.size(), 8U);
  EXPECT_FALSE(dump->lacks_modules);
  const CoreParts& parts = dump->parts;
  EXPECT_EQ(parts.machine, EM_X86_64);
  EXPECT_EQ(parts.pid, 100);
  EXPECT_EQ(parts.signal, 11);
  EXPECT_EQ(parts.command, "./parser -v");
  EXPECT_EQ(parts.program_headers_address, 0x555000000040U);
  ASSERT_EQ(parts.mappings.size(), 1U);
  EXPECT_EQ(parts.mappings[0].path, "/opt/p\u00e4rser");
  EXPECT_EQ(parts.mappings[0].end, 0x555000003000U);
  EXPECT_EQ(parts.mappings[0].build_id, "1234ab");
  // The thread that crashed is the first, with the registers of the crash.
  ASSERT_EQ(parts.threads.size(), 2U);
  EXPECT_EQ(parts.threads[0].tid, 102);
  EXPECT_EQ(parts.threads[0].pc, 0x3010U);
  EXPECT_EQ(parts.threads[1].tid, 101);
  // CONTEXT has rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, rip; DWARF has rax, rdx, rcx,
  // rbx, rsi, rdi, rbp, rsp.
  EXPECT_THAT(parts.threads[1].registers,
              ElementsAre(0x1000, 0x1002, 0x1001, 0x1003, 0x1006, 0x1007, 0x1005, 0x1004, 0x1008,
                          0x1009, 0x100a, 0x100b, 0x100c, 0x100d, 0x100e, 0x100f, 0x1010));
  const CoreFile core = CoreFile::from_parts(std::move(dump->parts), as_bytes(bytes), "dump");
  const auto text = [&core](uint64_t address, uint64_t size) {
    const Bytes found = core.memory(address, size);
    return std::string(reinterpret_cast<const char*>(found.data()), found.size());
  };
  EXPECT_EQ(text(0x7ffe1004, 4), "4567");
  EXPECT_EQ(text(0x7fff0000, 10), "xyz");
  EXPECT_EQ(text(0x555000001000, 4), "code");
  EXPECT_EQ(text(0x555000002000, 4), "");
}

TEST(Minidump, AGuidIsTheBeginningOfABuildId) {
  std::string guid;
  for (char each = 1; each <= 16; ++each) guid += each;
  MinidumpBuilder builder;
  builder.system(kX86).module(0x1000, 0x1000, u"/bin/p", "RSDS" + guid + std::string(5, '\0'));
  ProblemLog problems;
  const Result<Minidump> dump = read_dump(builder.build(), problems);
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->parts.mappings.size(), 1U);
  EXPECT_EQ(dump->parts.mappings[0].build_id, "0403020106050807090a0b0c0d0e0f10");
}

TEST(Minidump, AModuleWithARelativePathCountsIfItHasABuildId) {
  const auto modules = [](const std::u16string& path, const std::string& code_view) {
    ProblemLog problems;
    const Result<Minidump> dump = read_dump(
        MinidumpBuilder().system(kX86).module(0x1000, 0x1000, path, code_view).build(), problems);
    return dump ? dump->parts.mappings : std::vector<CoreMapping>();
  };
  ASSERT_EQ(modules(u"./plugin.so", "LEpB\x12").size(), 1U);
  EXPECT_EQ(modules(u"./plugin.so", "LEpB\x12")[0].path, "./plugin.so");
  ASSERT_EQ(modules(u"plugin.so", "RSDS" + std::string(20, '\0')).size(), 1U);
  EXPECT_EQ(modules(u"plugin.so", "RSDS" + std::string(20, '\0'))[0].build_id, "");
  EXPECT_TRUE(modules(u"./plugin.so", "").empty());
  EXPECT_TRUE(modules(u"", "LEpB\x12").empty());
  EXPECT_TRUE(modules(u"[vdso]", "LEpB\x12").empty());
  EXPECT_TRUE(modules(u"linux-gate.so", "LEpB\x12").empty());
}

TEST(Minidump, AlignedListsAreRead) {
  MinidumpBuilder builder;
  builder.system(kX86).threads({{7, 0x10, 0x1000, "abc"}}, /*padded=*/true);
  ProblemLog problems;
  const Result<Minidump> dump = read_dump(builder.build(), problems);
  ASSERT_TRUE(dump);
  EXPECT_EQ(problems.count(), 0U);
  ASSERT_EQ(dump->parts.threads.size(), 1U);
  EXPECT_EQ(dump->parts.threads[0].tid, 7);
}

TEST(Minidump, StreamsHaveTheNamesOfTheirFormat) {
  const auto names =
      std::to_array<std::pair<uint32_t, const char*>>({{3, "ThreadListStream"},
                                                       {4, "ModuleListStream"},
                                                       {5, "MemoryListStream"},
                                                       {6, "ExceptionStream"},
                                                       {7, "SystemInfoStream"},
                                                       {9, "Memory64ListStream"},
                                                       {15, "MiscInfoStream"},
                                                       {0x47670004, "LinuxProcStatus"},
                                                       {0x47670006, "LinuxCmdLine"},
                                                       {0x47670008, "LinuxAuxv"},
                                                       {8, "0x8"}});
  for (const auto& [type, name] : names) EXPECT_EQ(minidump_stream_name(type), name);
}

TEST(Minidump, APrefixIsAnErrorOrAProblem) {
  const std::string whole = sample_dump().build();
  for (size_t size = 0; size < whole.size(); ++size) {
    ProblemLog problems;
    // The directory is at the end.
    if (const auto dump = read_dump(whole.substr(0, size), problems)) {
      EXPECT_GT(problems.count(), 0U) << size;
      EXPECT_TRUE(dump->lacks_modules) << size;
    }
  }
}

TEST(Minidump, DamageIsPlaced) {
  // A thread list with an entry that it has no room for.
  MinidumpBuilder builder;
  builder.stream(3, std::string("\x02\0\0\0", 4) + std::string(48, '\0'));
  ProblemLog problems;
  ASSERT_TRUE(read_dump(builder.build(), problems));
  ASSERT_EQ(problems.kept().size(), 2U);  // and no processor
  EXPECT_EQ(problems.kept()[0].kind, Problem::Kind::oddity);
  EXPECT_EQ(problems.kept()[1].record, "ThreadListStream");
  EXPECT_EQ(problems.kept()[1].offset, 32U + 4 + 48);
  ProblemLog unused;
  std::string other = builder.build();
  other[4] = 0;
  const Result<Minidump> version = read_dump(other, unused);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().cause, Error::Cause::unsupported_version);
}

TEST(Minidump, WhatIsAnnouncedAndMissingIsAProblem) {
  const auto number = [](uint64_t value, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
    return text;
  };
  // Memory64List: 3 ranges, of which one is there; Exception: of a thread that is not listed.
  MinidumpBuilder builder;
  builder.stream(9, number(3, 8) + number(0, 8) + number(0x1000, 8) + number(4, 8));
  builder.stream(6, number(7, 4) + std::string(4 + 4 + 148, '\0') + number(0, 8));
  ProblemLog problems;
  ASSERT_TRUE(read_dump(builder.build(), problems));
  std::string all;
  for (const Problem& problem : problems.kept())
    all += problem.record + ": " + problem.message + "\n";
  EXPECT_NE(all.find("Memory64List: 3 ranges are announced, 1 are there\n"), std::string::npos)
      << all;
  EXPECT_NE(all.find("exception: its thread 7 is not in the list\n"), std::string::npos) << all;
}

}  // namespace
}  // namespace telltale
