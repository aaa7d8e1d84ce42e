#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::cli {

// --follow: repeats an answer about recordings that are still being written whenever the files
// change: recorders that map their files also write into what is there. An unfinished last record
// is not damage then, so problems are held back until the last answer.
class Follower {
 public:
  // Call before the first answer. Looks at the files by name.
  void begin(std::vector<std::string> files);

  // Call after an answer. Waits until the files have changed and the next answer is due; returns
  // true. Returns false at the end: the writing processes have ended or closed the files and the
  // files have not changed since, or the writers are unknown and the files have not changed for
  // some seconds. `writers` are process ids; 0 means unknown.
  bool more(const std::vector<int64_t>& writers);

  // The problems of the last answer, as report_problems prints them, and the matching exit status.
  void hold_back(std::string complaints, int status);
  [[nodiscard]] const std::string& complaints() const { return complaints_; }
  [[nodiscard]] int held_status() const { return held_status_; }

 private:
  using Clock = std::chrono::steady_clock;
  // What tells whether files have changed.
  struct State {
    uint64_t size = 0;
    uint64_t contents = 0;  // a hash
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] uint64_t size_of_files() const;
  [[nodiscard]] State state_of_files();

  std::vector<std::string> files_;
  State answered_;
  Clock::time_point answer_began_;
  Clock::time_point next_look_;  // at the contents
  std::string complaints_;
  int held_status_ = 0;
};

// Separates two answers on standard output: clears the screen of a terminal, otherwise prints an
// empty line.
void part_answers();

// Passes only the new lines of a text that is generated repeatedly and grows. Holds back lines
// about damage at the end until something follows them.
class NewLines {
 public:
  // Starts the next generation of the text.
  void restart();
  // Takes the next piece, not necessarily whole lines; returns what is new and final.
  std::string take(std::string_view piece);
  // What take() held back; call after the last generation.
  std::string rest();

 private:
  void take_line(std::string_view line, std::string& out);

  uint64_t told_ = 0;  // lines passed, over all generations
  uint64_t line_ = 0;  // of this generation
  std::string half_;   // the start of an incomplete line
  std::string torn_;   // lines about something unfinished
  std::string held_;   // lines that may still change
  uint64_t held_lines_ = 0;
};

}  // namespace telltale::cli
