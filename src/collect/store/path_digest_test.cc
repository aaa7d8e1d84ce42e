#include "collect/store/path_digest.h"

#include <gmock/gmock.h>
#include <libdeflate.h>

#include <string>
#include <vector>

#include "bytes/as_bytes.h"

namespace telltale::collect {
namespace {

const FileIdentity kFile{100, 1764000000123456789, 7};
constexpr uint64_t kPrograms = 0x0123456789abcdef;

PathFacts some_facts() {
  PathFacts facts;
  const PathFacts::Function grade{"grade", "graded.c"};
  facts.decoded = {grade, {"main", "graded.c"}};
  facts.ahead = {{grade, {{"graded.c", 12}, {"util.h", 5}}}, {{"main", "graded.c"}, {}}};
  facts.add(PathFacts::Kind::took_path, {grade, {{"graded.c", 10}, {"util.h", 4'000'000'000}}},
            PathFacts::Said::yes);
  facts.add(PathFacts::Kind::took_path, {grade, {}}, PathFacts::Said::no);
  facts.add(PathFacts::Kind::followed_path, {grade, {{"graded.c", 11}}}, PathFacts::Said::yes);
  facts.add(PathFacts::Kind::ran_in_call, {grade, {{"graded.c", 12}}}, PathFacts::Said::maybe);
  facts.add(PathFacts::Kind::ran_in_process, {{"main", "m.c"}, {{"m.c", 1}}}, PathFacts::Said::yes);
  facts.stack = {{"fail", "graded.c", 5, "/usr/bin/graded"}, {"", "", 0, ""}};
  return facts;
}

std::vector<RunPaths> some_runs() {
  std::vector<RunPaths> runs(3);
  runs[0].id = "run-00001";
  runs[0].label = "failed";
  runs[0].read.facts = some_facts();
  runs[1].id = "run-00002";
  runs[1].label = "passed";
  runs[1].read.problems.add(
      {Problem::Kind::loss, 77, "run-00002", "recording", "is no core file", 9});
  runs[2] = runs[0];
  runs[2].id = "run-00003";
  return runs;
}

TEST(PathDigest, HasWhatWasDecoded) {
  const std::vector<RunPaths> runs = some_runs();
  const std::string digest = to_path_digest(runs, kFile, kPrograms);
  ASSERT_TRUE(is_path_digest_of(as_bytes(digest), kFile, kPrograms));
  const auto back = read_path_digest(as_bytes(digest));
  ASSERT_TRUE(back) << to_string(back.error());
  ASSERT_EQ(back->size(), runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ((*back)[i].id, runs[i].id);
    EXPECT_EQ((*back)[i].label, runs[i].label);
    EXPECT_EQ((*back)[i].read.facts, runs[i].read.facts);
  }
  const std::vector<Problem> problems = (*back)[1].read.problems.kept();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(to_string(problems[0]), to_string(runs[1].read.problems.kept()[0]));
  EXPECT_EQ(problems[0].lost_bytes, 9U);
}

TEST(PathDigest, IsOfOneFileAndOfThePrograms) {
  const std::string digest = to_path_digest(some_runs(), kFile, kPrograms);
  EXPECT_FALSE(is_path_digest_of(as_bytes(digest), {101, kFile.modified_ns, 7}, kPrograms));
  EXPECT_FALSE(is_path_digest_of(as_bytes(digest), kFile, kPrograms + 1));
  for (size_t at = 0; at < digest.size(); at += 3) {
    std::string damaged = digest;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_FALSE(is_path_digest_of(as_bytes(damaged), kFile, kPrograms)) << at;
  }
}

// Of another program, with the right checksum.
TEST(PathDigest, IsRefusedAtEveryPrefix) {
  const std::string whole = to_path_digest(some_runs(), kFile, kPrograms);
  const size_t head = to_path_digest({}, kFile, kPrograms).size();
  size_t refused = 0;
  for (size_t size = head; size < whole.size(); ++size) {
    const auto back = read_path_digest(as_bytes(whole).first(size));
    if (back) continue;  // between two runs
    ++refused;
    EXPECT_LE(*back.error().offset, size);
  }
  EXPECT_EQ(refused, whole.size() - head - 3);
}

}  // namespace
}  // namespace telltale::collect
