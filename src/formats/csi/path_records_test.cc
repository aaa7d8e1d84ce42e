#include "formats/csi/path_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"

namespace telltale::csi {
namespace {

template <typename T>
std::string number(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::string record(uint8_t kind, const std::string& body) {
  return number(static_cast<uint32_t>(body.size() + 1)) + static_cast<char>(kind) + body;
}
std::string position(uint8_t phase, uint32_t block, uint64_t key, uint64_t address) {
  return record(2, number(phase) + number(block) + number(key) + number(address));
}

TEST(PathRecords, OfFramesAreRead) {
  const std::string texts("-80(%rbp)\0-88(%rbp)\0-96(%rbp)\0", 30);
  const std::string without_ring("\0\0(%rsp)\0", 9);
  const auto frame = [](uint64_t address, const std::string& body) {
    return record(3, number(uint64_t{7}) + number(address) + body);
  };
  const std::string bytes = frame(0x1100, texts) + frame(0, texts) + frame(0x1200, without_ring) +
                            frame(0x1300, texts.substr(0, 29)) +
                            record(1, number(uint64_t{7}) + number(uint64_t{0}) + "ring\t12\n");
  ProblemLog problems;
  const PathRecords records =
      PathRecords::read(as_bytes(bytes), std::endian::little, "f", 0, problems);
  EXPECT_EQ(problems.count(), 1U);
  ASSERT_EQ(records.frames.size(), 2U);  // address 0: the linker dropped the function
  EXPECT_EQ(records.frames[0].key, 7U);
  EXPECT_EQ(records.frames[0].address, 0x1100U);
  EXPECT_EQ(records.frames[0].array, "-80(%rbp)");
  EXPECT_EQ(records.frames[0].index, "-88(%rbp)");
  EXPECT_EQ(records.frames[0].sum, "-96(%rbp)");
  EXPECT_EQ(records.frames[1].array + records.frames[1].index, "");
  EXPECT_EQ(records.frames[1].sum, "(%rsp)");
  ASSERT_EQ(records.functions.size(), 1U);
  EXPECT_EQ(records.functions[0].ring_size, 12U);
}

TEST(PathRecords, OfTheFlowOfAFunctionAreRead) {
  const std::string text =
      "unit\tu.c\nflag\tlocal\nflag\toptnone\n"
      "block\t0\ti 1 1\nblock\t1\tr\ncall\t0\t7\tg\ncall\t0\t0\t?\tjump\n"
      "take\t1\tf\nsymbol\tf\nfile\tu.c\nline\t6\nscope\t0\tu.c\tf\nlines\t0\t0:7\tc\t0:8\n"
      "lost\t1\t0:9\ngone\t1\tv.h\tg\n"
      "paths\t18446744073709551615\nnode\t1\t30\nlater_word\tx\n";
  const auto flow = [](const std::string& lines) { return record(7, number(uint64_t{9}) + lines); };
  const std::string bytes =
      flow(text) + flow("block\t0\t 1\n") + flow("block\t1\tr\n") + flow("") +
      flow("block\t0\tr\ncall\t1\t0\tf\n") + flow("block\t0\tr\nnode\t1\t0\n") +
      flow("block\t0\tr\ntake\t1\tf\n") + flow("block\t0\tr\nlines\t1\t0:3\n") +
      flow("block\t0\tr\nlost\t1\t0:3\n") + flow("block\t0\tr\ngone\t1\tv.h\tg\n") +
      record(8, "unit\tu.c\ntaken\tf\ntaken\tg\nconstructor\tg\n");
  ProblemLog problems;
  const PathRecords records =
      PathRecords::read(as_bytes(bytes), std::endian::little, "f", 0, problems);
  EXPECT_EQ(problems.count(), 9U);
  ASSERT_EQ(records.flows.size(), 1U);
  const FlowRecord& read = records.flows[0];
  EXPECT_EQ(read.paths_key, 18446744073709551615U);
  EXPECT_TRUE(read.is_local);
  EXPECT_TRUE(read.is_unoptimised);
  ASSERT_EQ(read.blocks.size(), 2U);
  EXPECT_EQ(read.blocks[0].successors, (std::vector<uint32_t>{1, 1}));
  EXPECT_TRUE(read.blocks[0].may_resume && !read.blocks[0].returns && read.blocks[1].returns);
  EXPECT_EQ(read.blocks[1].nodes, std::vector<uint64_t>{30});
  ASSERT_EQ(read.calls.size(), 2U);
  EXPECT_EQ(read.calls[0].callee, "g");
  EXPECT_EQ(read.calls[0].line, 7U);
  EXPECT_TRUE(!read.calls[0].may_jump && read.calls[1].may_jump);
  ASSERT_EQ(read.takes.size(), 1U);
  EXPECT_EQ(read.takes[0].symbol, "f");
  ASSERT_EQ(read.lines.size(), 2U);
  EXPECT_EQ(read.lines[0].calls, 0U);
  EXPECT_EQ(read.lines[1].calls, 1U);
  ASSERT_EQ(read.lost_lines.size(), 1U);
  EXPECT_EQ(read.lost_lines[0].block, 1U);
  EXPECT_EQ(read.lost_lines[0].line, 9U);
  ASSERT_EQ(read.gone.size(), 1U);
  EXPECT_EQ(read.gone[0].file.str() + read.gone[0].symbol.str(), "v.hg");
  ASSERT_EQ(records.units.size(), 1U);
  EXPECT_EQ(records.units[0].taken, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(records.units[0].constructors, (std::vector<std::string>{"g"}));
}

TEST(PathRecords, NamesMayComeFromARecordOfTheirOwn) {
  const std::string flow = record(7, number(uint64_t{9}) +
                                         "block\t0\tr\nscope\t0\tff\nscope\t1\tA0\t0\t7\nscope\t2\t"
                                         "ff\t0\t8\nscope\t3\tx.h\tg\t0\t9\n"
                                         "uncalled\t0\ta0\ngone\t0\ty.h\th\n");
  const std::string unit = record(8,
                                  "unit\tu.c\nremoved\ta0\t3\t12\nvanished\tff\t4\nremoved\n"
                                  "callees\ta0\tff\ta0\ncallees\n");
  // They may follow.
  const std::string names = record(10, "ff\ta\\tb.c\tf\na0\tv.h\tg\nz\tno\thash\na1\tshort\n");
  ProblemLog problems;
  const PathRecords records =
      PathRecords::read(as_bytes(flow + unit + names), std::endian::little, "f", 0, problems);
  EXPECT_EQ(problems.count(), 0U);
  ASSERT_EQ(records.flows.size(), 1U);
  std::string scopes;
  for (const PathScope& scope : records.flows[0].scopes)
    scopes += std::to_string(scope.number) + scope.file.str() + "," + scope.function.str() + " ";
  EXPECT_EQ(scopes, "0a\tb.c,f 1v.h,g 2a\tb.c,f 3x.h,g ");
  ASSERT_EQ(records.flows[0].gone.size(), 2U);
  EXPECT_EQ(records.flows[0].gone[0].symbol, "g");
  EXPECT_TRUE(records.flows[0].gone[0].with_callees);
  EXPECT_EQ(records.flows[0].gone[1].file, "y.h");
  EXPECT_FALSE(records.flows[0].gone[1].with_callees);
  ASSERT_EQ(records.units.size(), 1U);
  const UnitRecord& of_unit = records.units[0];
  ASSERT_EQ(of_unit.removed.size(), 1U);
  EXPECT_EQ(of_unit.removed[0].file.str() + of_unit.removed[0].symbol.str(), "v.hg");
  EXPECT_EQ(of_unit.removed[0].lines, (std::vector<uint32_t>{3, 12}));
  ASSERT_EQ(of_unit.vanished.size(), 1U);
  EXPECT_EQ(of_unit.vanished[0].symbol, "f");
  EXPECT_EQ(of_unit.vanished[0].lines, (std::vector<uint32_t>{4}));

  ASSERT_EQ(of_unit.callees.size(), 1U);
  EXPECT_EQ(of_unit.callees[0].caller.symbol, "g");
  ASSERT_EQ(of_unit.callees[0].callees.size(), 2U);
  EXPECT_EQ(of_unit.callees[0].callees[0].file, "a\tb.c");

  ProblemLog missing;
  const PathRecords nameless =
      PathRecords::read(as_bytes(flow), std::endian::little, "f", 5, missing);
  ASSERT_EQ(missing.count(), 1U);
  EXPECT_EQ(missing.kept()[0].message,
            "4 references to names of functions that the section does not have");
  ASSERT_EQ(nameless.flows.size(), 1U);
  EXPECT_EQ(nameless.flows[0].scopes[1].function, "");
  EXPECT_EQ(nameless.flows[0].scopes[3].function, "g");
}

TEST(FrameOperand, IsARegisterAndADistance) {
  const auto read = [](std::string_view text) {
    const auto operand = parse_frame_operand(text);
    return operand ? std::pair(static_cast<int>(operand->base), operand->offset)
                   : std::pair(-1, int64_t{0});
  };
  EXPECT_EQ(read("-80(%rbp)"), std::pair(6, int64_t{-80}));
  EXPECT_EQ(read("24(%rsp)"), std::pair(7, int64_t{24}));
  EXPECT_EQ(read("(%rbx)"), std::pair(3, int64_t{0}));
  EXPECT_EQ(read("8(%r12)"), std::pair(12, int64_t{8}));
  for (const char* other : {"", "8", "(%rsp", "8(%rsp,%rax,8)", "x+8(%rip)", "[sp, #16]", "8(%esp)",
                            "99999999999999999999(%rsp)", "8(%)", "(%rsp) "})
    EXPECT_EQ(read(other).first, -1) << other;
}

TEST(PathRecords, AreRead) {
  const std::string text =
      "symbol\tf\nfile\ta\\tb.c\nflag\tsetjmp\nflag\tlate\nscope\t0\t/src/"
      "a\\tb.c\tf\nscope\t2\tx.h\tg\t0\t7\n"
      "lines\t5\t0:11\t2:12\nlines\t6\nrepeat\t6\t5\nrepeat\t6\nlater\twords\n";
  const std::string bytes = record(1, number(uint64_t{0xABCD}) + number(uint64_t{70}) + text) +
                            position(0, 5, 0xABCD, 0x1100) + position(0x81, 6, 0xABCD, 0x1120) +
                            position(0, 5, 0xABCD, 0) + record(200, "later kinds are skipped") +
                            record(4, "symbol\tmany\nreason\ttoo many paths\npaths\t9\n");
  ProblemLog problems;
  const PathRecords records =
      PathRecords::read(as_bytes(bytes), std::endian::little, "f", 0, problems);
  EXPECT_EQ(problems.count(), 0U);
  ASSERT_EQ(records.functions.size(), 1U);
  const PathFunctionRecord& function = records.functions[0];
  EXPECT_EQ(function.key, 0xABCDU);
  EXPECT_EQ(function.offset, 70U);
  EXPECT_TRUE(function.calls_setjmp);
  EXPECT_TRUE(function.sets_late);
  using Edges = std::vector<std::pair<uint32_t, uint32_t>>;
  EXPECT_EQ(function.repeats, (Edges{{6, 5}}));
  ASSERT_EQ(function.scopes.size(), 2U);
  EXPECT_EQ(function.scopes[0].file, "/src/a\tb.c");
  EXPECT_EQ(function.scopes[1].number, 2U);
  EXPECT_EQ(function.scopes[1].function, "g");
  ASSERT_EQ(function.lines.size(), 2U);
  EXPECT_EQ(function.lines[1].block, 5U);
  EXPECT_EQ(function.lines[1].scope, 2U);
  EXPECT_EQ(function.lines[1].line, 12U);
  // Address 0: the linker dropped the function.
  ASSERT_EQ(records.positions.size(), 2U);
  EXPECT_EQ(records.positions[1].address, 0x1120U);
  EXPECT_EQ(records.positions[1].block, 6U);
  EXPECT_EQ(records.positions[1].phase, Phase::kNumberStored);
  EXPECT_TRUE(records.positions[1].after_instruction);
  EXPECT_FALSE(records.positions[0].after_instruction);
  ASSERT_EQ(records.skipped.size(), 1U);
  EXPECT_EQ(records.skipped[0].symbol, "many");
  EXPECT_EQ(records.skipped[0].reason, "too many paths");
}

TEST(PathRecords, ThatAreDamagedAreLeftOutWithTheirPlace) {
  const std::string good = position(0, 5, 1, 0x1100);
  const std::string bytes = good + position(7, 5, 1, 0x1110) + record(2, "short") + good;
  ProblemLog problems;
  const PathRecords records =
      PathRecords::read(as_bytes(bytes), std::endian::little, "f", 1000, problems);
  EXPECT_EQ(records.positions.size(), 2U);
  ASSERT_EQ(problems.count(), 2U);
  EXPECT_EQ(problems.kept()[0].offset, 1000 + good.size());
  EXPECT_EQ(problems.kept()[1].offset, 1000 + 2 * good.size());
  for (size_t size = 0; size <= bytes.size(); ++size) {
    ProblemLog of_cut;
    const PathRecords cut = PathRecords::read(as_bytes(std::string_view(bytes).substr(0, size)),
                                              std::endian::little, "f", 0, of_cut);
    EXPECT_EQ(cut.positions.size(), (size >= good.size() ? 1U : 0U) + (size == bytes.size()));
  }
}

TEST(PathRecords, OfDataFlowAreKeptAsBytes) {
  const std::string bytes = record(9, number(uint64_t{8}) + "data") + record(9, "short");
  ProblemLog problems;
  const PathRecords records =
      PathRecords::read(as_bytes(bytes), std::endian::little, "f", 100, problems);
  EXPECT_EQ(problems.count(), 1U);
  ASSERT_EQ(records.data.size(), 1U);
  EXPECT_EQ(records.data[0].key, 8U);
  EXPECT_EQ(records.data[0].bytes.size(), 4U);
  EXPECT_EQ(records.data[0].offset, 113U);
}

std::string coverage(const std::string& text) { return record(5, number(uint64_t{0xC0FE}) + text); }

TEST(PathRecords, OfCoverageAreRead) {
  const std::string bytes =
      coverage(
          "mechanism\tCC\nprobes\t1\nblock\t0\t-\t 1 1\nblock\t1\t-\tr\n"
          "call\t1\t0\t12\tputs\ncall\t1\t-\t0\t?\nsymbol\tf\nfile\ta.c\nline\t3\n"
          "scope\t0\t/src/a.c\tf\nlines\t1\t0:12\n") +
      record(6, number(uint64_t{0xC0FE}) + number(uint64_t{0x4000})) +
      record(6, number(uint64_t{0xC0FE}) + number(uint64_t{0}));
  ProblemLog problems;
  const PathRecords records =
      PathRecords::read(as_bytes(bytes), std::endian::little, "f", 0, problems);
  EXPECT_EQ(problems.count(), 0U);
  ASSERT_EQ(records.coverage.size(), 1U);
  const CoverageRecord& read = records.coverage[0];
  EXPECT_EQ(read.key, 0xC0FEU);
  EXPECT_EQ(read.mechanism, "CC");
  EXPECT_EQ(read.symbol, "f");
  EXPECT_EQ(read.file, "a.c");
  EXPECT_EQ(read.line, 3U);
  ASSERT_EQ(read.blocks.size(), 2U);
  EXPECT_EQ(read.blocks[0].successors, (std::vector<uint32_t>{1, 1}));
  EXPECT_FALSE(read.blocks[0].returns);
  EXPECT_TRUE(read.blocks[1].returns);
  ASSERT_EQ(read.calls.size(), 2U);
  EXPECT_EQ(read.calls[0].probe, 0U);
  EXPECT_EQ(read.calls[0].callee, "puts");
  EXPECT_EQ(read.calls[1].probe, CoverageRecord::kNoProbe);
  ASSERT_EQ(read.lines.size(), 1U);
  EXPECT_EQ(read.lines[0].line, 12U);
  ASSERT_EQ(records.arrays.size(), 1U);
  EXPECT_EQ(records.arrays[0].address, 0x4000U);
}

TEST(PathRecords, OfCoverageThatContradictThemselvesAreLeftOut) {
  for (const char* const text :
       {"block\t1\t-\t\n", "block\t0\t-\t 1\n", "block\t0\t0\t\n", "block\t0\t-\n",
        "call\t0\t-\t1\tf\n", "probes\t2\n", "block\t0\tx\t\n"}) {
    ProblemLog problems;
    const std::string bytes = coverage(text);
    const PathRecords records =
        PathRecords::read(as_bytes(bytes), std::endian::little, "f", 0, problems);
    EXPECT_TRUE(records.coverage.empty()) << text;
    EXPECT_EQ(problems.count(), 1U) << text;
  }
}

}  // namespace
}  // namespace telltale::csi
