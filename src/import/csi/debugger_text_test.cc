#include "import/csi/debugger_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telltale {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kWanted = {"ring", "index"};

std::vector<ThreadStack> stacks_of(std::string_view text, size_t problems = 0) {
  ProblemLog log;
  std::vector<ThreadStack> stacks = read_debugger_text(text, "text", kWanted, log);
  EXPECT_EQ(log.count(), problems) << text;
  return stacks;
}

constexpr std::string_view kGdb =
    "#0  0x0000000000401136 in ns::f (n=3) at dir/a.c:15\n"
    "15\t  x;\n"
    "\nThread 2 (Thread 0x7f00 (LWP 123)):\n"
    "#0  0x0000000000401136 in ns::f (n=3) at dir/a.c:15\n"
    "        ring = {1, -2 <repeats 3 times>, 5}\n"
    "        other = {7}\n"
    "        index = 2\n"
    "#1  main () at a.c:20\n"
    "No locals.\n";

TEST(DebuggerText, Gdb) {
  const std::vector<ThreadStack> stacks = stacks_of(kGdb);
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].tid, 123);
  ASSERT_EQ(stacks[0].frames.size(), 2U);
  const StackFrame& inner = stacks[0].frames[0];
  EXPECT_EQ(inner.symbol, "ns::f");
  EXPECT_EQ(inner.pc, 0x401136U);
  EXPECT_EQ(inner.file, "dir/a.c");
  EXPECT_EQ(inner.line, 15U);
  EXPECT_TRUE(inner.interrupted);
  ASSERT_EQ(inner.variables.size(), 2U);
  EXPECT_THAT(inner.variables[0].values, ElementsAre(1, -2, -2, -2, 5));
  EXPECT_THAT(inner.variables[1].values, ElementsAre(2));
  EXPECT_EQ(stacks[0].frames[1].symbol, "main");
  EXPECT_FALSE(stacks[0].frames[1].interrupted);
  EXPECT_THAT(stacks[0].frames[1].variables, IsEmpty());
}

TEST(DebuggerText, Lldb) {
  const std::vector<ThreadStack> stacks = stacks_of(
      "* thread #7, name = 'x', stop reason = signal SIGSEGV\n"
      "  * frame #0: 0x0000000000401136 prog`f(n=3) at a.c:15:7\n"
      "(lldb) frame variable\n"
      "(long[3]) ring = {\n  [0] = 1\n  [1] = 20\n  [2] = -1\n}\n"
      "(long) index = 1\n"
      "    frame #1: 0x0000000000401200 prog`main + 12\n");
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].tid, 7);
  ASSERT_EQ(stacks[0].frames.size(), 2U);
  EXPECT_EQ(stacks[0].frames[0].symbol, "f");
  EXPECT_EQ(stacks[0].frames[0].line, 15U);
  ASSERT_EQ(stacks[0].frames[0].variables.size(), 2U);
  EXPECT_THAT(stacks[0].frames[0].variables[0].values, ElementsAre(1, 20, -1));
}

TEST(DebuggerText, AFrameThatIsPrintedAgainIsTheSame) {
  const std::vector<ThreadStack> stacks = stacks_of(
      "#0  f () at a.c:1\n#1  main () at a.c:2\n#0  f () at a.c:1\nindex = 4\n#1  main () at "
      "a.c:2\nindex = 5\n");
  ASSERT_EQ(stacks.size(), 1U);
  ASSERT_EQ(stacks[0].frames.size(), 2U);
  EXPECT_THAT(stacks[0].frames[0].variables[0].values, ElementsAre(4));
  EXPECT_THAT(stacks[0].frames[1].variables[0].values, ElementsAre(5));
}

TEST(DebuggerText, ValuesThatAreNotWhole) {
  for (const std::string_view value :
       {"{1, 2...}", "<optimized out>", "{1 <repeats 99999999 times>}", "{<repeats 3 times>}",
        "{99999999999999999999}", "{1, 2", "{[0] 1}"}) {
    SCOPED_TRACE(value);
    const std::vector<ThreadStack> stacks = stacks_of("ring = " + std::string(value) + "\n", 1);
    ASSERT_EQ(stacks.size(), 1U);
    ASSERT_EQ(stacks[0].frames.size(), 1U);
    EXPECT_FALSE(stacks[0].frames[0].variables[0].missing.empty());
  }
}

TEST(DebuggerText, AThreadWithoutANumber) {
  for (const std::string_view line : {"Thread x", "thread #", "Thread 0", "Thread (LWP "}) {
    SCOPED_TRACE(line);
    const std::vector<ThreadStack> stacks = stacks_of(std::string(line) + "\n#0  f () at a.c:1\n");
    ASSERT_EQ(stacks.size(), 1U);
    EXPECT_EQ(stacks[0].tid, 0);
  }
}

TEST(DebuggerText, VariablesOfFramesThatAreLeftOut) {
  std::string text;
  for (size_t i = 0; i <= 10'000; ++i)
    text += "#" + std::to_string(i) + "  f ()\nindex = " + std::to_string(i) + "\n";
  const std::vector<ThreadStack> stacks = stacks_of(text + "#0  f ()\nindex = 7\n");
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_FALSE(stacks[0].cut.empty());
  ASSERT_EQ(stacks[0].frames.size(), 10'000U);
  EXPECT_THAT(stacks[0].frames.back().variables.at(0).values, ElementsAre(9'999));
  EXPECT_THAT(stacks[0].frames.front().variables.at(0).values, ElementsAre(7));
}

TEST(DebuggerText, AnyTextIsRead) {
  ProblemLog log;
  for (size_t i = 0; i < kGdb.size(); ++i) {
    read_debugger_text(kGdb.substr(0, i), "text", kWanted, log);
    for (const char c : {'{', '#', '\n', '`', ':', '<', '\0', '='}) {
      std::string text(kGdb);
      text[i] = c;
      read_debugger_text(text, "text", kWanted, log);
    }
  }
  EXPECT_THAT(read_debugger_text("", "text", kWanted, log), IsEmpty());
}

}  // namespace
}  // namespace telltale
