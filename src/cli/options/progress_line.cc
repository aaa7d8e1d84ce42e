#include "cli/options/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/progress.h"
#include "cli/options/message.h"
#include "import/timed_calls.h"

namespace telltale::cli {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kPatienceMs = 500;

// Shows the line from a separate thread.
class Shower {
 public:
  explicit Shower(uint64_t parts)
      : parts_(parts), begun_(parallel_items_done()), thread_([this] { show(); }) {}
  Shower(const Shower&) = delete;
  Shower& operator=(const Shower&) = delete;
  ~Shower() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void show() {
    std::unique_lock lock(mutex_);
    bool any = false;
    for (milliseconds wait(progress_patience_ms(kPatienceMs));; wait = milliseconds(100)) {
      if (wait.count() != 0 && wake_.wait_for(lock, wait, [this] { return ended_; })) break;
      any = true;
      print_message("\r{}\x1b[K", progress_words(parallel_items_done() - begun_, parts_));
    }
    if (any) print_message("\r\x1b[K");
  }

  uint64_t parts_;
  uint64_t begun_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

std::unique_ptr<Shower>& shower() {
  static std::unique_ptr<Shower> only;
  return only;
}

}  // namespace

ProgressLine::ProgressLine(const Recording& recording) {
  const TimedCalls* const calls = recording.timed_calls();
  if (calls == nullptr || ::isatty(STDERR_FILENO) == 0) return;
  uint64_t parts = 0;
  for (const EventStream& stream : calls->streams()) parts += stream.shards;
  if (parts > 1) shower() = std::make_unique<Shower>(parts);
}

ProgressLine::~ProgressLine() { end(); }

void ProgressLine::end() { shower().reset(); }

uint64_t progress_patience_ms(uint64_t usual_ms) {
  int ms = static_cast<int>(usual_ms);
  if (const char* const text = std::getenv("TELLTALE_PROGRESS_MS")) {
    const std::string_view digits = text;
    std::from_chars(digits.data(), digits.data() + digits.size(), ms);
  }
  return ms < 0 ? 0 : static_cast<uint64_t>(ms);
}

std::string progress_words(uint64_t done, uint64_t parts) {
  const uint64_t percent = parts == 0 ? 0 : done % parts * 100 / parts;
  return fmt::format("{}: {} %", done < parts ? "reading" : "reading again", percent);
}

}  // namespace telltale::cli
