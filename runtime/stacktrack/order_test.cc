#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "configure.h"

namespace telltale::st {
namespace {

std::string record(uint16_t flags, uint32_t sequence, char fill) {
  std::string bytes(24, fill);
  store_record(Layout::classic, reinterpret_cast<uint8_t*>(bytes.data()),
               {flags, 0, 0x60c, sequence}, {{static_cast<uint64_t>(fill), 0}});
  return bytes;
}

// A record with its text, next to each other, as the recorder writes them.
std::string group(RecordType type, uint32_t sequence, int texts, char fill) {
  std::string bytes =
      record(type_flags(type, texts > 0 ? stacktrack::kHasInfo : 0), sequence, fill);
  for (int i = 0; i < texts; ++i) {
    bytes += record(type_flags(RecordType::info, i + 1 == texts ? stacktrack::kInfoEnd : 0),
                    sequence, fill);
  }
  return bytes;
}

TEST(PutInOrder, SortsGroupsAndLeavesOutEmptySlots) {
  std::vector<std::string> expected = {group(RecordType::prologue, 0, 0, 'p'),
                                       group(RecordType::process_info, 0, 0, 'i')};
  for (uint32_t sequence = 1; sequence < 200; ++sequence) {
    if (sequence % 7 == 0) expected.push_back(group(RecordType::file_location, sequence, 3, 'f'));
    if (sequence % 7 == 0) expected.push_back(group(RecordType::source_location, sequence, 2, 's'));
    expected.push_back(group(RecordType::hit, sequence, sequence % 5 == 0 ? 4 : 0, 'h'));
  }
  // Threads fill their parts in any order; records that belong to no checkpoint and a checkpoint's
  // context keep their order.
  std::vector<std::string> shuffled(expected.begin() + 2, expected.end());
  std::shuffle(shuffled.begin(), shuffled.end(), std::minstd_rand(1));
  std::stable_sort(shuffled.begin(), shuffled.end(),
                   [](const std::string& a, const std::string& b) {
                     return (a[0] == 1) > (b[0] == 1);  // files are posted before places
                   });
  char folder[] = "/tmp/order_test.XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/x.tlg";
  std::ofstream(path, std::ios::binary) << expected[0] << expected[1] << std::string(24 * 5, '\0');
  for (size_t i = 0; i < shuffled.size(); ++i) {
    std::ofstream(path, std::ios::binary | std::ios::app)
        << shuffled[i] << std::string(i % 3 * 24, '\0');
  }
  EXPECT_EQ(put_in_order(path.c_str()), 0);
  std::ifstream in(path, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(in), {}};
  std::string all;
  for (const std::string& each : expected) all += each;
  EXPECT_TRUE(found == all) << found.size() << " bytes of " << all.size();
  EXPECT_EQ(put_in_order((path + ".not there").c_str()), -ENOENT);
  remove_file(path.c_str());
  EXPECT_EQ(::remove(folder), 0);
}

}  // namespace
}  // namespace telltale::st
