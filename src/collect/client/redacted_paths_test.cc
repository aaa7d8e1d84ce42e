#include "collect/client/redacted_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bytes/as_bytes.h"
#include "program/core_file.h"
#include "support/core_builder.h"

namespace telltale::collect {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string sample(uint64_t first_register = 0x1000) {
  return testing::CoreBuilder()
      .thread(101, 11, first_register)
      .process(100, "/home/user/parser --password secret")
      .mappings({{0x555000000000, 0x555000002000, 0, "/home/user/parser"},
                 {0x555000002000, 0x555000003000, 2, "/home/user/parser"},
                 {0x7f0000000000, 0x7f0000001000, 0, "/usr/lib/libc.so.6"}})
      .memory(0x7ffe1000, std::string("link: /home/user/parser\0stack", 29))
      .build();
}

TEST(RedactedPaths, NameNoFoldersOfUsersAndNoArguments) {
  const std::string core = sample();
  const auto redacted = redacted_paths(as_bytes(core), "core");
  ASSERT_TRUE(redacted) << to_string(redacted.error());
  EXPECT_EQ(redacted->size(), core.size());
  EXPECT_THAT(*redacted, Not(HasSubstr("/home")));
  EXPECT_THAT(*redacted, Not(HasSubstr("secret")));
  ProblemLog problems;
  const auto read = CoreFile::read(as_bytes(*redacted), "core", problems);
  ASSERT_TRUE(read);
  EXPECT_EQ(problems.count(), 0U);
  ASSERT_EQ(read->mappings().size(), 3U);
  EXPECT_EQ(read->mappings()[1].path, "parser");
  EXPECT_EQ(read->mappings()[1].begin, 0x555000002000U);
  EXPECT_EQ(read->mappings()[2].path, "/usr/lib/libc.so.6");
  const Bytes memory = read->memory(0x7ffe1000, 29);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(memory.data()), memory.size()),
            std::string("link: parser\0\0\0\0\0\0\0\0\0\0\0\0stack", 29));
}

TEST(RedactedPaths, PiecesOfTheirTextsAreRemovedFromStacks) {
  constexpr uint64_t kStack = 0x7ffe1000;
  constexpr uint64_t kOther = 0x7ffe9000000;
  constexpr uint64_t kStackPointer = 19;  // which of the stored registers
  // Vector registers have 32 bytes from the middle of a text.
  const std::string piece("ome/user/parser\0--password se\0ret\0user", 38);
  const std::string core = testing::CoreBuilder()
                               .thread(101, 11, kStack + 8 - kStackPointer)
                               .process(100, "/home/user/parser --password secret")
                               .mappings({{0x555000000000, 0x555000002000, 0, "/home/user/parser"}})
                               .memory(kStack, piece)
                               .memory(kOther, piece)
                               .build();
  const auto redacted = redacted_paths(as_bytes(core), "core");
  ASSERT_TRUE(redacted) << to_string(redacted.error());
  ProblemLog problems;
  const auto read = CoreFile::read(as_bytes(*redacted), "core", problems);
  ASSERT_TRUE(read);
  const auto text_at = [&](uint64_t address) {
    const Bytes memory = read->memory(address, piece.size());
    return std::string(reinterpret_cast<const char*>(memory.data()), memory.size());
  };
  EXPECT_EQ(text_at(kStack), std::string(26, '\0') + std::string(" se\0ret\0user", 12));
  EXPECT_EQ(text_at(kOther), piece);
}

TEST(RedactedPaths, AreSafeOnEveryPrefix) {
  for (const uint64_t first_register : {0x1000, 0x7ffe1000}) {  // not in the stack, and in it
    const std::string core = sample(first_register);
    for (size_t size = 0; size < core.size(); ++size) {
      const auto redacted = redacted_paths(as_bytes(core).first(size), "core");
      if (redacted) {
        EXPECT_EQ(redacted->size(), size);
      }
    }
  }
  EXPECT_FALSE(redacted_paths(as_bytes("no core file"), "core"));
}

}  // namespace
}  // namespace telltale::collect
