// Files of processes that forked, as clang's runtime writes them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"
#include "import/id_names.h"
#include "import/xray/event_words.h"
#include "import/xray/xray_recording.h"
#include "support/xray_builder.h"

namespace telltale {
namespace {

// A file whose buffer of process 7 has calls of these functions, one a tick.
testing::FdrBuilder copy_with(const std::vector<uint32_t>& calls) {
  testing::FdrBuilder file(5);
  file.buffer({.tid = 7, .pid = 7, .tsc = 100});
  for (const uint32_t function : calls) file.enter(function, 1).exit(function, 1);
  return file;
}
testing::FdrBuilder& begins(testing::FdrBuilder& file, int32_t pid, uint64_t tsc) {
  return file.buffer({.tid = pid, .pid = pid, .tsc = tsc}).enter(9, 0).exit(9, 1);
}

struct Answer {
  std::string threads;  // with the functions that each calls
  std::vector<Problem> problems;
  uint64_t lost_bytes = 0;

  [[nodiscard]] bool tells(Problem::Kind kind, const std::string& file,
                           const std::string& words) const {
    for (const Problem& problem : problems) {
      if (problem.kind == kind && problem.file == file &&
          problem.message.find(words) != std::string::npos)
        return true;
    }
    ADD_FAILURE() << words;
    for (const Problem& problem : problems) ADD_FAILURE() << to_string(problem);
    return false;
  }
};

Answer read(const std::map<std::string, std::string>& files, bool in_order) {
  std::vector<InputFile> inputs;
  for (const auto& [name, bytes] : files) {
    inputs.insert(in_order ? inputs.end() : inputs.begin(),
                  InputFile::from_memory(name, as_bytes(bytes)));
  }
  Result<XrayRecording> recording =
      XrayRecording::open(std::move(inputs), std::make_shared<IdNames>());
  EXPECT_TRUE(recording);
  struct Entered : IgnoreEvents {
    std::string functions;
    void enter(Ticks, FunctionId id) { functions += fmt::format(" {}", to_number(id)); }
  };
  Answer answer;
  for (size_t i = 0; i < recording->streams().size(); ++i) {
    Entered entered;
    ProblemLog problems;
    recording->play(i, 0, entered, problems);
    answer.threads += fmt::format("{}:{};", recording->streams()[i].thread.pid, entered.functions);
    EXPECT_EQ(problems.count(), 0U);
  }
  answer.problems = recording->problems().kept();
  answer.lost_bytes = recording->problems().lost_bytes();
  return answer;
}

constexpr auto kEstimate = Problem::Kind::estimate;

// Neither process has begun another buffer, and the files do not differ otherwise.
TEST(ForkedBuffers, ThatAFileIsTakenForTheParentsIsSaid) {
  for (const bool in_order : {true, false}) {
    const std::string longer = copy_with({1, 2, 3}).bytes();
    Answer answer = read({{"a", longer}, {"b", copy_with({1, 4}).bytes()}}, in_order);
    EXPECT_EQ(answer.threads, "7: 1 2 3;");
    EXPECT_TRUE(answer.tells(kEstimate, "a", "goes on differently in a and b"));
    EXPECT_EQ(answer.lost_bytes, 16U);
    // What one of them did not do is no reason to take the other's calls for its own silently.
    answer = read({{"a", longer}, {"b", copy_with({1}).bytes()}}, in_order);
    EXPECT_EQ(answer.threads, "7: 1 2 3;");
    EXPECT_TRUE(answer.tells(kEstimate, "a", "goes on differently in a and b"));
    answer = read({{"a", longer}, {"b", longer}}, in_order);
    EXPECT_EQ(answer.problems.size(), 1U);  // copies
  }
}

// A child has no buffer that its parent has begun, or continued in another thread, after the fork.
TEST(ForkedBuffers, LaterBuffersTellWhichFileIsTheParents) {
  const std::string child = copy_with({1, 2, 3}).bytes();
  testing::FdrBuilder begun = copy_with({1, 4});
  begins(begun, 7, 300);
  for (const bool in_order : {true, false}) {
    const Answer answer = read({{"a", child}, {"b", begun.bytes()}}, in_order);
    EXPECT_EQ(answer.threads, "7: 1 4 9;");
    EXPECT_EQ(answer.problems.size(), 2U);
    EXPECT_TRUE(answer.tells(Problem::Kind::loss, "a", "differently than in b"));
    EXPECT_EQ(answer.lost_bytes, 32U);
  }
  // Of another thread, which the child does not have.
  const auto with_thread = [](testing::FdrBuilder file, int calls) {
    file.buffer({.tid = 8, .pid = 7, .tsc = 50});
    for (int i = 0; i < calls; ++i) file.enter(5, 1).exit(5, 1);
    return file.bytes();
  };
  const std::string of_child = with_thread(copy_with({1, 2, 3}), 1);
  const std::string of_parent = with_thread(copy_with({1, 4}), 2);
  for (const bool in_order : {true, false}) {
    const Answer answer = read({{"a", of_child}, {"b", of_parent}}, in_order);
    EXPECT_EQ(answer.threads, "7: 1 4;7: 5 5;");
    EXPECT_EQ(answer.problems.size(), 2U);
    EXPECT_TRUE(answer.tells(Problem::Kind::loss, "a", "differently than in b"));
  }
}

TEST(ForkedBuffers, CallsOfAChildAreNotItsChilds) {
  const std::string parent = copy_with({1, 2, 2, 2, 2, 2}).bytes();
  // 8 has forked 9, whose copy lasts longer, before it began a buffer.
  testing::FdrBuilder child = copy_with({1, 3});
  begins(child, 8, 200);
  testing::FdrBuilder grandchild = copy_with({1, 3, 4, 4});
  begins(grandchild, 9, 210);
  for (const bool in_order : {true, false}) {
    Answer answer =
        read({{"a", parent}, {"b", child.bytes()}, {"c", grandchild.bytes()}}, in_order);
    EXPECT_EQ(answer.threads, "7: 1 2 2 2 2 2;8: 3 9;9: 4 4 9;");
    EXPECT_TRUE(answer.tells(kEstimate, "c", "process 8 or 9 forked the other"));
    // Without its file, nothing tells them apart.
    answer = read({{"a", parent}, {"c", grandchild.bytes()}}, in_order);
    EXPECT_EQ(answer.threads, "7: 1 2 2 2 2 2;9: 3 4 4 9;");
    EXPECT_TRUE(
        answer.tells(Problem::Kind::oddity, "c", "a process between them that wrote no file"));
  }
  // 8 has begun a buffer before it forked 9: the calls in 7's are those of 8, with or without its
  // own file.
  testing::FdrBuilder later = copy_with({1, 3});
  begins(later, 8, 200);
  begins(later, 9, 300);
  for (const bool in_order : {true, false}) {
    const Answer answer = read({{"a", parent}, {"c", later.bytes()}}, in_order);
    EXPECT_EQ(answer.threads, "7: 1 2 2 2 2 2;8: 3 9;9: 9;");
    EXPECT_TRUE(answer.tells(Problem::Kind::oddity, "c", "counted for its child, process 8"));
    EXPECT_TRUE(
        answer.tells(kEstimate, "c", "the file has buffers of process 9, which process 8 forked"));
  }
}

TEST(ForkedBuffers, AFileWithoutItsParentsIsSaid) {
  testing::FdrBuilder child = copy_with({1, 3});
  begins(child, 8, 200);
  const Answer answer = read({{"b", child.bytes()}}, true);
  EXPECT_EQ(answer.threads, "7: 1 3;8: 9;");
  EXPECT_EQ(answer.problems.size(), 1U);
  EXPECT_TRUE(
      answer.tells(kEstimate, "b", "the file has buffers of process 8, which process 7 forked"));
}

}  // namespace
}  // namespace telltale
