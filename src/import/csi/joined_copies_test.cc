#include "import/csi/joined_copies.h"

#include <gtest/gtest.h>

#include "import/csi/passed_lines.h"

namespace telltale {
namespace {

csi::FlowRecord record_of(const std::string& symbol, uint64_t key) {
  csi::FlowRecord record;
  record.key = key;
  record.unit = record.file = "a.c";
  record.symbol = symbol;
  if (symbol != "f") record.source = "f";
  record.is_local = true;
  record.scopes.push_back({.number = 0, .file = "a.c", .function = "f"});
  return record;
}

csi::FlowRecord::Call copy_call(uint32_t block, const std::string& callee) {
  return {.block = block, .callee = callee, .may_jump = true, .runs_other_copy = true};
}

// `f` runs line 5 itself, or lets `f.aside` choose `f.slow` or itself.
std::vector<csi::FlowRecord> sampled_function() {
  csi::FlowRecord own = record_of("f", 1);
  own.blocks = {{.successors = {1, 2}},
                {.successors = {}, .returns = true},
                {.successors = {}, .returns = true}};
  own.calls = {copy_call(2, "f.aside")};
  own.lines = {{.block = 1, .line = 5}, {.block = 1, .line = 6}};
  csi::FlowRecord aside = record_of("f.aside", 2);
  aside.blocks = {{.successors = {1, 2}},
                  {.successors = {}, .returns = true},
                  {.successors = {}, .returns = true}};
  aside.calls = {copy_call(1, "f"), copy_call(2, "f.slow")};
  csi::FlowRecord slow = record_of("f.slow", 3);
  slow.blocks = {{.successors = {}, .returns = true}};
  slow.lines = {{.block = 0, .line = 5}};
  csi::FlowRecord generated = record_of("telltale.sampler.due", 4);
  generated.source.clear();
  generated.is_generated = true;
  generated.blocks = {{.successors = {}, .returns = true}};
  return {own, aside, slow, generated};
}

FlowFunctions functions_of(const std::vector<csi::FlowRecord>& records) {
  FlowFunctions functions;
  functions.add_module("program", records, {{.unit = "a.c", .taken = {}}}, {});
  return functions;
}

TEST(PassedLines, EachCopyThatMayHaveRunHasTheLine) {
  const std::vector<csi::FlowRecord> records = sampled_function();
  const FlowFunctions functions = functions_of(records);
  ProgramBlocks ran;
  for (const auto& function : functions.flow().functions)
    ran.functions.emplace_back(function.blocks.size(), Ran::maybe);
  ran.returned.assign(ran.functions.size(), false);
  EXPECT_TRUE(PassedLines(functions, {}, ran).lines().empty());
  ran.returned[functions.find("program", "f").front()] = true;
  const auto lines = PassedLines(functions, {}, ran).lines();
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines.begin()->first, PassedLines::Function("program", "f", "a.c"));
  EXPECT_EQ(lines.begin()->second, (std::set<SourceLine>{{"a.c", 5}}));
}

TEST(JoinCopies, OneFunctionWithTheNameOfTheSource) {
  const std::vector<csi::FlowRecord> records = sampled_function();
  std::vector<FunctionCoverage> all;
  for (const csi::FlowRecord& record : records)
    all.push_back({.function = record.symbol,
                   .linkage_name = record.symbol,
                   .file = "a.c",
                   .module = "program",
                   .mechanisms = record.symbol == "f.slow" ? "CC" : "BBC",
                   .ran = record.symbol == "f.slow" ? Ran::no : Ran::yes,
                   .lines = {{{"a.c", 5}, record.symbol == "f" ? Ran::yes : Ran::maybe}},
                   .source_lines = {},
                   .calls = {{.line = 5, .callee = "g", .returned = Ran::maybe},
                             {.line = 0, .callee = "telltale.sampler.due"},
                             {.line = 0, .callee = "f.slow"}},
                   .blocks = {{}}});
  join_copies(functions_of(records), all);
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].linkage_name, "f");
  EXPECT_EQ(all[0].mechanisms, "BBC,CC");
  EXPECT_EQ(all[0].ran, Ran::yes);
  EXPECT_EQ(all[0].lines.find({"a.c", 5})->second, Ran::yes);
  ASSERT_EQ(all[0].calls.size(), 1);
  EXPECT_EQ(all[0].calls[0].callee, "g");
  EXPECT_EQ(all[0].blocks.size(), 3);
}

}  // namespace
}  // namespace telltale
