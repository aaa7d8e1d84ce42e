#include "bytes/map_resident.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "bytes/cursor.h"
#include "support/sanitized.h"

namespace telltale {
namespace {

uint64_t sum_of(Bytes bytes) {
  uint64_t sum = 0;
  for (const std::byte byte : bytes) sum += std::to_integer<uint64_t>(byte);
  return sum;
}

long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

#ifdef MADV_POPULATE_READ

TEST(MapResident, AFileInMemoryIsReadWithoutPageFaults) {
  std::vector<std::byte> content((size_t{33} << 20) + 5);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i * 7);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_TRUE(file);
  ASSERT_EQ(std::fwrite(content.data(), 1, content.size(), file.get()), content.size());
  ASSERT_EQ(std::fflush(file.get()), 0);
  void* const mapped =
      ::mmap(nullptr, content.size(), PROT_READ, MAP_PRIVATE, ::fileno(file.get()), /*offset=*/0);
  ASSERT_NE(mapped, MAP_FAILED);
  const bool populates = ::madvise(mapped, 1, MADV_POPULATE_READ) == 0;
  const Bytes bytes(static_cast<const std::byte*>(mapped), content.size());
  map_resident(bytes);
  const long before = page_faults();
  const uint64_t sum = sum_of(bytes);
  const long faults = page_faults() - before;
  EXPECT_EQ(sum, sum_of(content));
  // A page fault maps 2 MiB at most, so there would be 16 or more.
  if (populates && !testing::kSanitized) {
    EXPECT_LT(faults, 4);
  }
  ::munmap(mapped, content.size());
}

#endif

TEST(MapResident, TakesAnyBytes) {
  std::vector<std::byte> memory(size_t{5} << 20, std::byte{3});
  map_resident(std::span(memory).subspan(1));
  map_resident(std::span(memory).first(7));
  map_resident({});
  EXPECT_EQ(sum_of(memory), 3 * memory.size());
}

}  // namespace
}  // namespace telltale
