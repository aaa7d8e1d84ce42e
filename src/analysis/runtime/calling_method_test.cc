#include "analysis/runtime/calling_method.h"

#include <gtest/gtest.h>

#include <array>

namespace telltale {
namespace {

class Names final : public FunctionNames {
 public:
  Names() {
    static constexpr std::array kNames = {"Main", "App.Work:Run ()",
                                          "System.Monitor:Enter (object)",
                                          "(wrapper runtime-invoke) object:invoke ()"};
    for (size_t i = 0; i < kNames.size(); ++i) infos_[i].name = kNames[i];
  }
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    return infos_[to_number(id)];
  }

 private:
  std::array<FunctionInfo, 4> infos_;
};
constexpr FunctionId kMain{0}, kRun{1}, kEnter{2}, kWrapper{3};

std::string of(std::initializer_list<FunctionId> stack, std::string_view runtime_type) {
  StackTable stacks;
  const StackTable::Id id = stacks.intern(std::vector<FunctionId>(stack));
  return calling_method(stacks, id, Names(), runtime_type);
}

TEST(CallingMethod, SkipsWrappersAndTheRuntimesType) {
  EXPECT_EQ(of({kMain, kRun, kWrapper, kEnter}, "System.Monitor:"), "App.Work:Run ()");
  EXPECT_EQ(of({kMain, kRun, kWrapper, kEnter}, ""), "System.Monitor:Enter (object)");
  EXPECT_EQ(of({kMain, kWrapper}, ""), "Main");
}

TEST(CallingMethod, OfARuntimesOwnStackIsTheInnermost) {
  EXPECT_EQ(of({kWrapper, kEnter}, "System.Monitor:"), "System.Monitor:Enter (object)");
  EXPECT_EQ(of({kWrapper}, ""), "(wrapper runtime-invoke) object:invoke ()");
  EXPECT_EQ(of({}, ""), "[no stack]");
}

}  // namespace
}  // namespace telltale
