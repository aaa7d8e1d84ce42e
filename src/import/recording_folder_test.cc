#include "import/recording_folder.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/checkout.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;

class RecordingFolder : public ::testing::Test {
 protected:
  RecordingFolder() {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    fs::copy(std::string(testing::kSourceFolder) + "/tests/golden/mono/v17.mlpd", folder_);
    fs::copy(std::string(testing::kSourceFolder) + "/examples/sessions/sessions.mlpd.gz", folder_);
    std::ofstream(folder_ + "/notes.txt") << "no recording";
    options_.files = {folder_};
  }
  ~RecordingFolder() override { fs::remove_all(folder_); }

  std::string folder_ = fs::temp_directory_path() / "telltale-folder-XXXXXX";
  OpenOptions options_;
};

TEST_F(RecordingFolder, MeansTheRecordingsInIt) {
  const auto files = files_of(options_);
  ASSERT_TRUE(files);
  EXPECT_THAT(*files, ::testing::ElementsAre(folder_ + "/sessions.mlpd.gz", folder_ + "/v17.mlpd"));
}

// Otherwise an answer would be of a part of them.
TEST_F(RecordingFolder, DoesNotLeaveOutWhatCannotBeRead) {
  options_.limits.max_decompressed_bytes = 1000;
  const auto files = files_of(options_);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().cause, Error::Cause::limit);
  EXPECT_EQ(files.error().file, folder_ + "/sessions.mlpd.gz");
  options_.limits = {};
  fs::create_symlink("gone", folder_ + "/a.mlpd");
  const auto with_link = files_of(options_);
  ASSERT_FALSE(with_link);
  EXPECT_EQ(with_link.error().cause, Error::Cause::io);
  EXPECT_EQ(with_link.error().file, folder_ + "/a.mlpd");
}

}  // namespace
}  // namespace telltale
