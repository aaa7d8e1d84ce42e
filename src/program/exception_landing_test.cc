#include "program/exception_landing.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "bytes/as_bytes.h"
#include "support/core_builder.h"

namespace telltale {
namespace {

constexpr uint64_t kStack = 0x7ffe0000;         // of the unwinder's frame
constexpr uint64_t kFrame = kStack + 64 * 8;    // its canonical frame address
constexpr uint64_t kTarget = kFrame + 32 * 8;   // that of the frame inside the landing pad's
constexpr uint64_t kContext = kStack + 10 * 8;  // the context in the frame
constexpr uint64_t kPad = 0x401234;
constexpr uint64_t kCall = 0x401200;     // where the call in the landing pad's function returns to
constexpr uint64_t kThrow = 0x777000;    // where the unwinder was called
constexpr uint64_t kThrower = 0x402000;  // the return address between the two

// The stack at the moment when the unwinder jumps to a landing pad. No two words are equal.
class Stack {
 public:
  Stack() {
    for (uint64_t address = kStack; address < kTarget + 64; address += 8)
      words_[address] = 0x1000000 + address - kStack;
    words_[kFrame - 8] = kThrow;
    words_[kFrame + 8 * 8] = kThrower;
    words_[kTarget - 8] = kCall;
    for (const unsigned number : {3U, 6U, 12U, 13U, 14U, 15U})
      words_[kContext + number * 8] = kFrame + (10 + number) * 8;
    words_[kContext + 14 * 8] = 0;  // nothing has saved it
    words_[kContext + 16 * 8] = kTarget - 8;
    words_[kContext + 18 * 8] = kTarget;
    words_[kContext + 19 * 8] = kPad;
  }
  Stack& set(uint64_t address, uint64_t value) {
    words_[address] = value;
    return *this;
  }
  [[nodiscard]] std::optional<LandingRegisters> landing(
      std::map<unsigned, uint64_t> registers = {{14, 0xe14}}, bool innermost = false,
      uint64_t code_offset = 300) const {
    std::string memory;
    for (const auto& [address, value] : words_)
      for (unsigned i = 0; i < 8; ++i) memory += static_cast<char>(value >> 8 * i);
    const std::string bytes =
        testing::CoreBuilder().thread(1, 11, 0x1000).memory(kStack, memory).build();
    ProblemLog problems;
    const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
    if (!core) return std::nullopt;
    const auto read = [&](unsigned number) -> std::optional<uint64_t> {
      const auto found = registers.find(number);
      return found == registers.end() ? std::nullopt : std::optional(found->second);
    };
    return find_landing(*core, {.stack_pointer = kStack,
                                .frame_address = kFrame,
                                .read_register = read,
                                .innermost = innermost,
                                .code_offset = code_offset});
  }

 private:
  std::map<uint64_t, uint64_t> words_;
};

TEST(ExceptionLanding, HasTheRegistersOfTheLandingPad) {
  const auto landing = Stack().landing();
  ASSERT_TRUE(landing);
  EXPECT_EQ(landing->pc, kPad);
  EXPECT_EQ(landing->registers[7], kTarget);
  EXPECT_EQ(landing->registers[16], kPad);
  for (const unsigned number : {3U, 6U, 12U, 13U, 15U})
    EXPECT_EQ(landing->registers[number], 0x1000000 + (64 + 10 + number) * 8) << number;
  EXPECT_EQ(landing->registers[14], 0xe14U);
  EXPECT_FALSE(landing->registers[0]);
}

TEST(ExceptionLanding, IsNoneWhileAHandlerIsLookedFor) {
  EXPECT_FALSE(Stack().set(kContext + 19 * 8, kCall).landing());
  // The context is moved to the next frame: it has the return address of the frame before.
  EXPECT_FALSE(Stack().set(kContext + 19 * 8, kThrower).landing());
  EXPECT_FALSE(Stack().set(kContext + 19 * 8, kThrow).landing());
  EXPECT_FALSE(Stack().set(kContext + 19 * 8, 0).landing());
}

TEST(ExceptionLanding, OfAnEarlierExceptionIsNone) {
  EXPECT_FALSE(Stack().landing({}, true));
  EXPECT_FALSE(Stack().landing({}, false, 99));
  // Where the return address is replaced, it is of this one.
  EXPECT_TRUE(Stack().set(kFrame - 8, kCall).landing({}, true));
  EXPECT_TRUE(Stack().set(kFrame - 8, kCall).landing({}, false, 99));
}

TEST(ExceptionLanding, IsNoneOfTheFrameItself) {
  EXPECT_FALSE(Stack().set(kContext + 16 * 8, kFrame - 8).set(kContext + 18 * 8, kFrame).landing());
}

TEST(ExceptionLanding, IsNoneWithoutTheStack) {
  const uint64_t outside = kTarget + 0x100000;
  EXPECT_FALSE(
      Stack().set(kContext + 16 * 8, outside - 8).set(kContext + 18 * 8, outside).landing());
  EXPECT_FALSE(Stack().set(kContext + 16 * 8, kTarget).landing());
}

// The address of the landing pad is stored already: rcx is the distance, then the place of it.
TEST(ExceptionLanding, IsKnownWhileTheFrameIsLeft) {
  Stack stack;
  stack.set(kTarget - 8, kPad);
  EXPECT_FALSE(stack.landing({}, true));
  EXPECT_TRUE(stack.landing({{2, kTarget - 8}}, true));
  EXPECT_FALSE(stack.landing({{2, kTarget - 8}}, false));
  EXPECT_TRUE(stack.landing({{1, kTarget - kFrame}, {2, kTarget - kFrame}}, true));
  EXPECT_FALSE(stack.landing({{1, 0}, {2, kTarget - kFrame}}, true));
}

TEST(ExceptionLanding, IsOfTheUnwindersFunctions) {
  EXPECT_TRUE(is_exception_unwinder("_Unwind_RaiseException"));
  EXPECT_TRUE(is_exception_unwinder("_Unwind_Resume"));
  EXPECT_FALSE(is_exception_unwinder("_Unwind_GetIP"));
  EXPECT_FALSE(is_exception_unwinder("throws"));
}

}  // namespace
}  // namespace telltale
