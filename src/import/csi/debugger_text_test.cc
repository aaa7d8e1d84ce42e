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

TEST(DebuggerText, WhatAHandlerInterruptedIsNoCaller) {
  const std::vector<ThreadStack> stacks = stacks_of(
      "#0  handle (signal=10) at a.c:7\n"
      "#1  <signal handler called>\n"
      "#2  f (n=3) at a.c:15\n"
      "#3  0x0000000000401200 in main () at a.c:20\n");
  ASSERT_EQ(stacks.size(), 1U);
  ASSERT_EQ(stacks[0].frames.size(), 4U);
  for (const StackFrame& frame : stacks[0].frames) EXPECT_FALSE(frame.inlined) << frame.symbol;
  EXPECT_TRUE(stacks[0].frames[2].interrupted);
  EXPECT_FALSE(stacks[0].frames[3].interrupted);
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

// The only value of `index` in each frame of a stack; 0 for those without.
std::vector<int64_t> indexes_of(const ThreadStack& stack) {
  std::vector<int64_t> indexes;
  for (const StackFrame& frame : stack.frames)
    indexes.push_back(frame.variables.empty() ? 0 : frame.variables.at(0).values.at(0));
  return indexes;
}

TEST(DebuggerText, VariablesAfterABacktraceAreOfTheSelectedFrame) {
  const std::string_view bt = "#0  f () at a.c:1\n#1  f () at a.c:2\n#2  main () at a.c:3\n";
  const auto only = [&](const std::string& text) {
    const std::vector<ThreadStack> stacks = stacks_of(text);
    EXPECT_EQ(stacks.size(), 1U) << text;
    return indexes_of(stacks.at(0));
  };
  const std::string all(bt);
  EXPECT_THAT(only(all + "index = 4\n"), ElementsAre(4, 0, 0));
  EXPECT_THAT(only("#0  f () at a.c:1\n1\t  x;\n" + all + "index = 4\n"), ElementsAre(4, 0, 0));
  EXPECT_THAT(only("#1  f () at a.c:2\n2\t  x;\n" + all + "index = 4\n"), ElementsAre(0, 4, 0));
  EXPECT_THAT(only(all + "#1  f () at a.c:2\n2\t  x;\nindex = 5\n" + all + "index = 6\n"),
              ElementsAre(0, 6, 0));
  EXPECT_THAT(only(all + "(gdb) #1  f () at a.c:2\n(gdb) index = 5\n"), ElementsAre(0, 5, 0));
  // `backtrace full`, then `info locals`.
  EXPECT_THAT(only("#0  f () at a.c:1\n        index = 1\n#1  f () at a.c:2\nNo locals.\n"
                   "#2  main () at a.c:3\n        index = 3\nindex = 7\n"),
              ElementsAre(7, 0, 3));
  // Without a backtrace, the outer frame first.
  EXPECT_THAT(
      only("#2  main () at a.c:3\n3\t  x;\nindex = 3\n#1  f () at a.c:2\n2\t  y;\nindex = 2\n"),
      ElementsAre(2, 3));
}

TEST(DebuggerText, LldbMarksTheSelectedFrame) {
  const std::string thread = "* thread #1, name = 'x', stop reason = signal SIGSEGV\n";
  const auto only = [&](const std::string& text) {
    const std::vector<ThreadStack> stacks = stacks_of(text);
    EXPECT_EQ(stacks.size(), 1U) << text;
    return indexes_of(stacks.at(0));
  };
  const std::string stop =
      thread + "    frame #0: 0x10 p`f(n=3) at a.c:15:7\n   14\t x;\n-> 15\t y;\n";
  const std::string bt =
      thread + "  * frame #0: 0x10 p`f(n=3) at a.c:15:7\n    frame #1: 0x20 p`main at a.c:20:3\n";
  EXPECT_THAT(only(stop + "(lldb) bt\n" + bt + "(lldb) frame variable\n(long) index = 4\n"),
              ElementsAre(4, 0));
  EXPECT_THAT(only(bt + "(lldb) frame select 1\nframe #1: 0x20 p`main at a.c:20:3\n(lldb) "
                        "v\n(long) index = 0x1f\n"),
              ElementsAre(0, 31));
  const std::string other =
      thread + "    frame #0: 0x10 p`f(n=3) at a.c:15:7\n  * frame #1: 0x20 p`main at a.c:20:3\n";
  EXPECT_THAT(only(other + "(long) index = 4\n"), ElementsAre(0, 4));
  // `bt all`: the other thread is not selected.
  const std::vector<ThreadStack> both =
      stacks_of(bt +
                "  thread #2, name = 'x'\n    frame #0: 0x30 libc.so.6`poll + 12\n(lldb) v\n(long) "
                "index = 4\n");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_THAT(indexes_of(both[0]), ElementsAre(4, 0));
  EXPECT_THAT(indexes_of(both[1]), ElementsAre(0));
  EXPECT_EQ(both[1].frames[0].symbol, "poll");
}

TEST(DebuggerText, ThreadsAreSwitched) {
  const std::string first = "#0  f () at a.c:1\n1\t  x;\n";
  const std::string second =
      "[Switching to thread 2 (Thread 0x7f01 (LWP 12))]\n#0  g () at a.c:5\n5\t  y;\nindex = 2\n";
  const std::string again =
      "[Switching to thread 1 (Thread 0x7f00 (LWP 11))]\n" + first + "index = 1\n";
  std::vector<ThreadStack> stacks =
      stacks_of(first + second + again + "#1  main () at a.c:9\nindex = 3\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].tid, 12);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(2));
  EXPECT_EQ(stacks[1].tid, 11);
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(1, 3));

  // `thread apply all bt` selects none; the core file was opened in thread 11.
  const std::string all =
      "\nThread 2 (Thread 0x7f01 (LWP 12)):\n#0  g () at a.c:5\n#1  start () at a.c:7\n"
      "\nThread 1 (Thread 0x7f00 (LWP 11)):\n#0  f () at a.c:1\n#1  main () at a.c:9\n";
  stacks = stacks_of(first + all + "index = 8\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(0, 0));
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(8, 0));

  stacks = stacks_of(all + "index = 8\n");  // of which thread is not said
  ASSERT_EQ(stacks.size(), 3U);
  EXPECT_EQ(stacks[2].tid, 0);
  EXPECT_THAT(indexes_of(stacks[2]), ElementsAre(8));

  // Threads in the same place are two.
  stacks = stacks_of(first + "index = 3\n[Switching to thread 2 (Thread 0x7f01 (LWP 12))]\n" +
                     first + "index = 4\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(3));
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(4));

  // `thread apply all info locals`
  stacks = stacks_of(first + all +
                     "\nThread 2 (Thread 0x7f01 (LWP 12)):\nindex = 5\n\nThread 1 (Thread 0x7f00 "
                     "(LWP 11)):\nindex = 6\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(5, 0));
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(6, 0));
}

TEST(DebuggerText, AProgramThatRanOnHasAnotherStack) {
  const std::vector<ThreadStack> stacks = stacks_of(
      "#0  f () at a.c:1\nindex = 1\n#1  main () at a.c:9\nindex = 2\n"
      "#0  f () at a.c:3\nindex = 3\n#1  main () at a.c:9\nindex = 4\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(1, 2));
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(3, 4));
}

TEST(DebuggerText, StopsAtTheSameLine) {
  const std::string full =
      "#0  f () at a.c:1\n        index = 1\n#1  main () at a.c:9\n        index = 2\n";
  const std::string stop = "Continuing.\n\nBreakpoint 1, f () at a.c:1\n1\t  x;\n";
  std::vector<ThreadStack> stacks =
      stacks_of("Breakpoint 1, f () at a.c:1\n1\t  x;\n" + full + stop + stop + "index = 3\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(1, 2));
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(3));
  stacks = stacks_of(full + stop +
                     "#0  f () at a.c:1\n        index = 5\n#1  main () at a.c:9\nNo locals.\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(1, 2));
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(5, 0));
  const std::string lldb = "* thread #1, name = 'x'\n    frame #0: 0x10 p`f at a.c:1:2\n";
  stacks = stacks_of(lldb + "(long) index = 1\n(lldb) c\nProcess 1 resuming\nProcess 1 stopped\n" +
                     lldb + "(long) index = 2\n");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(1));
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(2));
}

TEST(DebuggerText, StopsOfThreads) {
  const std::string bt = "#0  f () at a.c:1\n#1  main () at a.c:9\n";
  const std::string hit = "Thread 2 \"x\" hit Breakpoint 1.1, f () at a.c:1\n1\t  x;\n";
  std::vector<ThreadStack> stacks = stacks_of(
      "[Switching to Thread 0x7f01 (LWP 12)]\n\n" + hit + bt + "index = 1\n" +
      "\nThread 2 (Thread 0x7f01 (LWP 12) \"x\"):\n" + bt +
      "\nThread 1 (Thread 0x7f00 (LWP 11) \"x\"):\n#0  g () at a.c:5\nindex = 2\nContinuing.\n\n" +
      hit + bt + "index = 3\n");
  ASSERT_EQ(stacks.size(), 3U);
  EXPECT_EQ(stacks[0].tid, 12);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(2, 0)) << "of the selected thread";
  EXPECT_EQ(stacks[1].tid, 11);
  EXPECT_THAT(indexes_of(stacks[1]), ElementsAre(0));
  EXPECT_EQ(stacks[2].tid, 12);
  EXPECT_THAT(indexes_of(stacks[2]), ElementsAre(3, 0));
  stacks = stacks_of("Thread 1 \"x\" received signal SIGSEGV, Segmentation fault.\n" + bt +
                     "index = 4\n");
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(4, 0));
}

TEST(DebuggerText, ABreakpointThatIsSetIsNoStop) {
  for (const std::string_view set :
       {"Breakpoint 2 at 0x1139: file a.c, line 9.\n",
        "Temporary breakpoint 3 at 0x1139: file a.c, line 9.\n", "Hardware watchpoint 4: sink\n"}) {
    const std::vector<ThreadStack> stacks =
        stacks_of("#0  f () at a.c:1\n#1  main () at a.c:9\n" + std::string(set) + "index = 4\n");
    ASSERT_EQ(stacks.size(), 1U) << set;
    EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(4, 0));
  }
}

TEST(DebuggerText, FramesOnSeveralLinesAndInColours) {
  const std::vector<ThreadStack> stacks = stacks_of(
      "#0  0x0000000000401136 in a_long_name (\n    text=0x7ffe \"at (x\", n=3)\n    at "
      "dir/a.c:15\n"
      "        index = 1\n"
      "#1  0x10 in over (t=Python Exception <class 'gdb.error'>: no member.\n) at n.cc:10\n"
      "        index = 2\n"
      "#2  \x1b[34m0x20\x1b[m in \x1b[33mmain\x1b[m (\x1b[36margc\x1b[m=1) at "
      "\x1b[32ma.c\x1b[m:20\n"
      "        \x1b[36mindex\x1b[m = 3\n"
      "#3  0x30 in start () from /lib/libc.so.6\nNo symbol table info available.\n");
  ASSERT_EQ(stacks.size(), 1U);
  const auto& frames = stacks[0].frames;
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[0].symbol, "a_long_name");
  EXPECT_EQ(frames[0].file, "dir/a.c");
  EXPECT_EQ(frames[0].line, 15U);
  EXPECT_EQ(frames[1].symbol, "over");
  EXPECT_EQ(frames[1].line, 10U);
  EXPECT_EQ(frames[2].symbol, "main");
  EXPECT_EQ(frames[2].pc, 0x20U);
  EXPECT_EQ(frames[2].file, "a.c");
  EXPECT_EQ(frames[3].symbol, "start");
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(1, 2, 3, 0));
}

TEST(DebuggerText, AnArgumentWithAnOpenParenthesis) {
  for (const std::string_view variable : {"        index = 4\n", "(long) index = 4\n"}) {
    const std::vector<ThreadStack> stacks = stacks_of(
        "#0  f (text=isn't (x) at a.c:1\n" + std::string(variable) + "#1  main () at a.c:2\n");
    ASSERT_EQ(stacks.size(), 1U);
    EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(4, 0));
  }
}

TEST(DebuggerText, InlinedFrames) {
  for (const std::string_view text :
       {"#0  f (n=1) at a.c:1\n#1  g () at a.c:2\n#2  0x10 in main () at a.c:3\n",
        "    frame #0: 0x20 p`f(n=1) [inlined] at a.c:1:2\n    frame #1: 0x20 p`g at a.c:2:4\n    "
        "frame #2: 0x10 p`main at a.c:3:1\n"}) {
    const std::vector<ThreadStack> stacks = stacks_of(text);
    ASSERT_EQ(stacks.size(), 1U);
    ASSERT_EQ(stacks[0].frames.size(), 3U);
    EXPECT_TRUE(stacks[0].frames[0].inlined);
    EXPECT_EQ(stacks[0].frames[0].symbol, "f");
    EXPECT_FALSE(stacks[0].frames[1].inlined);
    EXPECT_FALSE(stacks[0].frames[2].inlined);
  }
}

TEST(DebuggerText, AVariableIsNoPlace) {
  const std::vector<ThreadStack> stacks = stacks_of(
      "#0  f () at a.c:1\n        at = 0x10 \"x\"\n        index = 4\n#1  main () at a.c:2\n");
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_THAT(indexes_of(stacks[0]), ElementsAre(4, 0));
}

TEST(DebuggerText, NamesOfCxx) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"(anonymous namespace)::anon (x=3, s=0x55 \"a) (b\")", "(anonymous namespace)::anon"},
      {"S::tf<int> (this=0x7ff, x=3)", "S::tf<int>"},
      {"S::operator() (this=0x7ff, x=3)", "S::operator()"},
      {"S::operator< (this=0x7ff, o=...)", "S::operator<"},
      {"main::$_0::operator() (this=0x7ff, c=39 '\\'')", "main::$_0::operator()"},
      {"std::function<int (int)>::operator()(int) const (this=0x7ff, __args=3)",
       "std::function<int (int)>::operator()"},
      {"0x10 n`(anonymous namespace)::anon(x=3, s=\"a) (b\")", "(anonymous namespace)::anon"},
      {"0x10 n`S::operator()(this=0x7ff, x=3) const", "S::operator()"},
      {"0x10 n`int S::tf<int>(this=0x7ff, x=3) [inlined]", "S::tf<int>"},
      {"0x10 n`S::operator<(S const&) const + 12", "S::operator<"},
      {"f.part.0 (n=3)", "f.part.0"},
      {"<signal handler called>", "<signal handler called>"},
      {"?? ()", "??"},
  };
  for (const auto& [line, name] : names) {
    const std::vector<ThreadStack> stacks = stacks_of("#0  " + line + "\n");
    EXPECT_EQ(stacks.at(0).frames.at(0).symbol, name) << line;
    EXPECT_EQ(stacks_of("#0  " + line + " at n.cc:5\n").at(0).frames.at(0).symbol, name) << line;
  }
}

TEST(DebuggerText, HexadecimalNumbers) {
  const std::vector<ThreadStack> stacks =
      stacks_of("ring = {0x0, 0x1f <repeats 2 times>, 0xffffffffffffffff}\nindex = 0x00000003\n");
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_THAT(stacks[0].frames[0].variables[0].values, ElementsAre(0, 31, 31, -1));
  EXPECT_THAT(stacks[0].frames[0].variables[1].values, ElementsAre(3));
}

TEST(DebuggerText, ValuesThatAreNotWhole) {
  for (const std::string_view value :
       {"{1, 2...}", "<optimized out>", "0x", "{01, 017}", "0x10000000000000000",
        "{1 <repeats 99999999 times>}", "{<repeats 3 times>}", "{99999999999999999999}", "{1, 2",
        "{[0] 1}"}) {
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
