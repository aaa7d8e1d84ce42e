#include "cli/options/follow.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fnv.h"
#include "cli/options/recording_writer.h"

namespace telltale::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPoll = 100ms;
constexpr auto kLeastInterval = 1s;  // between the starts of two answers
constexpr int kMostShare = 10;       // of the time: a tenth
// Writers flush about once a second; a process has flushed everything when it has ended.
constexpr auto kQuietAfterEnd = 500ms;
constexpr auto kQuietUnknown = 5s;

}  // namespace

namespace {

// With the files of a folder, which may become more, instead of the folder.
std::vector<std::string> files_now(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    for (std::filesystem::directory_iterator at(name, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code unknown;
      if (at->is_regular_file(unknown)) files.push_back(at->path().string());
    }
  }
  return files;
}

// Adds a regular file's bytes to a hash.
void add_contents(const std::string& path, uint64_t& hash) {
  constexpr uint64_t kPrime = 0x9E37'79B9'7F4A'7C15;
  constexpr size_t kWords = size_t{1} << 17;  // a MiB
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::vector<uint64_t> words(kWords);
  while (true) {
    const ssize_t got = ::read(file, words.data(), kWords * sizeof(uint64_t));
    if (got <= 0) break;
    const auto bytes = static_cast<size_t>(got);
    if (bytes % sizeof(uint64_t) != 0)
      std::memset(reinterpret_cast<char*>(words.data()) + bytes, 0,
                  sizeof(uint64_t) - bytes % sizeof(uint64_t));
    const size_t count = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    for (size_t i = 0; i < count; ++i) hash = (hash ^ words[i]) * kPrime;
  }
  ::close(file);
}

}  // namespace

namespace {

// Records that recorders change after they have written them.
constexpr auto kRewritten =
    std::to_array<std::string_view>({"FileHeader", "BufferExtents", "LOST", "TIMETYPE"});

// The kind of the record in a line of text or JSON.
std::string_view record_of(std::string_view line) {
  constexpr std::string_view kJsonKey = R"("record":")";
  std::string_view rest = line;
  char end = ' ';
  if (line.starts_with('{')) {
    const size_t key = line.find(kJsonKey);
    if (key == std::string_view::npos) return {};
    rest.remove_prefix(key + kJsonKey.size());
    end = '"';
  } else {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));  // before the offset
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  return rest.substr(0, std::min(rest.find(end), rest.find('\n')));
}

// The first number in a line.
uint64_t offset_of(std::string_view line) {
  uint64_t offset = 0;
  const size_t digits = std::min(line.find_first_of("0123456789"), line.size());
  std::from_chars(line.data() + digits, line.data() + line.size(), offset);
  return offset;
}

constexpr uint64_t mixed(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9E37'79B9'7F4A'7C15 + (a << 6) + (a >> 2))) * 0x9E37'79B9'7F4A'7C15;
}

}  // namespace

void Follower::begin(std::vector<std::string> files) {
  files_ = std::move(files);
  answered_ = state_of_files();
  answer_began_ = Clock::now();
}

uint64_t Follower::size_of_files() const {
  uint64_t size = 0;
  for (const std::string& file : files_now(files_)) {
    struct stat status = {};
    if (::stat(file.c_str(), &status) == 0) size += static_cast<uint64_t>(status.st_size);
  }
  return size;
}

Follower::State Follower::state_of_files() {
  const auto begin = Clock::now();
  State state{.size = size_of_files(), .contents = 0};
  for (const std::string& file : files_now(files_)) add_contents(file, state.contents);
  // Large files are looked at less often.
  const auto end = Clock::now();
  next_look_ = end + std::max<Clock::duration>(kLeastInterval, kMostShare * (end - begin));
  return state;
}

bool Follower::more(const std::vector<int64_t>& writers) {
  // Answers that take long are repeated less often.
  const auto took = Clock::now() - answer_began_;
  const auto next_answer =
      answer_began_ + std::max<Clock::duration>(kLeastInterval, kMostShare * took);
  const auto waiting_since = Clock::now();
  while (true) {
    const bool known = !writers.empty() && std::ranges::find(writers, 0) == writers.end();
    const std::vector<std::string> files = files_now(files_);
    const bool ended = known && std::ranges::all_of(writers, [&](int64_t pid) {
                         return writer_has_ended(pid, files);
                       });
    const auto quiet = Clock::now() - waiting_since;
    const bool is_last = (ended && quiet >= kQuietAfterEnd) || (!known && quiet >= kQuietUnknown);
    // After looking for the writers.
    const bool has_grown = size_of_files() != answered_.size;
    const bool is_due = ended || Clock::now() >= next_answer;
    if (is_last || (is_due && (has_grown || Clock::now() >= next_look_))) {
      const auto now = Clock::now();
      const State state = state_of_files();
      if (state != answered_) {
        answered_ = state;
        answer_began_ = now;
        return true;
      }
      if (is_last) return false;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

void Follower::hold_back(std::string complaints, int status) {
  complaints_ = std::move(complaints);
  held_status_ = status;
}

void part_answers() { std::fputs(::isatty(STDOUT_FILENO) != 0 ? "\x1b[H\x1b[2J" : "\n", stdout); }

void NewLines::restart() {
  std::ranges::sort(fresh_);
  const auto middle = static_cast<std::ptrdiff_t>(told_.size());
  told_.insert(told_.end(), fresh_.begin(), fresh_.end());
  std::inplace_merge(told_.begin(), told_.begin() + middle, told_.end());
  fresh_.clear();
  file_ = 0;
  last_ = 0;
  repeats_ = 0;
  half_.clear();
  held_.clear();
  unfinished_.clear();
}

void NewLines::begin_file(std::string_view name) {
  file_ = fnv1a(name);
  last_ = 0;
}

bool NewLines::is_told(uint64_t key) const { return std::ranges::binary_search(told_, key); }

void NewLines::take_line(std::string_view line, std::string& out) {
  const std::string_view record = record_.empty() ? record_of(line) : record_;
  if (record == "Problem" || record == "Skipped") {
    unfinished_ += line;
    return;
  }
  uint64_t key = mixed(file_, fnv1a(line));
  repeats_ = key == last_ ? repeats_ + 1 : 0;
  last_ = key;
  if (repeats_ > 0) key = mixed(key, repeats_);
  if (is_told(key)) return;
  fresh_.push_back(key);
  if (std::ranges::find(kRewritten, record) != kRewritten.end()) {
    const uint64_t place = mixed(file_, mixed(fnv1a(record), offset_of(line)));
    if (is_told(place)) {
      held_ += line;
      fresh_.pop_back();
      return;
    }
    fresh_.push_back(place);
  }
  out += line;
}

std::string NewLines::take(std::string_view piece) {
  std::string out;
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    half_ += piece.substr(0, end == std::string_view::npos ? end : end + 1);
    if (end == std::string_view::npos) break;
    piece.remove_prefix(end + 1);
    take_line(half_, out);
    half_.clear();
  }
  return out;
}

std::string NewLines::rest() {
  return std::exchange(held_, {}) + std::exchange(unfinished_, {}) + std::exchange(half_, {});
}

}  // namespace telltale::cli
