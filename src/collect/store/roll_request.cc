#include "collect/store/roll_request.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "collect/log/durable_file.h"
#include "collect/log/report_log.h"

namespace telltale::collect {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

}  // namespace

bool is_ended(const std::string& segment) {
  const int file = ::open(segment.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool ended = ::flock(file, LOCK_SH | LOCK_NB) == 0;
  ::close(file);
  return ended;
}

Result<bool> request_roll(const StoreFolder& store, std::chrono::seconds patience) {
  const auto numbers = store.segments();
  if (!numbers) return std::unexpected(numbers.error());
  std::vector<std::string> written;
  for (const uint64_t number : *numbers) {
    if (std::string path = segment_path(store.log(), number); !is_ended(path))
      written.push_back(std::move(path));
  }
  // Another fold may remove a segment once it is ended.
  const auto is_done = [](const std::string& path) {
    return is_ended(path) || ::access(path.c_str(), F_OK) != 0;
  };
  if (std::ranges::all_of(written, is_done)) return true;
  if (auto asked = replace_file(store.roll_request(), ""); !asked)
    return std::unexpected(asked.error());
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!std::ranges::all_of(written, is_done)) {
    if (std::chrono::steady_clock::now() > end) {
      take_roll_request(store);
      return false;
    }
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

bool take_roll_request(const StoreFolder& store) {
  return ::unlink(store.roll_request().c_str()) == 0;
}

}  // namespace telltale::collect
