#include "untouched_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace {

using telltale::sampler::UntouchedPages;

// More pages than are looked up at a time.
class UntouchedPagesTest : public testing::Test {
 protected:
  static constexpr std::size_t kPages = 1000;
  void SetUp() override {
    page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory = ::mmap(nullptr, kPages * page_, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ::madvise(memory, kPages * page_, MADV_NOHUGEPAGE);
    memory_ = static_cast<char*>(memory);
  }
  void TearDown() override { ::munmap(memory_, kPages * page_); }

  std::size_t page_ = 0;
  char* memory_ = nullptr;
};

TEST_F(UntouchedPagesTest, NothingIsKnownBeforeItIsOpened) {
  UntouchedPages pages;
  EXPECT_FALSE(pages.contain(memory_, 1));
}

TEST_F(UntouchedPagesTest, AWriteTouchesOnePage) {
  memory_[700 * page_ + 5] = 1;
  UntouchedPages pages;
  pages.open();
  EXPECT_TRUE(pages.contain(memory_, 700 * page_));
  EXPECT_FALSE(pages.contain(memory_, 700 * page_ + 1));
  EXPECT_FALSE(pages.contain(memory_ + 701 * page_ - 1, 1));
  EXPECT_TRUE(pages.contain(memory_ + 701 * page_, 299 * page_));
  EXPECT_FALSE(pages.contain(memory_ + 699 * page_, 3 * page_));
  // Again, backwards: what was read is kept only for later pages.
  EXPECT_TRUE(pages.contain(memory_, 1));
  EXPECT_FALSE(pages.contain(memory_, 0));
}

TEST_F(UntouchedPagesTest, ZerosThatWereReadCountAsTouched) {
  EXPECT_EQ(const_cast<volatile char*>(memory_)[page_], 0);
  UntouchedPages pages;
  pages.open();
  EXPECT_TRUE(pages.contain(memory_, page_));
  EXPECT_FALSE(pages.contain(memory_ + page_, page_));
}

TEST_F(UntouchedPagesTest, MemoryThatDoesNotExist) {
  UntouchedPages pages;
  pages.open();
  // Behind the end of all addresses: the file has no entry.
  const auto* const last = reinterpret_cast<const char*>(~std::uintptr_t{7});  // NOLINT: no object
  EXPECT_FALSE(pages.contain(last, 4));
}

}  // namespace
