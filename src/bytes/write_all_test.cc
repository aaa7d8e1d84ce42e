#include "bytes/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "bytes/as_bytes.h"

namespace telltale {
namespace {

// A pipe takes at most 64 KiB at once.
TEST(WriteAll, WritesMoreThanOneCallTakes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  std::string text(1'000'000, '.');
  for (size_t i = 0; i < text.size(); i += 1000) text[i] = static_cast<char>('a' + i / 1000 % 26);
  std::string read;
  std::thread reader([&] {
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
      read.append(buffer.data(), static_cast<size_t>(n));
  });
  EXPECT_TRUE(write_all(ends[1], as_bytes(text), "pipe"));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(read, text);
}

TEST(WriteAll, FailureNamesFileAndStep) {
  const Result<void> done = write_all(-1, as_bytes("text"), "list", "cannot be copied");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause, Error::Cause::io);
  EXPECT_EQ(to_string(done.error()), "list: cannot be copied: Bad file descriptor");
  EXPECT_TRUE(write_all(-1, {}, "list")) << "nothing is written";
}

}  // namespace
}  // namespace telltale
