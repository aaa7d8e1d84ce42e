#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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

// Passes only the new lines of a dump that is generated repeatedly. A recorder that maps its file
// adds records at many places, so that new lines may be anywhere. The memory is 8 bytes a line.
class NewLines {
 public:
  // `record`: the kind of all records, if the lines do not name it (CSV); otherwise empty.
  explicit NewLines(std::string record = {}) : record_(std::move(record)) {}

  // Starts the next generation of the text.
  void restart();
  // The lines that follow are of this file. Before the first call, they are of none.
  void begin_file(std::string_view name);
  // Takes the next piece, not necessarily whole lines; returns what is new and final.
  std::string take(std::string_view piece);
  // What take() held back, of the last generation: lines about damage and unused space, and records
  // that were passed and that the recorder has changed since.
  std::string rest();

 private:
  void take_line(std::string_view line, std::string& out);
  [[nodiscard]] bool is_told(uint64_t key) const;

  std::string record_;
  uint64_t file_ = 0;            // a hash of its name
  std::vector<uint64_t> told_;   // hashes of the lines of earlier generations, sorted
  std::vector<uint64_t> fresh_;  // those of this generation
  uint64_t last_ = 0;            // the hash of the previous line
  uint64_t repeats_ = 0;         // of the previous line
  std::string half_;             // the start of an incomplete line
  std::string held_;             // records that the recorder has changed
  std::string unfinished_;       // lines about damage and unused space
};

}  // namespace telltale::cli
