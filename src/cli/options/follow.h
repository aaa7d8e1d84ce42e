#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::cli {

// Answers about recordings that are still being written (--follow): the answer is given again
// whenever the files have grown. An unfinished last record is not damage then, so what an answer
// has to complain about is held back until the last one.
class Follower {
 public:
  // To be called before the first answer. The files are looked at by name.
  void begin(std::vector<std::string> files);

  // To be called after an answer. Waits until the files have grown and it is time to answer again,
  // and says true; false when nothing more is to be expected: the processes that write them have
  // ended, or let go of them, and the files have not grown since, or it is not known who writes
  // them and they have not grown for some seconds. `writers` are process ids; 0 means unknown.
  bool more(const std::vector<int64_t>& writers);

  // Complaints of the answer given last, as report_problems would have printed them, and the exit
  // status that goes with them.
  void hold_back(std::string complaints, int status);
  [[nodiscard]] const std::string& complaints() const { return complaints_; }
  [[nodiscard]] int held_status() const { return held_status_; }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] uint64_t size_of_files() const;

  std::vector<std::string> files_;
  uint64_t answered_size_ = 0;
  Clock::time_point answer_began_;
  std::string complaints_;
  int held_status_ = 0;
};

// Parts two answers on standard output: clears a terminal's screen, leaves an empty line elsewhere.
void part_answers();

// Lets only the new lines of a text through that is made anew, longer, again and again. Lines that
// tell of damage at the end of what was there are not believed before something follows them.
class NewLines {
 public:
  // Begins the next making of the text.
  void restart();
  // Takes the next piece of it, whole lines or not; returns what is new and certain.
  std::string take(std::string_view piece);
  // What take() held back; for the last time that the text is made.
  std::string rest();

 private:
  void take_line(std::string_view line, std::string& out);

  uint64_t told_ = 0;  // lines let through, over all makings
  uint64_t line_ = 0;  // of this making
  std::string half_;   // a line's beginning
  std::string torn_;   // lines that say that something is unfinished
  std::string held_;   // lines that may still change
  uint64_t held_lines_ = 0;
};

}  // namespace telltale::cli
