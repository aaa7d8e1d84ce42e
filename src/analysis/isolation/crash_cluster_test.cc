#include "analysis/isolation/crash_cluster.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace telltale::isolation {
namespace {

StackFrame frame(std::string function, std::string module = "/opt/prog") {
  return {std::move(function), "prog.c", 7, std::move(module)};
}

std::vector<StackFrame> frames(const std::vector<std::string>& functions) {
  std::vector<StackFrame> stack;
  for (const std::string& name : functions) stack.push_back(frame(name));
  return stack;
}

TEST(NormalisedStack, HasTheThreeInnermostFunctionsOfTheProgram) {
  EXPECT_EQ(normalise_stack(frames({"a", "b", "c", "main"})), "a < b < c");
  EXPECT_EQ(normalise_stack(frames({"main"})), "main");
  EXPECT_EQ(normalise_stack({}), "");
}

TEST(NormalisedStack, LeavesOutTheSystemsLibraries) {
  const std::vector<StackFrame> stack = {
      frame("", "/lib/x86_64-linux-gnu/libc.so.6"),
      frame("raise", "/lib/x86_64-linux-gnu/libc.so.6"),
      frame("merge"),
      frame("main"),
      frame("__libc_start_main", "/lib/x86_64-linux-gnu/libc.so.6"),
      frame("_start")};
  EXPECT_EQ(normalise_stack(stack), "merge < main");
}

TEST(NormalisedStack, BeginsBelowWhatReportsTheFault) {
  EXPECT_EQ(
      normalise_stack(frames({"__sanitizer::Abort()", "__asan_report_load8", "read", "main"})),
      "read < main");
  EXPECT_EQ(normalise_stack(frames({"abort", "__assert_fail", "check"})), "check");
  // A function of the program between two frames of a library stays.
  const std::vector<StackFrame> sorting = {frame("compare"), frame("qsort", "/lib/libc.so.6"),
                                           frame("main")};
  EXPECT_EQ(normalise_stack(sorting), "compare < qsort < main");
}

// Without symbols of the program, as in a store.
TEST(NormalisedStack, LeavesOutAddressesInTheSystemsLibraries) {
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  const std::vector<StackFrame> stack = {
      frame("stock+0x509c", "/usr/bin/stock"), frame("libc.so.6+0x2724a", libc),
      frame("__libc_start_main", libc), frame("stock+0x10e1", "/usr/bin/stock")};
  EXPECT_EQ(normalise_stack(stack), "stock+0x509c");
  const std::vector<StackFrame> sorting = {frame("compare"), frame("libc.so.6+0x3f1", libc),
                                           frame("qsort", libc), frame("main")};
  EXPECT_EQ(normalise_stack(sorting), "compare < qsort < main");
  const std::vector<StackFrame> aborting = {frame("abort", libc), frame("stock+0x17")};
  EXPECT_EQ(normalise_stack(aborting), "stock+0x17");
}

// A signal interrupts the program's own code or what observes it, as chance has it.
TEST(NormalisedStack, LeavesOutTheRuntimeWhereverItIs) {
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  const std::string draw = "telltale::sampler::(anonymous namespace)::Generator::draw(int)";
  const std::vector<std::vector<StackFrame>> observing = {
      {},
      {frame("telltale.sampler.tally.5")},
      {frame("telltale_sampler_region_due_r_v2")},
      {frame(draw), frame("telltale_sampler_region_due_r_v2"), frame("telltale.sampler.due")},
      {frame("memset", libc), frame("telltale_sampler_add_up_v3")}};
  for (const std::vector<StackFrame>& runtime : observing) {
    std::vector<StackFrame> stack = {frame("abort", libc), frame("on_alarm"),
                                     frame("libc.so.6+0x3c050", libc)};
    stack.insert(stack.end(), runtime.begin(), runtime.end());
    stack.insert(stack.end(), {frame("spin"), frame("main"), frame("__libc_start_main", libc)});
    EXPECT_EQ(normalise_stack(stack), "on_alarm < spin < main");
    EXPECT_EQ(normalise_stack(std::span(stack).subspan(3)), "spin < main");
  }
  const std::vector<StackFrame> thread = {
      frame("work"), frame("telltale::sampler::(anonymous namespace)::run_thread(void*)"),
      frame("start_thread", libc)};
  EXPECT_EQ(normalise_stack(thread), "work");
  // Telltale has namespaces of these names, too.
  EXPECT_EQ(normalise_stack(frames({"telltale::sampler::ReportReader::next()", "main"})),
            "telltale::sampler::ReportReader::next() < main");
}

// A sanitizer that ends the program calls the runtime, which writes the report.
TEST(NormalisedStack, LeavesOutTheRuntimeThatASanitizerCalls) {
  const std::string death = "telltale::signals::run_death_functions()";
  EXPECT_EQ(normalise_stack(frames({death, "__sanitizer::Die()", "__asan::ReportGenericError(bool)",
                                    "__asan_report_store1", "fill", "main", "_start"}),
                            false),
            "fill < main");
  EXPECT_EQ(normalise_stack(frames({"telltale::sampler::(anonymous namespace)::on_death()", death,
                                    "__sanitizer::Die()", "__tsan::OutputReport()", "work"}),
                            false),
            "work");
  EXPECT_EQ(normalise_stack(frames({death, "__sanitizer::Die()",
                                    "__ubsan_handle_add_overflow_abort", "add", "main"}),
                            false),
            "add < main");
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  const std::vector<StackFrame> leak = {frame(death), frame("__sanitizer::Die()"),
                                        frame("__lsan::HandleLeaks()"),
                                        frame("__cxa_finalize", libc), frame("stock+0x2d707")};
  EXPECT_EQ(normalise_stack(leak, false), "");
}

TEST(NormalisedStack, OfLibrariesAloneIsTheInnermostFrames) {
  const std::vector<StackFrame> stack = {frame("raise", "/lib/libc.so.6"),
                                         frame("abort", "/lib/libc.so.6")};
  EXPECT_EQ(normalise_stack(stack), "raise < abort");
}

TEST(NormalisedStack, OfAProgramThatEndedByItselfHasOnlyItsFrames) {
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  std::vector<StackFrame> stack = {frame("exit", libc), frame("__libc_start_call_main", libc),
                                   frame("__libc_start_main", libc), frame("_start")};
  EXPECT_EQ(normalise_stack(stack, false), "");
  stack.insert(stack.begin() + 1, {frame("give_up"), frame("main")});
  EXPECT_EQ(normalise_stack(stack, false), "give_up < main");
}

TEST(NormalisedStack, CountsARecursiveFunctionOnce) {
  EXPECT_EQ(normalise_stack(frames({"f", "f", "f", "g", "main"})), "f < g < main");
  EXPECT_EQ(normalise_stack(frames({"f", "g", "f", "g", "main"})), "f < g < main");
}

TEST(NormalisedStack, NamesCopiesOfAFunctionLikeTheFunction) {
  EXPECT_EQ(normalise_stack(frames({"f.cold", "g.slow", "h.part.0.isra.1"})), "f < g < h");
  EXPECT_EQ(normalise_stack(frames({"f(int, ...)", "lib.so.6+0x17"})),
            "f(int, ...) < lib.so.6+0x17");
}

TEST(CrashClusters, TheLargestIsFirst) {
  const std::vector<Crash> crashes = {{"SIGSEGV", frames({"a"})},
                                      {"SIGABRT", frames({"a"})},
                                      {"SIGSEGV", frames({"b"})},
                                      {"SIGABRT", frames({"abort", "a"})},
                                      {"status 3", {}}};
  const auto clusters = cluster_crashes(crashes);
  ASSERT_EQ(clusters.size(), 4U);
  EXPECT_EQ(clusters[0].ending, "SIGABRT");
  EXPECT_EQ(clusters[0].stack, "a");
  EXPECT_EQ(clusters[0].members, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(clusters[1].members, std::vector<size_t>{0});
  EXPECT_EQ(clusters[2].members, std::vector<size_t>{2});
  EXPECT_EQ(clusters[3].ending, "status 3");
  EXPECT_EQ(clusters[3].stack, "");
}

TEST(CrashClusters, IdsDependOnEndingAndStackAlone) {
  const std::vector<Crash> one = {{"SIGSEGV", frames({"a", "b"})}};
  const std::vector<Crash> more = {{"SIGABRT", frames({"a", "b"})},
                                   {"SIGSEGV", frames({"a", "b"})}};
  const auto id = cluster_crashes(one)[0].id;
  EXPECT_EQ(id.size(), 8U);
  EXPECT_EQ(cluster_crashes(more)[1].id, id);
  EXPECT_NE(cluster_crashes(more)[0].id, id);
}

}  // namespace
}  // namespace telltale::isolation
