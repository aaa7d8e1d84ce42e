#include "collect/log/report_log.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "bytes/input_file.h"
#include "collect/log/log_segment.h"
#include "collect/store/fold.h"

// What happens just before the next file is locked; once.
static std::function<void()> before_lock;

// Replaces the C library's.
extern "C" int flock(int file, int operation) {
  if (operation == LOCK_EX && before_lock) std::exchange(before_lock, nullptr)();
  return static_cast<int>(::syscall(SYS_flock, file, operation));
}

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

class StoreWithLog : public ::testing::Test {
 protected:
  StoreWithLog() { EXPECT_TRUE(store_.create()); }
  ~StoreWithLog() override { fs::remove_all(store_.path()); }

  static std::string fresh_folder() {
    std::string name = fs::temp_directory_path() / "telltale-log-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }

  static void append(ReportLog& log, const std::string& payload) {
    std::promise<bool> written;
    log.append(payload, [&](const Result<void>& result) { written.set_value(result.has_value()); });
    EXPECT_TRUE(written.get_future().get());
  }

  std::vector<std::string> payloads(uint64_t number) const {
    std::vector<std::string> found;
    const std::string path = segment_path(store_.log(), number);
    const Result<InputFile> file = InputFile::open(path);
    if (!file) return {file.error().detail};
    ProblemLog problems;
    SegmentReader reader(file->bytes(), path, problems);
    while (const auto entry = reader.next())
      found.emplace_back(reinterpret_cast<const char*>(entry->payload.data()),
                         entry->payload.size());
    return found;
  }

  const StoreFolder store_{fresh_folder()};
};

TEST_F(StoreWithLog, NoFoldTakesASegmentThatIsNotLockedYet) {
  ReportLog log(store_.log(), 7, uint64_t{1} << 20);
  before_lock = [&] { EXPECT_TRUE(fold(store_)); };
  append(log, "first");
  append(log, "second");
  EXPECT_FALSE(before_lock);
  EXPECT_THAT(payloads(7), ::testing::ElementsAre("first", "second"));
}

TEST_F(StoreWithLog, ASegmentIsNeverReplaced) {
  {
    ReportLog log(store_.log(), 7, uint64_t{1} << 20);
    append(log, "first");
  }
  ReportLog log(store_.log(), 7, uint64_t{1} << 20);
  std::promise<bool> written;
  log.append("second", [&](const Result<void>& result) { written.set_value(result.has_value()); });
  EXPECT_FALSE(written.get_future().get());
  EXPECT_THAT(payloads(7), ::testing::ElementsAre("first"));
}

}  // namespace
}  // namespace telltale::collect
