#include "cli/options/follow.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/options/recording_writer.h"

namespace telltale::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPoll = 100ms;
constexpr auto kLeastInterval = 1s;  // between the starts of two answers
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

}  // namespace

void Follower::begin(std::vector<std::string> files) {
  files_ = std::move(files);
  answered_size_ = size_of_files();
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

bool Follower::more(const std::vector<int64_t>& writers) {
  // Answers that take long are repeated less often.
  const auto took = Clock::now() - answer_began_;
  const auto next_answer = answer_began_ + std::max<Clock::duration>(kLeastInterval, 10 * took);
  const auto waiting_since = Clock::now();
  while (true) {
    const bool known = !writers.empty() && std::ranges::find(writers, 0) == writers.end();
    const std::vector<std::string> files = files_now(files_);
    const bool ended = known && std::ranges::all_of(writers, [&](int64_t pid) {
                         return writer_has_ended(pid, files);
                       });
    const uint64_t size = size_of_files();  // after looking for the writers
    const auto now = Clock::now();
    if (size != answered_size_) {
      if (!ended && now < next_answer) {
        std::this_thread::sleep_for(kPoll);
        continue;
      }
      answered_size_ = size;
      answer_began_ = now;
      return true;
    }
    const auto quiet = now - waiting_since;
    if (ended && quiet >= kQuietAfterEnd) return false;
    if (!known && quiet >= kQuietUnknown) return false;
    std::this_thread::sleep_for(kPoll);
  }
}

void Follower::hold_back(std::string complaints, int status) {
  complaints_ = std::move(complaints);
  held_status_ = status;
}

void part_answers() { std::fputs(::isatty(STDOUT_FILENO) != 0 ? "\x1b[H\x1b[2J" : "\n", stdout); }

void NewLines::restart() {
  line_ = 0;
  half_.clear();
  torn_.clear();
  held_.clear();
  held_lines_ = 0;
}

void NewLines::take_line(std::string_view line, std::string& out) {
  if (line.find("Problem kind=torn_tail ") < 16 ||
      line.find(R"("record":"Problem","kind":"torn_tail")") < 48) {
    torn_ += line;  // precedes the complete records of a torn buffer
    return;
  }
  if (line_++ < told_) return;
  const bool may_change = line.find(" Problem ") < 16 || line.find(" Skipped ") < 16 ||
                          line.find(R"("record":"Problem")") < 48 ||
                          line.find(R"("record":"Skipped")") < 48;
  held_ += line;
  ++held_lines_;
  if (may_change) return;
  out += held_;
  told_ += held_lines_;
  held_.clear();
  held_lines_ = 0;
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
  told_ += held_lines_;
  held_lines_ = 0;
  return std::exchange(torn_, {}) + std::exchange(held_, {}) + std::exchange(half_, {});
}

}  // namespace telltale::cli
