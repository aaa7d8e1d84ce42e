#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/calls/walk_calls.h"
#include "model/call_sink.h"
#include "model/function_map.h"
#include "model/function_names.h"
#include "model/waiting.h"

namespace telltale {

// Numbers names, so that calls of two recordings can be compared.
class NameNumbers {
 public:
  uint32_t number(const std::string& name) {
    const auto [place, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(numbers_.size()));
    if (is_new) names_.push_back(&place->first);
    return place->second;
  }
  [[nodiscard]] const std::string& name(uint32_t number) const { return *names_[number]; }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(names_.size()); }

 private:
  std::map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> names_;
};

// The calls of one thread in the order in which they began, each followed by the calls inside it.
struct CallSequence {
  struct Call {
    uint32_t name = 0;    // a NameNumbers' number
    uint32_t size = 1;    // calls of the subtree: itself, and those inside it
    uint64_t hash = 0;    // of the names and the nesting of the subtree
    uint64_t number = 0;  // in the thread, from 1: as replay shows it
  };
  std::vector<Call> calls;
  bool whole = true;  // false: it has more calls than were to be kept
};

// Waits are no calls of it. The filter's window selects calls that begin in it. Keeps at most
// `most` calls, below 2^32. `numbers` gets the functions' full names.
template <EventSource Source>
CallSequence collect_call_sequence(const Source& source, size_t stream, const CallFilter& filter,
                                   size_t most, NameNumbers& numbers, ProblemLog& problems) {
  static constexpr size_t kNotKept = ~size_t{0};
  struct Sink : IgnoreCalls {
    Sink(const FunctionNames& all_names, PlayedWindow kept, size_t limit, NameNumbers& to,
         CallSequence& out)
        : names(all_names), window(kept), most_calls(limit), numbers(to), sequence(out) {}

    void open(Ticks time, FunctionId function) {
      if (function == kWaiting) return;
      size_t index = kNotKept;
      if (sequence.calls.size() == most_calls) {
        sequence.whole = false;
      } else if (window.holds(time)) {
        uint32_t& known = number_of[function];  // plus 1
        if (known == 0) known = numbers.number(names.describe(function).name) + 1;
        index = sequence.calls.size();
        sequence.calls.push_back({.name = known - 1, .hash = mixed(known), .number = call});
      }
      frames.push_back(index);
    }
    void close(Ticks, FunctionId function, CloseKind) {
      if (function == kWaiting) return;
      const size_t index = frames.back();
      frames.pop_back();
      if (index == kNotKept) return;
      CallSequence::Call& done = sequence.calls[index];
      done.size = static_cast<uint32_t>(sequence.calls.size() - index);
      done.hash = mixed(done.hash + 1);
      for (size_t i = frames.size(); i-- > 0;) {
        if (frames[i] == kNotKept) continue;
        CallSequence::Call& caller = sequence.calls[frames[i]];
        caller.hash = mixed(caller.hash ^ done.hash) + done.hash;
        break;
      }
    }
    // The finaliser of SplitMix64 (S. Vigna, public domain).
    static uint64_t mixed(uint64_t value) {
      value += 0x9E37'79B9'7F4A'7C15;
      value = (value ^ value >> 30) * 0xBF58'476D'1CE4'E5B9;
      value = (value ^ value >> 27) * 0x94D0'49BB'1331'11EB;
      return value ^ value >> 31;
    }

    uint64_t call = 0;
    const FunctionNames& names;
    PlayedWindow window;
    size_t most_calls;
    NameNumbers& numbers;
    CallSequence& sequence;
    FunctionMap<uint32_t> number_of;
    std::vector<size_t> frames;  // of open calls: index in sequence.calls, or kNotKept
  };
  CallSequence sequence;
  Sink sink(source.functions(), window_of(source, filter), most, numbers, sequence);
  CallWalk walk(source, stream, filter, sink);
  while (walk.next(problems)) {
  }
  return sequence;
}

// One place where two sequences differ, or a run of subtrees that they share.
struct SequenceEdit {
  enum class Kind : uint8_t {
    same,     // `count` subtrees, one after the other, are equal
    changed,  // the call is in both, but what is inside differs: the next edits, one deeper
    removed,  // only in A
    added,    // only in B
    moved,    // in both, elsewhere: `a` is its place in A; listed at the place in A
    arrived,  // the same, listed at the place in B
  };
  static constexpr size_t kNowhere = ~size_t{0};
  Kind kind = Kind::same;
  uint32_t depth = 0;   // number of calls around it
  uint32_t count = 1;   // subtrees, of the same name unless `same`
  uint64_t calls = 0;   // in all of them
  size_t a = kNowhere;  // index of the first in A's calls
  size_t b = kNowhere;  // likewise in B's
};

struct SequenceAlignment {
  std::vector<SequenceEdit> edits;  // in order; a call precedes those inside it
  uint64_t same = 0;                // calls that both have, in the same order and nesting
  uint64_t only_a = 0;
  uint64_t only_b = 0;
  uint64_t moved = 0;  // calls of subtrees that are elsewhere
  // Searches for the shortest alignment that were given up (shortest_way.h): more calls than
  // necessary may count as removed and added there.
  uint64_t approximate = 0;
  // Places that are nested too deeply to be aligned: all their calls count as removed and added.
  uint64_t unaligned = 0;
};

// Aligns the calls level by level: of two calls that correspond, the calls directly inside, first
// those whose whole subtrees are equal, then the rest by name (E. Myers, "An O(ND) difference
// algorithm and its variations", 1986). A subtree of at least two calls that was removed in one
// place and added in another has moved. Memory: O(calls), and a few MB for the differences.
SequenceAlignment align_call_sequences(const CallSequence& a, const CallSequence& b);

}  // namespace telltale
