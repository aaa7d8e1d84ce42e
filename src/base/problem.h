#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telltale {

// Something in an input that is missing, broken or unknown, and the resulting loss. Decoding
// continued after it. These are the rows of `info --json`'s "problems".
struct Problem {
  enum class Kind : uint8_t {
    torn_tail,   // the writer died: the input ends inside a record or buffer
    corruption,  // bytes that the format does not allow here
    loss,        // the input itself reports that something is missing
    by_design,   // left out on purpose: by a ring that keeps only a part
    oddity,      // readable, but not by the letter of the format
    names,       // the recording is whole, but its program's file is needed to name its functions
    estimate,    // nothing is missing: the numbers of an answer are not those of the recording
    copies,      // nothing is missing: what the input has more than once counts once
  };
  Kind kind = Kind::corruption;
  uint64_t offset = 0;  // of the first affected byte, from the start of the file
  std::string file;     // path as given by the user
  std::string record;   // affected kind of record or buffer
  std::string message;
  uint64_t lost_bytes = 0;
};

// True for what means damage: a sound recording, whole as it was asked for, has none of it.
constexpr bool is_damage(Problem::Kind kind) {
  return kind == Problem::Kind::torn_tail || kind == Problem::Kind::corruption ||
         kind == Problem::Kind::loss;
}

// The message with its place in the file, which problems about names and estimates do not have.
std::string to_string(const Problem& problem);

// Collects problems: all are counted, and the first `keep` in order of file and offset are kept
// completely, so that a hostile input cannot make the list grow and the result does not depend on
// the order of discovery. Not thread-safe; merge() one log per worker.
class ProblemLog {
 public:
  explicit ProblemLog(size_t keep = 1000) : keep_(keep) {}

  void add(Problem problem);
  // Appends the problems of `other`, up to this log's limit; counts and losses add up.
  void merge(const ProblemLog& other);

  [[nodiscard]] std::vector<Problem> kept() const;         // in order of file and offset
  [[nodiscard]] uint64_t count() const { return count_; }  // oddities included
  [[nodiscard]] uint64_t lost_bytes() const { return lost_bytes_; }
  // True if something was lost or broken; oddities and what is missing by design do not count.
  [[nodiscard]] bool damaged() const { return damage_ != 0; }
  [[nodiscard]] uint64_t damage_count() const { return damage_; }  // problems with is_damage()

 private:
  void trim(size_t limit);

  size_t keep_;
  std::vector<Problem> kept_;  // a superset of the kept ones; trimmed occasionally
  uint64_t count_ = 0;
  uint64_t damage_ = 0;
  uint64_t lost_bytes_ = 0;
};

}  // namespace telltale
