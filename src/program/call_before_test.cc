#include "program/call_before.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <vector>

namespace telltale {
namespace {

using Code = std::vector<uint8_t>;

// Encodings as compilers emit them, with their assembly.
TEST(CallBefore, KnowsEveryCallOfX86) {
  const Code calls[] = {
      {0xE8, 1, 2, 3, 4},                       // call f
      {0xFF, 0xD0},                             // call *%rax
      {0x41, 0xFF, 0xD3},                       // call *%r11
      {0xFF, 0x10},                             // call *(%rax)
      {0xFF, 0x50, 0x18},                       // call *0x18(%rax)
      {0xFF, 0x90, 0, 1, 0, 0},                 // call *0x100(%rax)
      {0xFF, 0x15, 1, 2, 3, 4},                 // call *f(%rip)
      {0xFF, 0x14, 0xC7},                       // call *(%rdi,%rax,8)
      {0xFF, 0x54, 0xC7, 8},                    // call *8(%rdi,%rax,8)
      {0xFF, 0x94, 0xC7, 0, 1, 0, 0},           // call *0x100(%rdi,%rax,8)
      {0xFF, 0x14, 0xC5, 0, 1, 0, 0},           // call *0x100(,%rax,8)
      {0x64, 0xFF, 0x14, 0x25, 0x10, 0, 0, 0},  // call *%fs:0x10
  };
  for (const Code& call : calls) {
    Code code = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
    code.insert(code.end(), call.begin(), call.end());
    EXPECT_EQ(ends_with_call(EM_X86_64, code), true) << ::testing::PrintToString(call);
    EXPECT_EQ(ends_with_call(EM_X86_64, call), true) << ::testing::PrintToString(call);
    code.push_back(0x90);
    EXPECT_EQ(ends_with_call(EM_X86_64, code), false) << ::testing::PrintToString(call);
  }
  const Code others[] = {
      {},
      {0xE8, 1, 2, 3},           // cut
      {0xFF, 0xE0},              // jmp *%rax
      {0xFF, 0xC0},              // inc %eax
      {0xFF, 0x25, 1, 2, 3, 4},  // jmp *f(%rip)
      {0x8B, 0x07},              // mov (%rdi),%eax
      {0xC7, 0x05, 1, 2, 3, 4, 1, 0, 0, 0},
  };
  for (const Code& other : others)
    EXPECT_EQ(ends_with_call(EM_X86_64, other), false) << ::testing::PrintToString(other);
}

TEST(CallBefore, KnowsEveryCallOfArm) {
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0x12, 0x34, 0x00, 0x94}), true);   // bl
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0x00, 0x01, 0x3F, 0xD6}), true);   // blr x8
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0x1F, 0x09, 0x3F, 0xD6}), true);   // blraaz x8
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0x11, 0x09, 0x3F, 0xD7}), true);   // blraa x8, x17
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0x00, 0x01, 0x1F, 0xD6}), false);  // br x8
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0xC0, 0x03, 0x5F, 0xD6}), false);  // ret
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0x12, 0x34, 0x00, 0x14}), false);  // b
  EXPECT_EQ(ends_with_call(EM_AARCH64, Code{0x3F, 0xD6}), false);
}

TEST(CallBefore, SaysNothingOfOtherMachines) {
  EXPECT_EQ(ends_with_call(EM_RISCV, Code{0xE8, 1, 2, 3, 4}), std::nullopt);
}

}  // namespace
}  // namespace telltale
