#include "formats/csi/path_metadata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/as_bytes.h"
#include "support/golden.h"

namespace telltale::csi {
namespace {

std::string written(const PathMetadata& metadata) {
  std::string text;
  for (const PathFunction& function : metadata.functions())
    append_path_function(text, metadata, function);
  return text;
}

constexpr std::string_view kSmall = "#\nf\n1|EXIT\n0|ENTRY|7|-1|8\n$\n0->1|0$0\n";

TEST(PathMetadata, WrittenAgainIsTheSameText) {
  for (const char* name : {"loop.pt", "objects.pt"}) {
    const std::string text = testing::read_source_file(std::string("tests/golden/csi/") + name);
    ASSERT_FALSE(text.empty()) << name;
    ProblemLog problems;
    const PathMetadata metadata = PathMetadata::read(as_bytes(text), name, 0, problems);
    EXPECT_EQ(problems.count(), 0U) << name;
    EXPECT_EQ(written(metadata), text);
    EXPECT_TRUE(looks_like_path_metadata(as_bytes(text)));
  }
}

TEST(PathMetadata, OfThePublishedExampleHasItsBlocksAndEdges) {
  const std::string text = testing::read_source_file("tests/golden/csi/loop.pt");
  ProblemLog problems;
  const PathMetadata metadata = PathMetadata::read(as_bytes(text), "loop.pt", 100, problems);
  ASSERT_EQ(metadata.functions().size(), 2U);
  const PathFunction& function = metadata.functions()[1];
  EXPECT_EQ(function.name, "main");
  EXPECT_EQ(function.offset, 100 + text.find("#\nmain"));
  const auto blocks = metadata.blocks(function);
  ASSERT_EQ(blocks.size(), 8U);
  EXPECT_EQ(blocks[0].kind, BlockKind::exit);
  EXPECT_EQ(blocks[1].kind, BlockKind::entry);
  EXPECT_EQ(blocks[1].id, 2U);
  EXPECT_EQ(metadata.tokens(blocks[7]).back(), kPathStore);
  const auto edges = metadata.edges(function);
  ASSERT_EQ(edges.size(), 9U);
  EXPECT_TRUE(edges[8].back);
  EXPECT_EQ(blocks[edges[8].to].id, 4U);
  EXPECT_EQ(edges[8].increment, 3U);
  EXPECT_EQ(edges[8].weight, 3U);
}

TEST(PathMetadata, EntryWithoutLinesAndCommentsOfEdgesAreRead) {
  const std::string text = testing::read_source_file("tests/golden/csi/objects.pt");
  ProblemLog problems;
  const PathMetadata metadata = PathMetadata::read(as_bytes(text), "objects.pt", 0, problems);
  ASSERT_EQ(metadata.functions().size(), 3U);
  const PathFunction& function = metadata.functions()[0];
  EXPECT_EQ(metadata.blocks(function)[1].kind, BlockKind::entry);
  EXPECT_EQ(metadata.blocks(function)[1].token_count, 0U);
  EXPECT_EQ(metadata.edges(function)[3].comment, " # the loop's latch");
  EXPECT_EQ(metadata.edges(function)[3].weight, 0U);
  EXPECT_EQ(metadata.edges(function)[6].comment, "# end");
}

TEST(PathMetadata, EveryPrefixGivesTheWholeFunctionsBeforeTheCut) {
  const std::string text = testing::read_source_file("tests/golden/csi/objects.pt");
  std::vector<size_t> starts;
  for (size_t at = 0; at != std::string::npos; at = text.find("\n#\n", at + 1))
    starts.push_back(at == 0 ? 0 : at + 1);
  ASSERT_EQ(starts.size(), 3U);
  for (size_t size = 0; size <= text.size(); ++size) {
    ProblemLog problems;
    const std::string_view cut = std::string_view(text).substr(0, size);
    const PathMetadata metadata = PathMetadata::read(as_bytes(cut), "cut", 0, problems);
    const size_t begun = static_cast<size_t>(
        std::ranges::count_if(starts, [&](size_t start) { return start < size; }));
    // Nothing says how many edges a function has, so a cut between two of them is not seen.
    const bool whole = begun == 0 || (cut.ends_with('\n') &&
                                      cut.find("\n$\n", starts[begun - 1]) != std::string::npos);
    EXPECT_EQ(metadata.functions().size(), whole ? begun : begun - 1) << size;
    EXPECT_EQ(problems.damaged(), !whole) << size;
    EXPECT_EQ(text.substr(0, written(metadata).size()), written(metadata));
  }
}

struct Bad {
  std::string_view text;
  uint64_t offset;  // of the complaint
  std::string_view message;
};

TEST(PathMetadata, AFunctionThatBreaksTheGrammarIsLeftOutWithItsPlace) {
  const std::vector<Bad> all = {
      {"x\n", 0, "begins with a line that is a #"},
      {"#\n\n", 2, "has a name"},
      {"#\nf\nEXIT\n", 4, "begins with its number"},
      {"#\nf\n1|\n", 4, "numbers, -1 or the word NULL"},
      {"#\nf\n1|EXIT\n1|ENTRY|4\n$\n", 11, "block 1 occurs twice"},
      {"#\nf\n1|EXIT\n$\n", 11, "no entry"},
      {"#\nf\n1|ENTRY|NULL\n$\n", 17, "no exit"},
      {"#\nf\n1|EXIT\n2|EXIT\n", 11, "one entry and one exit"},
      {"#\nf\n1|EXIT\n0|ENTRY|-2\n", 11, "numbers, -1 or the word NULL"},
      {"#\nf\n1|EXIT\n0|ENTRY|07\n", 11, "numbers, -1 or the word NULL"},
      {"#\nf\n1|EXIT\n0|ENTRY|\n", 11, "numbers, -1 or the word NULL"},
      {"#\nf\n1|EXIT\n0|ENTRY|7\n$\n0->2|0$0\n", 23, "connects blocks"},
      {"#\nf\n1|EXIT\n0|ENTRY|7\n$\n0=>1|0$0\n", 23, "FROM->TO"},
      {"#\nf\n1|EXIT\n0|ENTRY|7\n$\n0->1|0$\n", 23, "are numbers"},
      {"#\nf\n1|EXIT\n0|ENTRY|7\n$\n0->1|0$99999999999999999999\n", 23, "are numbers"},
      {"#\nf\n1|EXIT\n#\ng\n", 11, "begins with its number"},
  };
  for (const Bad& bad : all) {
    ProblemLog problems;
    const std::string text = std::string(bad.text) + std::string(kSmall);
    const PathMetadata metadata = PathMetadata::read(as_bytes(text), "bad", 1000, problems);
    ASSERT_GE(problems.count(), 1U) << bad.text;
    const Problem problem = problems.kept().front();
    EXPECT_EQ(problem.kind, Problem::Kind::corruption);
    EXPECT_EQ(problem.offset, 1000 + bad.offset) << bad.text;
    EXPECT_NE(problem.message.find(bad.message), std::string::npos) << problem.message;
    ASSERT_EQ(metadata.functions().size(), 1U) << bad.text;
    EXPECT_EQ(written(metadata), kSmall);
  }
}

}  // namespace
}  // namespace telltale::csi
