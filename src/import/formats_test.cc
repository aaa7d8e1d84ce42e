#include "import/formats.h"

#include <gtest/gtest.h>

#include <string>

#include "bytes/as_bytes.h"

namespace telltale {
namespace {

// Their magic number is an integer in the machine's byte order.
TEST(Formats, ProfilesOfXrayAreNotTracesAndThatIsSaid) {
  for (const std::string magic : {"forpyarx", "xrayprof"}) {
    const std::string file =
        magic + std::string("\x24\x04\x18\x20\0\0\0\0", 8) + std::string(16, 0);
    const auto format = find_format(InputFile::from_memory("profile", as_bytes(file)), {});
    ASSERT_FALSE(format);
    EXPECT_TRUE(format.error().detail.find("xray-profiling") != std::string::npos)
        << to_string(format.error());
  }
}

}  // namespace
}  // namespace telltale
