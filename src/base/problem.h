#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telltale {

// Something in an input that is missing, broken or not understood, and what it cost. Decoding went on.
// These are the rows of `info --json`'s "problems".
struct Problem {
  enum class Kind : uint8_t {
    torn_tail,   // the writer died: the input ends inside a record or buffer
    corruption,  // bytes that cannot be what the format says
    loss,        // the input itself says that something is missing
    oddity,      // readable, but not by the letter of the format
  };
  Kind kind = Kind::corruption;
  uint64_t offset = 0;  // of the first byte concerned, from the start of the file
  std::string file;     // path as the user gave it
  std::string record;   // kind of record or buffer concerned
  std::string message;
  uint64_t lost_bytes = 0;
};

std::string to_string(const Problem& problem);

// Collects problems: all of them are counted, the first `keep` are kept whole, so that a hostile input cannot make
// the list grow. Not thread-safe; merge() one log per worker.
class ProblemLog {
 public:
  explicit ProblemLog(size_t keep = 1000) : keep_(keep) {}

  void add(Problem problem);
  // Appends the problems of `other`, up to this log's limit; counts and losses add up.
  void merge(const ProblemLog& other);
  // Puts the kept problems in order of file and offset, so that the result does not depend on threads.
  void sort();

  [[nodiscard]] const std::vector<Problem>& kept() const { return kept_; }
  [[nodiscard]] uint64_t count() const { return count_; }  // oddities included
  [[nodiscard]] uint64_t lost_bytes() const { return lost_bytes_; }
  // True when something was lost or broken; oddities alone do not count.
  [[nodiscard]] bool damaged() const { return damage_ != 0; }
  [[nodiscard]] uint64_t damage_count() const { return damage_; }

 private:
  size_t keep_;
  std::vector<Problem> kept_;
  uint64_t count_ = 0;
  uint64_t damage_ = 0;
  uint64_t lost_bytes_ = 0;
};

}  // namespace telltale
