#include "formats/xray/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/golden.h"
#include "support/xray_samples.h"

namespace telltale::xray {
namespace {

using testing::BasicBuilder;
using testing::FdrBuilder;
using ::testing::HasSubstr;
using Kind = Violation::Kind;

Verdict verdict_on(std::string_view file) {
  const Result<Verdict> verdict = verify_trace(as_bytes(file));
  EXPECT_TRUE(verdict) << to_string(verdict.error());
  return *verdict;
}

void expect_first(const std::string& file, Kind kind, uint64_t offset, std::string_view record) {
  const Verdict verdict = verdict_on(file);
  ASSERT_FALSE(verdict.valid());
  EXPECT_EQ(to_string(verdict.first->kind), to_string(kind)) << to_string(*verdict.first);
  EXPECT_EQ(verdict.first->offset, offset) << to_string(*verdict.first);
  EXPECT_EQ(verdict.first->record, record) << to_string(*verdict.first);
}

TEST(Verifier, AcceptsWhatIsValidAndNothingElse) {
  for (const testing::Sample& sample : testing::all_samples()) {
    const Verdict verdict = verdict_on(sample.bytes);
    EXPECT_EQ(verdict.valid(), sample.valid)
        << sample.name << ": " << (verdict.first ? to_string(*verdict.first) : "");
    EXPECT_EQ(verdict.violations() == 0, verdict.valid());
  }
}

// Every pair of neighbours, in every version: the check agrees with a second grammar, written here
// from the text of the specification as a list of allowed successors.
TEST(Verifier, EveryPairOfRecords) {
  const std::vector<FdrPayload> body = {FunctionRecord{FunctionAction::enter, 1, 0},
                                        FunctionRecord{FunctionAction::enter_args, 1, 0},
                                        FunctionRecord{FunctionAction::exit, 1, 0},
                                        FunctionRecord{FunctionAction::tail_exit, 1, 0},
                                        NewCpuId{1, 5},
                                        TscWrap{6},
                                        CustomEvent{},
                                        CallArgument{1},
                                        TypedEvent{},
                                        Pid{1},
                                        WalltimeMarker{}};
  const auto in_body = [](const FdrPayload& record, uint16_t version) {
    const auto name = record_name(record);
    return name != "Pid" && name != "WallTimeMarker" &&
           (name != "TypedEventMarker" || version == 5);
  };
  for (uint16_t version = 1; version <= 5; ++version) {
    for (const FdrPayload& first : body) {
      for (const FdrPayload& second : body) {
        const std::string file = FdrBuilder(version)
                                     .buffer({})
                                     .enter_args(9, 0)
                                     .argument(1)
                                     .record(first)
                                     .record(second)
                                     .bytes();
        const auto takes_argument = [](const FdrPayload& record) {
          const auto* function = std::get_if<FunctionRecord>(&record);
          return std::holds_alternative<CallArgument>(record) ||
                 (function != nullptr && function->action == FunctionAction::enter_args);
        };
        bool valid = in_body(first, version) && in_body(second, version);
        if (std::holds_alternative<CallArgument>(second)) valid = valid && takes_argument(first);
        EXPECT_EQ(verdict_on(file).valid(), valid)
            << "version " << version << ": " << record_name(first) << ", " << record_name(second);
      }
    }
  }
}

TEST(Verifier, NamesTheFirstViolationWithItsOffset) {
  // 32 header, 16 extents, 64 preamble.
  expect_first(FdrBuilder(5).buffer({}).enter(1, 0).argument(3).argument(4).bytes(),
               Kind::misplaced_record, 120, "CallArgument");
  expect_first(FdrBuilder(4).buffer({}).typed(1, "x", 0).bytes(), Kind::misplaced_record, 112,
               "TypedEventMarker");
  expect_first(FdrBuilder(3).buffer({}).record(EndOfBuffer{}).bytes(), Kind::misplaced_record, 112,
               "EndOfBuffer");
  expect_first(FdrBuilder(3).bare_buffer().record(NewBuffer{}).record(WalltimeMarker{}).bytes(),
               Kind::incomplete_buffer, 80, "Buffer");
  expect_first(FdrBuilder(5).buffer({}).enter(1, 0).gap("?????").buffer({}).bytes(),
               Kind::stray_bytes, 120, "Buffer");
  expect_first(FdrBuilder(5).buffer({}).raw(std::string(16, '\x7F')).bytes(),
               Kind::unreadable_record, 112, "Metadata");
  expect_first(FdrBuilder(5).buffer({}).enter(1, 0).torn(3), Kind::torn_file, 32, "BufferExtents");
  const Verdict verdict =
      verdict_on(FdrBuilder(5).buffer({}).enter(1, 0).argument(3).argument(4).bytes());
  EXPECT_THAT(to_string(*verdict.first),
              HasSubstr("CallArgument at byte 120: may not follow Function in version 5"));
  EXPECT_EQ(verdict.counts[static_cast<size_t>(Kind::misplaced_record)], 1U);
  EXPECT_EQ(verdict.records, 8U);
}

TEST(Verifier, Version1NeedsEndOfBufferAndItsFiller) {
  EXPECT_TRUE(verdict_on(FdrBuilder(1).buffer_size(200).buffer({}).enter(1, 0).bytes()).valid());
  expect_first(FdrBuilder(1).buffer_size(56).buffer({}).enter(1, 0).without_end().bytes(),
               Kind::incomplete_buffer, 88, "Buffer");
  expect_first(FdrBuilder(1).buffer_size(200).buffer({}).enter(1, 0).torn(10), Kind::torn_file, 32,
               "Buffer");
  // Shorter than the header says, followed by another buffer.
  expect_first(FdrBuilder(1).buffer_size(200).buffer({}).enter(1, 0).torn(100) +
                   FdrBuilder(1).buffer_size(200).buffer({}).bytes().substr(kFileHeaderBytes),
               Kind::incomplete_buffer, 88, "EndOfBuffer");
}

TEST(Verifier, BasicMode) {
  expect_first(BasicBuilder(3).thread(1).enter(1, 5).argument(2).bytes(), Kind::orphan_argument, 64,
               "BasicArgument");
  expect_first(BasicBuilder(3).thread(1).enter_args(1, 5).argument_of(2, 2).bytes(),
               Kind::orphan_argument, 64, "BasicArgument");
  // After its call's exit, and after another call of the thread.
  expect_first(BasicBuilder(3).thread(1).enter_args(1, 5).exit(1, 6).argument_of(1, 7).bytes(),
               Kind::orphan_argument, 96, "BasicArgument");
  expect_first(BasicBuilder(3).thread(1).enter_args(1, 5).enter(2, 6).argument_of(1, 7).bytes(),
               Kind::orphan_argument, 96, "BasicArgument");
  expect_first(BasicBuilder(1).thread(1).tail_exit(1, 5).bytes(), Kind::unknown_to_version, 32,
               "BasicCall");
  expect_first(BasicBuilder(3).thread(1).enter(1, 5).torn(1), Kind::torn_file, 32, "BasicRecord");
  // Another thread's chunk may be between an entry and its argument.
  EXPECT_TRUE(verdict_on(BasicBuilder(3)
                             .thread(1)
                             .enter_args(1, 5)
                             .thread(2)
                             .enter(3, 6)
                             .thread(1)
                             .argument_of(1, 7)
                             .bytes())
                  .valid());
}

}  // namespace
}  // namespace telltale::xray
