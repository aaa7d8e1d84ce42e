#include "import/csi/gone_functions.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

using Names = GoneFunctions::Names;

csi::FlowRecord without_call_of(const char* symbol, uint32_t block, bool with_callees = true) {
  csi::FlowRecord record;
  record.gone.push_back(
      {.block = block, .file = "a.c", .symbol = symbol, .with_callees = with_callees});
  return record;
}

TEST(GoneFunctions, CalleesOfUncalledFunctionsMayHaveRunToo) {
  GoneFunctions gone;
  gone.add({.caller = {"a.c", "f"}, .callees = {{"a.c", "g"}, {"b.h", "h"}}});
  gone.add(without_call_of("f", 1));
  gone.add(without_call_of("k", 0));
  gone.add({.caller = {"b.h", "h"}, .callees = {{"a.c", "f"}, {"b.h", "last"}}});
  gone.add({.caller = {"a.c", "h"}, .callees = {{"a.c", "other"}}});
  EXPECT_EQ(gone.that_may_have_run({{Ran::yes, Ran::no}, {Ran::no}}), Names{});
  EXPECT_EQ(gone.that_may_have_run({{Ran::no, Ran::maybe}, {Ran::no}}),
            (Names{{"a.c", "f"}, {"a.c", "g"}, {"b.h", "h"}, {"b.h", "last"}}));
  EXPECT_EQ(gone.that_may_have_run({{Ran::no, Ran::no}, {Ran::yes}}), (Names{{"a.c", "k"}}));
}

TEST(GoneFunctions, FunctionsThatAreGoneAloneDoNotAddTheirCallees) {
  GoneFunctions gone;
  gone.add({.caller = {"a.c", "f"}, .callees = {{"a.c", "g"}}});
  gone.add(without_call_of("f", 0, false));
  gone.add(without_call_of("f", 0));
  EXPECT_EQ(gone.that_may_have_run({{Ran::yes}, {Ran::no}}), (Names{{"a.c", "f"}}));
  EXPECT_EQ(gone.that_may_have_run({{Ran::yes}, {Ran::yes}}), (Names{{"a.c", "f"}, {"a.c", "g"}}));
}

}  // namespace
}  // namespace telltale
