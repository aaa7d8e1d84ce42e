#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/paths/coverage.h"

namespace telltale {

// The control flow of a program: blocks of its functions, and the calls in them. Functions are
// indices of `functions`, blocks are indices in their function; block 0 is the entry.
struct ProgramFlow {
  struct Call {
    std::vector<uint32_t> callees = {};  // functions of this program that it may call
    bool is_known = false;               // it calls one of `callees`
    bool may_jump = false;               // the caller's frame may be gone before it returns
    bool may_move = false;  // it may have been removed, or be in another function's frames
    // Another copy of the same function of the source runs in the caller's place; then the caller
    // returns.
    bool runs_other_copy = false;

    // Whether this call certainly called one of `callees` if the block ran.
    [[nodiscard]] bool is_certain() const { return is_known && !may_move; }
  };
  struct Block {
    std::vector<uint32_t> successors = {};  // REQUIRES: they exist
    std::vector<Call> calls = {};           // in the order in which the block makes them
    std::vector<uint32_t> takes = {};       // functions that may be called later, once it ran
    bool returns = false;
    // The last call may go on at one of the successors but the first when it is left.
    bool may_resume = false;
  };
  struct Function {
    std::vector<Block> blocks = {};
    bool is_open = false;       // may be called from outside of `functions`, at any time
    bool is_taken = false;      // blocks take its address, so that other calls may call it, too
    bool is_start = false;      // called once from outside, when the program begins
    bool calls_setjmp = false;  // control may go back to its blocks from anywhere
    // For a function with `is_start`: the functions that were called before it, and have returned.
    std::vector<uint32_t> constructors = {};
  };
  std::vector<Function> functions;
};

struct FlowStructure;

// What is known of a program that was stopped. All of it is true.
struct ProgramEvidence {
  struct BlockFlags {
    std::optional<bool> entered;                // in any activation
    std::vector<std::optional<bool>> returned;  // by call; missing ones are not known
  };
  // An activation that has not ended.
  struct Frame {
    uint32_t function = 0;
    // It is in one of these; none: in any block.
    std::vector<uint32_t> stopped_in = {};
    // If `stopped_in` is a single block: the index of the call that the frame is in, or the number
    // of the block's calls if all of them have returned.
    std::optional<size_t> call = {};
    // If `call` is unknown: how many of a single block's calls, from the first on, have returned.
    size_t returned = 0;
    // By block: whether it ran according to the frame's path record, and how often it was entered.
    // Empty: the record does not say.
    std::vector<Ran> blocks = {};
    std::vector<uint32_t> times = {};
    std::vector<uint32_t> left = {};  // blocks that it certainly left
  };
  using Stack = std::vector<Frame>;  // the innermost first
  // By function and block; functions without flags may be empty.
  std::vector<std::vector<BlockFlags>> flags;
  std::vector<Stack> stacks;
  // Functions of which an activation may be on a stack, too, in any block.
  std::vector<uint32_t> maybe_on_stack;
  // A call that was made has returned, unless a frame of `stacks` is in it, it became a jump, or it
  // went on elsewhere (`may_resume`): exceptions are caught in functions of the program.
  bool calls_return = false;
  // Functions with `is_start` have returned: the program ends.
  bool start_returned = false;
};

struct ProgramBlocks {
  // How far control has come in a block, in any of its passes.
  struct Progress {
    uint32_t certainly = 0;  // how many of its calls, from the first on, certainly have returned
    uint32_t at_most = 0;    // how many may have
    bool left = false;       // control certainly left it at its end
  };
  // By function and block: over all activations.
  std::vector<std::vector<Ran>> functions;
  std::vector<std::vector<Progress>> progress;
  std::vector<bool> returned;  // by function: some activation certainly has
  // What is known of a single activation.
  struct Frame {
    std::vector<Ran> blocks;
    bool stopped_at_first_pass = false;  // it entered the only block that it stopped in once
    bool operator==(const Frame&) const = default;
  };
  std::vector<std::vector<Frame>> frames;  // by stack and frame
};

// ProgramBlocks::frames alone.
std::vector<std::vector<ProgramBlocks::Frame>> blocks_of_frames(const ProgramFlow& flow,
                                                                const FlowStructure& structure,
                                                                const ProgramEvidence& evidence);

// What of the program certainly ran, certainly did not, or may have run
// (docs/analysis/paths.md, "The whole program"). REQUIRES: `structure` is of
// `flow`, `evidence` fits it.
ProgramBlocks blocks_of_program(const ProgramFlow& flow, const FlowStructure& structure,
                                const ProgramEvidence& evidence);

}  // namespace telltale
