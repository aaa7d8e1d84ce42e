#include "cli/options/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

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
  explicit Shower(std::function<std::string()> words)
      : words_(std::move(words)), thread_([this] { show(); }) {}
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
      print_message("\r{}\x1b[K", words_());
    }
    if (any) print_message("\r\x1b[K");
  }

  std::function<std::string()> words_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

std::unique_ptr<Shower>& shower() {
  static std::unique_ptr<Shower> only;
  return only;
}

uint64_t parts_of(const Recording& recording) {
  const TimedCalls* const calls = recording.timed_calls();
  uint64_t parts = 0;
  if (calls != nullptr)
    for (const EventStream& stream : calls->streams()) parts += stream.shards;
  return parts;
}

}  // namespace

ProgressLine::ProgressLine(const Recording& recording) : ProgressLine(parts_of(recording)) {}

ProgressLine::ProgressLine(uint64_t items) {
  if (items < 2 || ::isatty(STDERR_FILENO) == 0) return;
  shower() = std::make_unique<Shower>([items, begun = parallel_items_done()] {
    return progress_words(parallel_items_done() - begun, items);
  });
}

ProgressLine::ProgressLine(std::string_view work) {
  if (::isatty(STDERR_FILENO) == 0) return;
  shower() = std::make_unique<Shower>([words = std::string(work)] { return words; });
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
