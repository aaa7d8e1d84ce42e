#include "telltale/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/checkout.h"

namespace telltale::api {
namespace {

using ::testing::Contains;
using ::testing::Key;

std::string golden_path(const std::string& name) {
  return std::string(testing::kSourceFolder) + "/tests/golden/" + name;
}

TEST(ApiRecording, InfoHasTheRecordsOfEachKind) {
  const Recording recording({.files = {golden_path("xray/calls.fdr")}, .programs = {}});
  const Info info = recording.info(1);
  EXPECT_EQ(info.format, "xray-fdr");
  ASSERT_FALSE(info.records_by_kind.empty());
  uint64_t sum = 0;
  for (const auto& [kind, count] : info.records_by_kind) sum += count;
  EXPECT_EQ(sum, info.records);
  EXPECT_THAT(info.records_by_kind, Contains(Key("FunctionEnter")));
  EXPECT_FALSE(info.threads.empty());
  EXPECT_GT(info.span_ns, 0U);
  EXPECT_EQ(info.skipped.problem_count, 0U);
}

// The message says what the file has instead.
TEST(ApiRecording, AFileWithoutTimedCallsIsRefused) {
  try {
    const Recording recording(
        {.files = {golden_path("sampler/all_schemes.report")}, .programs = {}});
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a feedback report has counts at sites, no timed calls");
  }
}

// Each answer about a truncated file says what it had to skip.
TEST(ApiRecording, EveryAnswerSaysWhatItSkipped) {
  std::ifstream whole(golden_path("xray/calls.fdr"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  std::string path = (std::filesystem::temp_directory_path() / "telltale-api-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  ASSERT_GE(file, 0);
  ::close(file);
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() - 5);
  const Recording recording({.files = {path}, .programs = {}});
  EXPECT_TRUE(recording.info(1).skipped.damaged);
  const Top top = recording.top(1);
  EXPECT_FALSE(top.rows.empty());
  EXPECT_TRUE(top.skipped.damaged);
  EXPECT_EQ(top.skipped.problem_count, recording.info(1).skipped.problem_count);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace telltale::api
