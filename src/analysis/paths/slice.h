#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/paths/coverage.h"
#include "analysis/paths/program_flow.h"
#include "model/function_data.h"

namespace telltale {

// What a backward slice begins with: a stack, and what is known of its program.
struct SliceEvidence {
  // An activation that has not ended.
  struct Frame {
    uint32_t function = 0;
    std::vector<Ran> blocks;  // what it ran; by block
    // Sequences of blocks that it may have run last; each ends with a block that it may have
    // stopped in. One of them is right. Empty: nothing is known of the order.
    std::vector<std::vector<uint32_t>> ways = {};
    bool is_whole = false;                  // the ways begin with the entry
    std::vector<uint32_t> stopped_in = {};  // without ways: it may be in these; none: in any
    uint32_t line = 0;            // of the instruction, or of the call that it is in; 0: unknown
    bool is_in_call = false;      // otherwise it stopped at an instruction of its own
    bool called_directly = true;  // it called the frame before it, without other code between
  };
  std::vector<Frame> frames;          // of one thread, the innermost first
  std::vector<std::vector<Ran>> ran;  // ProgramBlocks::functions
  // Threads or signal handlers may write memory at any time.
  bool others_write = false;
};

// Steps that may have made the program stop as it did.
struct Slice {
  enum class Why : uint8_t {
    stopped,     // it stopped at this step
    calls,       // it called a function of the stack
    defines,     // it defines what a step of the slice uses
    may_define,  // the same, if it writes what is used at all
    passes,      // it passes a parameter that is used
    returns,     // its result is used
    decides,     // it decides whether a step of the slice runs
  };
  struct Reason {
    Why why = Why::stopped;
    std::string name;       // what is defined or passed, which function is called; empty: unknown
    uint32_t line = 0;      // of the step of the slice that needs it; 0: unknown
    uint32_t function = 0;  // of that step
    bool operator==(const Reason&) const = default;
  };
  struct Step {
    std::optional<size_t> frame;  // of the stack; none: in another call of the function
    uint32_t function = 0;
    uint32_t block = 0;
    uint32_t step = 0;
    uint32_t distance = 0;        // dependences between it and the stop
    std::vector<Reason> reasons;  // the nearest first; some may be left out
  };
  std::vector<Step> steps;  // the nearest first

  // Assumptions of the slice, and what it could not look at.
  enum class Note : uint8_t {
    too_long,       // it was given up: steps may be missing
    unknown_calls,  // functions without data flow may write all memory that they can reach
    other_threads,  // memory may be written at any time, by other threads or signal handlers
    no_data,        // functions on the stack have no data flow
  };
  std::set<Note> notes;
  size_t unfollowed = 0;  // steps: what they depend on was not all looked for, if it was given up
};

// The backward slice from the place where `evidence.frames[0]` stopped (M. Weiser, "Program
// slicing", ICSE 1981), with the calls of the stack, restricted to what may have run
// (docs/analysis/paths.md, "Slice"). Where the order of blocks is known, only definitions and
// branches of that order count. `data`: by function; null ones are not known. REQUIRES: `data` and
// `evidence` fit `flow`. It is given up after some `most_work` steps that were looked at.
constexpr uint64_t kMostSliceWork = uint64_t{1} << 27;  // some 20 seconds
Slice slice_backward(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
                     const SliceEvidence& evidence, uint64_t most_work = kMostSliceWork);

// The same evidence without what is known of the blocks that ran: the stack alone.
SliceEvidence stack_alone(const SliceEvidence& evidence);

}  // namespace telltale
