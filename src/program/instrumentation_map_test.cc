#include "program/instrumentation_map.h"

#include <gmock/gmock.h>

#include "program/elf_image.h"
#include "support/elf_builder.h"

namespace telltale {
namespace {

using ::testing::ElementsAre;
using testing::ElfBuilder;
using ::testing::HasSubstr;
using testing::InstrMapBuilder;
using ::testing::IsEmpty;

constexpr uint64_t kMapAddress = 0x5000;

struct Read {
  InstrumentationMap map;
  ProblemLog problems;
  std::string error;

  [[nodiscard]] std::string first_problem() const {
    return problems.kept().empty() ? "" : to_string(problems.kept().front());
  }
};

Read read(const std::string& file) {
  Read result;
  Result<InstrumentationMap> map =
      InstrumentationMap::read(as_bytes(file), "program", result.problems);
  if (map) {
    result.map = *std::move(map);
  } else {
    result.error = to_string(map.error());
  }
  return result;
}

// "1:enter@0x1000" for each sled, with marks for unusual properties.
std::vector<std::string> listing(const InstrumentationMap& map) {
  std::vector<std::string> lines;
  for (const Sled& sled : map.sleds()) {
    std::string line = std::to_string(sled.function_id) + " " + to_string(sled.kind);
    char text[64];
    std::snprintf(text, sizeof text, " %#llx in %#llx v%u",
                  static_cast<unsigned long long>(sled.address),
                  static_cast<unsigned long long>(sled.function), sled.version);
    lines.push_back(line + text + (sled.always_instrument ? " always" : ""));
  }
  return lines;
}

InstrMapBuilder two_functions(std::endian order = std::endian::little, bool is_64_bit = true) {
  return InstrMapBuilder(order, is_64_bit)
      .relative(kMapAddress, 0x1008, 0x1000, 0)
      .relative(kMapAddress, 0x1040, 0x1000, 1)
      .relative(kMapAddress, 0x2000, 0x2000, 3, 1)
      .relative(kMapAddress, 0x2010, 0x2000, 4, 1)
      .relative(kMapAddress, 0x2020, 0x2000, 5, 1)
      .relative(kMapAddress, 0x2030, 0x2000, 2, 1);
}

const std::vector<std::string> kTwoFunctions = {
    "1 function-enter 0x1008 in 0x1000 v2",        "1 function-exit 0x1040 in 0x1000 v2",
    "2 log-args-enter 0x2000 in 0x2000 v2 always", "2 custom-event 0x2010 in 0x2000 v2 always",
    "2 typed-event 0x2020 in 0x2000 v2 always",    "2 tail-exit 0x2030 in 0x2000 v2 always"};

ElfBuilder with_map(const std::string& entries) {
  ElfBuilder elf;
  elf.add({.name = "xray_instr_map", .address = kMapAddress, .bytes = entries});
  return elf;
}

TEST(InstrumentationMap, RelativeEntriesInBothByteOrdersAndWidths) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    for (const bool is_64_bit : {true, false}) {
      ElfBuilder elf = with_map(two_functions(order, is_64_bit).bytes());
      elf.order = order;
      elf.is_64_bit = is_64_bit;
      const Read result = read(elf.build());
      EXPECT_EQ(result.error, "");
      EXPECT_EQ(listing(result.map), kTwoFunctions);
      EXPECT_EQ(result.problems.count(), 0U) << result.first_problem();
      ASSERT_EQ(result.map.functions().size(), 2U);
      EXPECT_EQ(result.map.functions()[1].address, 0x2000U);
      EXPECT_EQ(result.map.sleds(result.map.functions()[1]).size(), 4U);
      EXPECT_EQ(result.map.find(2), &result.map.functions()[1]);
      EXPECT_EQ(result.map.find(0), nullptr);
      EXPECT_EQ(result.map.find(3), nullptr);
    }
  }
}

TEST(InstrumentationMap, AbsoluteEntriesOfVersions0And1) {
  const Read result = read(with_map(InstrMapBuilder()
                                        .stored(0x401008, 0x401000, 0, 0, 0)
                                        .stored(0x401040, 0x401000, 1, 0, 0)
                                        .stored(0x402000, 0x402000, 0, 0, 1)
                                        .bytes())
                               .build());
  EXPECT_THAT(listing(result.map), ElementsAre("1 function-enter 0x401008 in 0x401000 v0",
                                               "1 function-exit 0x401040 in 0x401000 v0",
                                               "2 function-enter 0x402000 in 0x402000 v1"));
}

// A position-independent program of LLVM 10: the words are zero, and the dynamic linker relocates
// them.
TEST(InstrumentationMap, RelativeRelocationsFillZeroWords) {
  ElfBuilder elf = with_map(InstrMapBuilder().stored(0, 0, 0, 0, 1).stored(0, 0, 1, 0, 1).bytes());
  elf.type = ET_DYN;
  elf.machine = EM_AARCH64;
  ByteWriter relocations;
  const auto relative = [&](uint64_t place, uint64_t addend) {
    relocations.write(place).write(uint64_t{R_AARCH64_RELATIVE}).write(addend);
  };
  relative(0x1234, 0x9999);  // outside the map
  relative(kMapAddress + 40, 0x7700);
  relative(kMapAddress + 0, 0x7708);
  relative(kMapAddress + 8, 0x7700);
  relative(kMapAddress + 32, 0x7740);
  elf.add({.name = ".rela.dyn", .type = SHT_RELA, .bytes = relocations.bytes()});
  const Read result = read(elf.build());
  EXPECT_THAT(listing(result.map), ElementsAre("1 function-enter 0x7708 in 0x7700 v1",
                                               "1 function-exit 0x7740 in 0x7700 v1"));
  EXPECT_EQ(result.problems.count(), 0U) << result.first_problem();
}

TEST(InstrumentationMap, ZeroWordWithoutRelocationIsALoss) {
  const Read result = read(
      with_map(InstrMapBuilder().stored(0, 0, 0, 0, 1).stored(8, 16, 1, 0, 1).bytes()).build());
  EXPECT_THAT(listing(result.map), ElementsAre("1 function-exit 0x8 in 0x10 v1"));
  EXPECT_THAT(result.first_problem(),
              HasSubstr("needs a relocation of x86-64 that is not resolved"));
  EXPECT_EQ(result.problems.lost_bytes(), 32U);
}

// RISC-V encodes a distance as a pair of relocations, and the subtracted place is the entry's, not
// the field's.
TEST(InstrumentationMap, ObjectFileWithRelocationPairs) {
  ElfBuilder elf;
  elf.type = ET_REL;
  elf.machine = EM_RISCV;
  elf.add({.name = ".text.f", .bytes = "f"});
  elf.add({.name = ".text.g", .bytes = "g"});
  const uint32_t map =
      elf.add({.name = "xray_instr_map",
               .bytes = InstrMapBuilder().stored(0, 0, 0, 0, 2).stored(0, 0, 0, 0, 2).bytes()});
  ByteWriter symbols;
  symbols.zeros(24);
  const auto symbol = [&](uint16_t section, uint64_t value) {
    symbols.write(uint32_t{0})
        .write(uint8_t{0})
        .write(uint8_t{0})
        .write(section)
        .write(value)
        .write(uint64_t{0});
  };
  symbol(1, 0x10);  // 1: in .text.f
  symbol(2, 0x10);  // 2: the same offset in .text.g
  symbol(3, 0);     // 3: the first entry
  symbol(3, 32);    // 4: the second
  const uint32_t symbol_table =
      elf.add({.name = ".symtab", .type = SHT_SYMTAB, .flags = 0, .bytes = symbols.bytes()});
  ByteWriter relocations;
  const auto relocate = [&](uint64_t place, uint64_t index, uint64_t type, uint64_t addend) {
    relocations.write(place).write(index << 32 | type).write(addend);
  };
  for (const uint64_t entry : {0U, 1U}) {
    relocate(entry * 32, entry + 1, R_RISCV_ADD64, 4);
    relocate(entry * 32, entry + 3, R_RISCV_SUB64, 0);
    relocate(entry * 32 + 8, entry + 1, R_RISCV_ADD64, static_cast<uint64_t>(-8));
    relocate(entry * 32 + 8, entry + 3, R_RISCV_SUB64, 0);
  }
  elf.add({.name = ".rela",
           .type = SHT_RELA,
           .flags = 0,
           .bytes = relocations.bytes(),
           .link = symbol_table,
           .info = map});
  const Read result = read(elf.build());
  EXPECT_THAT(listing(result.map),
              ElementsAre("1 function-enter 0x14 in 0x10 v2", "2 function-enter 0x14 in 0x10 v2"))
      << "two functions at the same offset of two sections";
  EXPECT_EQ(result.map.functions()[1].section, 2U);
  EXPECT_EQ(result.problems.count(), 0U) << result.first_problem();
}

TEST(InstrumentationMap, AllSectionsOfTheNameCount) {
  ElfBuilder elf = with_map(InstrMapBuilder().relative(kMapAddress, 0x1000, 0x1000, 0).bytes());
  elf.add({.name = "xray_instr_map",
           .address = 0x6000,
           .bytes = InstrMapBuilder().relative(0x6000, 0x2000, 0x2000, 0).bytes()});
  EXPECT_THAT(listing(read(elf.build()).map), ElementsAre("1 function-enter 0x1000 in 0x1000 v2",
                                                          "2 function-enter 0x2000 in 0x2000 v2"));
}

TEST(InstrumentationMap, AFunctionWhoseSledsAreApartHasTwoIds) {
  const Read result = read(with_map(InstrMapBuilder()
                                        .stored(1, 0x10, 0, 0, 0)
                                        .stored(2, 0x20, 0, 0, 0)
                                        .stored(3, 0x10, 1, 0, 0)
                                        .bytes())
                               .build());
  ASSERT_EQ(result.map.functions().size(), 3U);
  EXPECT_EQ(result.map.functions()[2].address, 0x10U);
  EXPECT_EQ(result.map.functions()[2].id, 3U);
}

TEST(InstrumentationMap, UnknownKindsAreKept) {
  const Read result = read(with_map(InstrMapBuilder().stored(1, 16, 200, 7, 0).bytes()).build());
  EXPECT_THAT(listing(result.map), ElementsAre("1 kind-200 0x1 in 0x10 v0 always"));
  EXPECT_EQ(result.problems.count(), 0U);
}

TEST(InstrumentationMap, ATornEntryCostsOnlyItself) {
  const std::string whole = two_functions().bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    const Read result = read(with_map(whole.substr(0, length)).build());
    EXPECT_EQ(result.map.sleds().size(), length / 32);
    EXPECT_EQ(result.problems.lost_bytes(), length % 32);
    if (length % 32 != 0) {
      EXPECT_THAT(result.first_problem(), HasSubstr("the section ends inside an entry"));
    }
  }
}

TEST(InstrumentationMap, ADamagedVersionKeepsTheIds) {
  std::string entries = two_functions().bytes();
  entries[32 + 18] = '\x42';
  const Read result = read(with_map(entries).build());
  EXPECT_EQ(listing(result.map), kTwoFunctions);
  EXPECT_THAT(result.first_problem(),
              HasSubstr("xray_instr_map at byte 96: version 66 is unknown"));
  EXPECT_TRUE(result.problems.damaged());
}

TEST(InstrumentationMap, OnlyUnknownVersionsAreRefused) {
  EXPECT_THAT(read(with_map(InstrMapBuilder().stored(1, 2, 0, 0, 3).bytes()).build()).error,
              HasSubstr("no entry has one of the known versions"));
}

TEST(InstrumentationMap, ASeparateDebugFileHasNoMap) {
  ElfBuilder elf;
  elf.add({.name = "xray_instr_map", .type = SHT_NOBITS, .size_without_bytes = 64});
  EXPECT_THAT(read(elf.build()).error,
              HasSubstr("this is a separate debug file; name the program itself"));
}

TEST(InstrumentationMap, ProgramsWithoutAMapHaveNone) {
  const Read result = read(ElfBuilder().build());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.map.functions(), IsEmpty());
  EXPECT_EQ(result.map.section_count(), 0U);
}

// Many section headers that refer to the same bytes must not multiply them.
TEST(InstrumentationMap, OverlappingSectionsAreRefused) {
  ElfBuilder elf = with_map(two_functions().bytes());
  for (int i = 0; i < 50; ++i) elf.add({.name = "xray_instr_map"});
  std::string file = elf.build();
  const size_t table = file.size() - 53 * sizeof(Elf64_Shdr);
  for (size_t i = 2; i <= 51; ++i) {
    const size_t header = table + i * sizeof(Elf64_Shdr);
    file.replace(header + offsetof(Elf64_Shdr, sh_offset), 16,
                 ByteWriter().write(uint64_t{0}).write(static_cast<uint64_t>(file.size())).take());
  }
  EXPECT_THAT(read(file).error, HasSubstr("sections overlap"));
}

std::string with_index(const std::string& index) {
  ElfBuilder elf = with_map(two_functions().bytes());
  elf.add({.name = "xray_fn_idx", .address = 0x6000, .bytes = index});
  return elf.build();
}

TEST(InstrumentationIndex, BothLayoutsAgreeWithTheMap) {
  const std::string pointers = ByteWriter()
                                   .write(kMapAddress)
                                   .write(kMapAddress + 64)
                                   .write(kMapAddress + 64)
                                   .write(kMapAddress + 192)
                                   .take();
  EXPECT_EQ(read(with_index(pointers)).first_problem(), "");
  const std::string relative = ByteWriter()
                                   .write(kMapAddress - 0x6000)
                                   .write(uint64_t{2})
                                   .write(kMapAddress + 64 - 0x6010)
                                   .write(uint64_t{4})
                                   .take();
  EXPECT_EQ(read(with_index(relative)).first_problem(), "");
}

TEST(InstrumentationIndex, DisagreementIsAnOddityAndSaysWhere) {
  const auto problem = [](uint64_t begin2, uint64_t count2, bool third) {
    ByteWriter index;
    index.write(kMapAddress - 0x6000).write(uint64_t{2}).write(begin2 - 0x6010).write(count2);
    if (third) index.write(uint64_t{0}).write(uint64_t{1});
    const Read result = read(with_index(index.bytes()));
    EXPECT_EQ(result.map.sleds().size(), 6U);
    EXPECT_FALSE(result.problems.damaged());
    return result.first_problem();
  };
  EXPECT_THAT(problem(kMapAddress + 64, 5, false),
              HasSubstr("function 2 has 5 sleds according to the index, 4 in the map"));
  EXPECT_THAT(problem(kMapAddress + 32, 4, false),
              HasSubstr("function 2 does not begin at the address in the index"));
  EXPECT_THAT(problem(kMapAddress + 64, 4, true), HasSubstr("function 3 is not in the map"));
  EXPECT_THAT(read(with_index(ByteWriter().write(kMapAddress - 0x6000).write(uint64_t{2}).take()))
                  .first_problem(),
              HasSubstr("has 1 entry, the map has 2 functions"));
}

constexpr std::string_view kYaml = R"(---
- { id: 1, address: 0x1008, function: 0x1000, kind: function-enter, always-instrument: false, function-name: 'f(int, "x")', version: 2 }
- { id: 7, address: 0x2000, function: 0x2000, kind: log-args-enter, always-instrument: true, function-name: "it's", version: 1 }
- { id: 1, address: 4160, function: 0x1000, kind: tail-exit, always-instrument: false, version: 2, of-the-future: yes }
...
)";

TEST(InstrumentationYaml, ReadsIdsAsGiven) {
  const Read result = read(std::string(kYaml));
  ASSERT_EQ(result.error, "");
  EXPECT_THAT(listing(result.map),
              ElementsAre("1 function-enter 0x1008 in 0x1000 v2", "1 tail-exit 0x1040 in 0x1000 v2",
                          "7 log-args-enter 0x2000 in 0x2000 v1 always"));
  ASSERT_NE(result.map.find(7), nullptr);
  EXPECT_EQ(result.map.given_name(*result.map.find(7)), "it's");
  EXPECT_EQ(result.map.given_name(*result.map.find(1)), R"(f(int, "x"))");
}

TEST(InstrumentationYaml, WrittenMapsReadBack) {
  const Read first = read(with_map(two_functions().bytes()).build());
  std::string text;
  const size_t left_out = write_llvm_xray_yaml(
      first.map,
      [](const InstrumentedFunction& f) { return f.id == 1 ? R"("a \"b\" \u00fc")" : "''"; },
      [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(left_out, 1U) << "the typed event";
  const Read second = read(text);
  ASSERT_EQ(second.error, "") << text;
  std::vector<std::string> expected = kTwoFunctions;
  expected.erase(expected.begin() + 4);
  EXPECT_EQ(listing(second.map), expected);
  EXPECT_EQ(second.map.given_name(*second.map.find(1)), "a \"b\" \u00fc");
}

TEST(InstrumentationYaml, WhatIsNoMapIsRefusedWithItsPlace) {
  const auto error = [](std::string_view text) { return read(std::string(text)).error; };
  EXPECT_THAT(error("# nothing"), HasSubstr("expected a list of sleds"));
  EXPECT_THAT(error("hello"), HasSubstr("expected a list of sleds"));
  EXPECT_THAT(error("- 5"), HasSubstr("at byte 2: expected a sled"));
  EXPECT_THAT(error("- { address: 1 }"), HasSubstr("a sled has no id"));
  EXPECT_THAT(error("- { id: 4294967296 }"), HasSubstr("field id has no valid value"));
  EXPECT_THAT(error("- { id: 1, kind: function-leave }"),
              HasSubstr("field kind has no valid value"));
  EXPECT_THAT(error("- { id: 1, address: 0x10000000000000000 }"),
              HasSubstr("field address has no valid value"));
  EXPECT_THAT(error("- { id: [1] }"), HasSubstr("field id is not a plain value"));
  EXPECT_THAT(error("- { [1]: 2 }"), HasSubstr("expected the name of a field"));
  EXPECT_THAT(error("- { id: 1"), HasSubstr("neither ELF nor YAML"));
  EXPECT_THAT(error(std::string("\x00\x01\x02", 3)), HasSubstr("neither ELF nor YAML"));
  EXPECT_THAT(error(std::string(1000000, '[')), HasSubstr("at byte"));
}

TEST(InstrumentationYaml, AnEmptyFileHasNoAddressAndIsRefused) {
  ProblemLog problems;
  const Result<InstrumentationMap> map = InstrumentationMap::read(Bytes(), "empty", problems);
  ASSERT_FALSE(map);
  EXPECT_EQ(to_string(map.error()), "empty: at byte 0: the file is empty");
}

TEST(InstrumentationYaml, OneIdWithTwoAddressesIsDamage) {
  const Read result = read("- { id: 1, function: 16 }\n- { id: 1, function: 32 }\n");
  EXPECT_THAT(result.first_problem(),
              HasSubstr("at byte 28: function 1 has two addresses: 0x10 and 0x20"));
  EXPECT_EQ(result.map.functions().size(), 1U);
}

}  // namespace
}  // namespace telltale
