#include "collect/store/roll_request.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>

#include "collect/log/report_log.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A store with one segment, which somebody writes to.
class RollRequest : public ::testing::Test {
 protected:
  RollRequest() {
    EXPECT_TRUE(store_.create());
    const std::ofstream created(segment_);
    writer_ = ::open(segment_.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(::flock(writer_, LOCK_EX), 0);
  }
  ~RollRequest() override {
    if (writer_ >= 0) ::close(writer_);
    fs::remove_all(store_.path());
  }

  // What somebody who asks gets if the writer, when asked, does `answer`.
  template <typename Answer>
  Result<bool> ask(const Answer& answer) {
    auto asked = std::async(std::launch::async, [this] { return request_roll(store_, 20s); });
    while (asked.wait_for(1ms) != std::future_status::ready) {
      if (take_roll_request(store_)) answer();
    }
    return asked.get();
  }

  static std::string fresh_folder() {
    std::string name = fs::temp_directory_path() / "telltale-roll-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }

  const StoreFolder store_{fresh_folder()};
  const std::string segment_ = segment_path(store_.log(), 1);
  int writer_ = -1;
};

TEST_F(RollRequest, IsAnsweredIfTheSegmentIsEnded) {
  EXPECT_FALSE(is_ended(segment_));
  const Result<bool> done = ask([this] { ::close(std::exchange(writer_, -1)); });
  ASSERT_TRUE(done.has_value());
  EXPECT_TRUE(*done);
  EXPECT_TRUE(is_ended(segment_));
}

TEST_F(RollRequest, IsAnsweredIfAnotherFoldRemovesTheSegment) {
  const Result<bool> done = ask([this] { fs::remove(segment_); });
  ASSERT_TRUE(done.has_value());
  EXPECT_TRUE(*done);
}

TEST_F(RollRequest, IsWithdrawnIfNobodyAnswers) {
  const Result<bool> done = request_roll(store_, 0s);
  ASSERT_TRUE(done.has_value());
  EXPECT_FALSE(*done);
  EXPECT_FALSE(take_roll_request(store_));
}

TEST_F(RollRequest, IsNotMadeIfNobodyWrites) {
  ::close(std::exchange(writer_, -1));
  const Result<bool> done = request_roll(store_, 20s);
  ASSERT_TRUE(done.has_value());
  EXPECT_TRUE(*done);
  EXPECT_FALSE(take_roll_request(store_));
}

}  // namespace
}  // namespace telltale::collect
