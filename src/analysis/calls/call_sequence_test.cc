#include "analysis/calls/call_sequence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using Kind = SequenceEdit::Kind;

// A thread whose calls are written "a(b c(d)) e": one letter a function.
class Sequence {
 public:
  Sequence(std::string_view text, NameNumbers& numbers, size_t most = 1000) {
    testing::ScriptedSource source;
    source.thread({1, 1});
    std::vector<uint32_t> open;
    Ticks time = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ')') {
        source.leave(++time, open.back());
        open.pop_back();
        continue;
      }
      if (text[i] == '(' || text[i] == ' ') continue;
      const uint32_t id =
          text[i] == 'W' ? to_number(kWaiting) : static_cast<uint32_t>(text[i] - 'a');
      source.enter(++time, id);
      if (i + 1 < text.size() && text[i + 1] == '(') {
        open.push_back(id);
      } else {
        source.leave(++time, id);
      }
    }
    ProblemLog problems;
    sequence = collect_call_sequence(source, 0, CallFilter(), most, numbers, problems);
  }
  CallSequence sequence;
};

// "=2(5)": two equal subtrees with five calls; "~", "-", "+", "<" and ">" with the function's
// letter. Deeper edits in brackets.
std::string words(const SequenceAlignment& alignment, const Sequence& a, const Sequence& b,
                  const NameNumbers& numbers) {
  std::string text;
  uint32_t depth = 0;
  for (const SequenceEdit& edit : alignment.edits) {
    for (; depth < edit.depth; ++depth) text += "[";
    for (; depth > edit.depth; --depth) text += "]";
    const bool of_b = edit.kind == Kind::added || edit.kind == Kind::arrived;
    const CallSequence::Call& call = of_b ? b.sequence.calls[edit.b] : a.sequence.calls[edit.a];
    const std::string& name = numbers.name(call.name);  // "#3"
    const char letter = static_cast<char>('a' + std::stoi(name.substr(1)));
    if (edit.kind == Kind::same) {
      text += fmt::format("={}({})", edit.count, edit.calls);
    } else {
      text += fmt::format("{}{}", "=~-+<>"[static_cast<size_t>(edit.kind)], letter);
    }
  }
  for (; depth > 0; --depth) text += "]";
  return text;
}

std::string aligned(std::string_view before, std::string_view after) {
  NameNumbers numbers;
  const Sequence a(before, numbers);
  const Sequence b(after, numbers);
  return words(align_call_sequences(a.sequence, b.sequence), a, b, numbers);
}

TEST(CallSequence, SubtreesAreEqualIfNamesAndNestingAre) {
  EXPECT_EQ(aligned("a(b c)", "a(b c)"), "=1(3)");
  EXPECT_EQ(aligned("a(b c)", "a(b(c))"), "~a[~b[+c]-c]");
  EXPECT_EQ(aligned("a(b c)", "a(c b)"), "~a[-b=1(1)+b]");
  EXPECT_EQ(aligned("a(b W c)", "a(W b c)"), "=1(3)") << "waits are no calls";
  EXPECT_EQ(aligned("", ""), "");
}

TEST(CallSequence, InsertionsAndDeletions) {
  EXPECT_EQ(aligned("a(b c d)", "a(b d)"), "~a[=1(1)-c=1(1)]");
  EXPECT_EQ(aligned("a b c", "a b x c"), "=2(2)+x=1(1)");
  EXPECT_EQ(aligned("a", ""), "-a");
  EXPECT_EQ(aligned("", "a b"), "+a+b");
  EXPECT_EQ(aligned("a(b(c) b(c) b(c))", "a(b(c) b(d) b(c))"), "~a[=1(2)~b[-c+d]=1(2)]");
}

TEST(CallSequence, WhatIsLeftOfEqualNeighboursIsComparedWithWhatIsInserted) {
  EXPECT_EQ(aligned("m(r(x) r(x) r(x) r(x))", "m(r(x) r(x y) r(x) r(x))"),
            "~m[=1(2)~r[=1(1)+y]=2(4)]");
  EXPECT_EQ(aligned("m(r(x) r(x y) r(x) r(x))", "m(r(x) r(x) r(x) r(x))"),
            "~m[=1(2)~r[=1(1)-y]=2(4)]");
  EXPECT_EQ(aligned("m(r(x) r(x) r(x) z)", "m(r(x) r(x y) r(x) w)"),
            "~m[=1(2)~r[=1(1)+y]=1(2)-z+w]");
}

TEST(CallSequence, MovedSubtrees) {
  EXPECT_EQ(aligned("m(a(b) c d)", "m(c d a(b))"), "~m[<a=2(2)>a]");
  EXPECT_EQ(aligned("m(x(a(b)) y)", "m(x y(a(b)))"), "~m[~x[<a]~y[>a]]");
  EXPECT_EQ(aligned("m(a c d)", "m(c d a)"), "~m[-a=2(2)+a]") << "single calls do not move";
}

TEST(CallSequence, NumbersAreThoseOfReplay) {
  NameNumbers numbers;
  const Sequence a("a(b W c)", numbers);
  ASSERT_EQ(a.sequence.calls.size(), 3U);
  EXPECT_EQ(a.sequence.calls[2].number, 4U) << "the wait is number 3";
  EXPECT_EQ(a.sequence.calls[0].size, 3U);
}

TEST(CallSequence, TheLimit) {
  NameNumbers numbers;
  const Sequence a("a(b(c) d)", numbers, 2);
  EXPECT_FALSE(a.sequence.whole);
  EXPECT_EQ(a.sequence.calls.size(), 2U);
  EXPECT_EQ(a.sequence.calls[0].size, 2U);
  EXPECT_TRUE(Sequence("a b", numbers, 2).sequence.whole);
}

TEST(CallSequence, ManyDifferencesAreAlignedInPieces) {
  NameNumbers numbers;
  // A loop of 3,000 turns, the same but for one call of each turn in B, and one turn that A lacks.
  std::string before;
  std::string after;
  for (int i = 0; i < 3000; ++i) {
    before += "r(x y)s";
    after += i == 2000 ? "r(x y)ts" : "r(x y z)s";
  }
  const Sequence a("m(" + before + ")", numbers, 100'000);
  const Sequence b("m(" + after + ")", numbers, 100'000);
  const SequenceAlignment alignment = align_call_sequences(a.sequence, b.sequence);
  EXPECT_GE(alignment.approximate, 1U);
  EXPECT_EQ(alignment.unaligned, 0U);
  EXPECT_EQ(alignment.same + alignment.only_a + alignment.moved, a.sequence.calls.size());
  EXPECT_EQ(alignment.same + alignment.only_b + alignment.moved, b.sequence.calls.size());
  EXPECT_EQ(alignment.only_a, 0U);
  EXPECT_EQ(alignment.only_b, 2999U + 1U);
}

TEST(CallSequence, NothingInCommonIsSaid) {
  NameNumbers numbers;
  const Sequence a("m(" + std::string(1500, 'a') + ")", numbers, 10'000);
  const Sequence b("m(" + std::string(1500, 'b') + ")", numbers, 10'000);
  const SequenceAlignment alignment = align_call_sequences(a.sequence, b.sequence);
  EXPECT_EQ(alignment.approximate, 2U) << "by subtrees, then by names";
  EXPECT_EQ(alignment.only_a, 1500U);
  EXPECT_EQ(alignment.only_b, 1500U);
  EXPECT_EQ(alignment.same, 1U);
}

// Every call is in the answer exactly once, and the alignment of flat sequences is the best one.
TEST(CallSequence, RandomSequences) {
  std::mt19937 random(7);
  const auto below = [&](size_t limit) { return random() % limit; };
  for (int round = 0; round < 300; ++round) {
    std::string texts[2];
    for (std::string& text : texts) {
      const size_t length = below(12);
      for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + below(3));
    }
    NameNumbers numbers;
    const Sequence a(texts[0], numbers);
    const Sequence b(texts[1], numbers);
    const SequenceAlignment alignment = align_call_sequences(a.sequence, b.sequence);
    EXPECT_EQ(alignment.same + alignment.only_a, texts[0].size()) << texts[0] << " " << texts[1];
    EXPECT_EQ(alignment.same + alignment.only_b, texts[1].size()) << texts[0] << " " << texts[1];
    std::vector<std::vector<size_t>> common(texts[0].size() + 1,
                                            std::vector<size_t>(texts[1].size() + 1));
    for (size_t i = 1; i <= texts[0].size(); ++i) {
      for (size_t j = 1; j <= texts[1].size(); ++j) {
        common[i][j] = texts[0][i - 1] == texts[1][j - 1]
                           ? common[i - 1][j - 1] + 1
                           : std::max(common[i - 1][j], common[i][j - 1]);
      }
    }
    EXPECT_EQ(alignment.same, common.back().back()) << texts[0] << " " << texts[1];
  }
}

}  // namespace
}  // namespace telltale
