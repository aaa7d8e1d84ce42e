// A growing file that another process truncates.

#include "store.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "crash.h"

namespace telltale::st {
namespace {

// One thread finds the file too short when it wants another chunk, and the store is replaced. A
// thread that took slots before may still store to them.
TEST(TruncatedStore, TakesStoresAfterItWasReplaced) {
  char folder[] = "/tmp/store_test.XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/x.tlg";
  int error = 0;
  Store* const store = make_store(Layout::wide, path.c_str(), 0, 0, &error);
  ASSERT_NE(store, nullptr) << error;
  uint8_t* const slot = take_shared_slots(*store, 1);
  ASSERT_NE(slot, nullptr);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);

  Chunk chunk;
  uint64_t overwritten = 0;
  EXPECT_EQ(take_chunk(*store, kSmallestChunk, &chunk, &overwritten), -EFBIG);
  // Nothing is added to it, even if the file were long enough again.
  ASSERT_EQ(truncate(path.c_str(), 1 << 20), 0);
  EXPECT_EQ(take_chunk(*store, kSmallestChunk, &chunk, &overwritten), -EFBIG);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);

  retire_store(store);
  watch_cut_files();
  *const_cast<volatile uint8_t*>(slot) = 7;  // raises SIGBUS
  EXPECT_EQ(*slot, 7);
  unlink(path.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace telltale::st
