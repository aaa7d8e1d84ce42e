// Values that do not fit the classic layout's 16 bits are rejected or counted.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <telltale/stacktrack.hpp>
#include <vector>

#include "sinks.h"

namespace telltale::st {
namespace {

struct Found {
  std::vector<uint32_t> scopes;  // of the HITs, in order
  std::map<uint32_t, uint32_t> lines;
  std::map<uint32_t, std::string> values;
};

Found read(const std::string& path) {
  using namespace stacktrack;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Found found;
  for (size_t at = 0; at + classic::kEntryBytes <= bytes.size(); at += classic::kEntryBytes) {
    classic::Head head;
    std::memcpy(&head, &bytes[at], sizeof(head));
    const auto type = static_cast<RecordType>(head.flags & kTypeMask);
    classic::Hit hit;
    std::memcpy(&hit, &bytes[at + classic::kPayloadOffset], sizeof(hit));
    classic::SourceLocation site;
    std::memcpy(&site, &bytes[at + classic::kPayloadOffset], sizeof(site));
    if (type == RecordType::hit) found.scopes.push_back(hit.scope_index);
    if (type == RecordType::hit && (head.flags & kHasInfo) != 0) {
      found.values[hit.scope_index] =
          std::string(&bytes[at + classic::kEntryBytes + classic::kPayloadOffset]);
    }
    if (type == RecordType::source_location) found.lines[site.scope_index] = site.linenum;
  }
  return found;
}

TEST(Classic, CountsWhatDoesNotFit) {
  char folder[] = "/tmp/classic_test.XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/x.tlg";
  FileOptions options;
  options.path = path.c_str();
  options.layout = Layout::classic;
  const int sink = sink_control::open(options);
  if (sink == -EOVERFLOW) GTEST_SKIP() << "the process id does not fit";
  ASSERT_GE(sink, 0);
  Site far{"file", "far", 70000, kStepStyle, kLastClassicScope, 0};
  Site farther{"file", "farther", 1, kStepStyle, kLastClassicScope + 1, 0};
  detail::hit(far, 0);
  detail::hit(farther, 0);
  __atomic_store_n(&settings.sequence, kLastClassicSequence - 1, __ATOMIC_RELAXED);
  detail::hit(far, 0);
  detail::hit(far, 0);
  __atomic_store_n(&settings.sequence, 1000, __ATOMIC_RELAXED);
  const Statistics lost = sink_control::statistics();
  EXPECT_EQ(lost.unfit, 2U);
  EXPECT_EQ(lost.names, 1U) << "the line";
  EXPECT_EQ(sink_control::close(sink), 0);
  const Found found = read(path);
  const std::map<uint32_t, uint32_t> lines = {
      {kLastClassicScope, 0}, {kLastClassicScope + 4, 0}, {kLastClassicScope + 6, 0}};
  EXPECT_EQ(found.lines, lines);
  const std::map<uint32_t, std::string> values = {{kLastClassicScope + 4, "2"},
                                                  {kLastClassicScope + 6, "1"}};
  EXPECT_EQ(found.values, values);
  EXPECT_EQ(std::count(found.scopes.begin(), found.scopes.end(), kLastClassicScope), 2);
  EXPECT_EQ(found.scopes.size(), 4U);
  remove_file(path.c_str());
  EXPECT_EQ(::remove(folder), 0);
}

}  // namespace
}  // namespace telltale::st
