#include "cli/options/function_match.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "cli/options/reading_options.h"

namespace telltale::cli {
namespace {

class TwoNames final : public FunctionNames {
 public:
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    return infos_[to_number(id) - 1];
  }

 private:
  std::array<FunctionInfo, 2> infos_{FunctionInfo{"shop::order", "", "", 0, ""},
                                     FunctionInfo{"shop::price", "", "", 0, ""}};
};

// Calls of two functions, which counts how often they are read.
class TwoFunctions final : public TimedCalls {
 public:
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Ticks first_time() const override { return 0; }
  [[nodiscard]] std::span<const EventStream> streams() const override { return {}; }
  [[nodiscard]] const FunctionNames& functions() const override { return names_; }
  [[nodiscard]] uint64_t shard_bytes(size_t, size_t) const override { return 0; }
  [[nodiscard]] Profile profile(const ProfileOptions& options, ProblemLog&) const override {
    ++passes;
    Profile profile;
    FunctionFilter filter(options.filter, names_);
    for (const uint32_t id : {1U, 2U}) {
      FunctionProfile row;
      row.function = FunctionId(id);
      if (filter.keeps(row.function)) profile.functions.push_back(row);
    }
    return profile;
  }
  [[nodiscard]] Result<CallTreePartial> call_tree(const CallFilter&, size_t, const CallTreeOptions&,
                                                  ProblemLog&) const override {
    return usage_error("unused");
  }
  [[nodiscard]] Result<MeasuredTree> measured_tree(Measure, const CallFilter&, size_t, size_t,
                                                   ProblemLog&) const override {
    return usage_error("unused");
  }
  [[nodiscard]] std::vector<Measure> measures_with_data(size_t) const override { return {}; }
  Result<ExportRemarks> export_calls(const ExportOptions&, ExportFormat, OutputFile&,
                                     ProblemLog&) const override {
    return usage_error("unused");
  }

  mutable size_t passes = 0;

 private:
  void play_to(size_t, size_t, EventReceiver&, ProblemLog&) const override {}
  Clock clock_;
  TwoNames names_;
};

// How often an answer with these patterns reads the calls, and the remarks that come with it.
std::pair<size_t, std::string> answer(const std::vector<std::string>& patterns) {
  ReadingOptions options;
  options.functions = patterns;
  const Result<CallFilter> filter = options.filter();
  const TwoFunctions calls;
  ProblemLog problems;
  (void)calls.profile({CallFilter(*filter), 1, false}, problems);
  ::testing::internal::CaptureStderr();
  remark_unmatched(calls, *filter, 1);
  return {calls.passes, ::testing::internal::GetCapturedStderr()};
}

TEST(FunctionMatch, PatternsThatAllMatchAreKnownFromTheAnswer) {
  EXPECT_EQ(answer({"shop::order", "shop::p*"}), std::pair(size_t{1}, std::string()));
  // One function, two patterns.
  EXPECT_EQ(answer({"shop::order", "*order"}), std::pair(size_t{1}, std::string()));
  EXPECT_EQ(answer({"shop::order", "nothing"}),
            std::pair(size_t{2}, std::string("telltale: 0 of 2 functions match `nothing`\n")));
}

}  // namespace
}  // namespace telltale::cli
