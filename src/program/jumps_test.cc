#include "program/jumps.h"

#include <gmock/gmock.h>

namespace telltale {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint64_t> jumps(std::vector<uint8_t> code) { return last_jumps(code, 0x1000); }

TEST(LastJumps, OfEveryForm) {
  EXPECT_THAT(jumps({0x90, 0x74, 0x10}), ElementsAre(0x1010));                       // je
  EXPECT_THAT(jumps({0x7F, 0xF0}), ElementsAre(0xFF0));                              // jg
  EXPECT_THAT(jumps({0x0F, 0x84, 0x00, 0x01, 0x00, 0x00}), ElementsAre(0x1100));     // je
  EXPECT_THAT(jumps({0x0F, 0x8F, 0x00, 0xFF, 0xFF, 0xFF}), ElementsAre(0xF00));      // jg
  EXPECT_THAT(jumps({0xEB, 0xFE}), ElementsAre(0xFFE));                              // jmp
  EXPECT_THAT(jumps({0xE9, 0x00, 0x00, 0x01, 0x00}), ElementsAre(0x11000));          // jmp
  EXPECT_THAT(jumps({0x75, 0x20, 0xEB, 0x30}), ElementsAre(0x1030, 0x101E));         // both
  EXPECT_THAT(jumps({0x0F, 0x85, 1, 0, 0, 0, 0xE9, 2, 0, 0, 0}), Contains(0x1002));  // both
  EXPECT_THAT(jumps({0x0F, 0x85, 1, 0, 0, 0, 0xE9, 2, 0, 0, 0}), Contains(0x0FFC));
}

TEST(LastJumps, OtherCodeHasNone) {
  EXPECT_THAT(jumps({}), IsEmpty());
  EXPECT_THAT(jumps({0xC3}), IsEmpty());                          // ret
  EXPECT_THAT(jumps({0xE8, 0x10, 0x00, 0x00, 0x00}), IsEmpty());  // call
  EXPECT_THAT(jumps({0xFF, 0xE0}), IsEmpty());                    // jmp *%rax
  EXPECT_THAT(jumps({0x0F, 0x0B}), IsEmpty());                    // ud2
}

}  // namespace
}  // namespace telltale
