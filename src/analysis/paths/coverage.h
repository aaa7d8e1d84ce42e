#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace telltale {

// Whether something was executed: certainly not, perhaps, or certainly.
enum class Ran : uint8_t { no, maybe, yes };

// "no", "maybe" or "yes".
constexpr std::string_view name_of(Ran ran) {
  return ran == Ran::yes ? "yes" : ran == Ran::no ? "no" : "maybe";
}

// Whether any of two things ran.
constexpr Ran any_of(Ran a, Ran b) {
  if (a == Ran::yes || b == Ran::yes) return Ran::yes;
  return a == Ran::no && b == Ran::no ? Ran::no : Ran::maybe;
}

// Adds what another copy of the code did, for example in another inlined call.
template <typename Map>
void add_copy(Map& all, const typename Map::key_type& key, Ran ran) {
  const auto [known, is_new] = all.try_emplace(key, ran);
  if (!is_new) known->second = any_of(known->second, ran);
}

// A function with flags that its activations set. Block 0 is the entry.
struct FlaggedGraph {
  struct Block {
    std::vector<uint32_t> successors;  // REQUIRES: they exist
    std::optional<bool> flag;          // empty: it has none, or it cannot be read
    bool may_resume = false;           // its last call may go on at the successors but the first
  };
  std::vector<Block> blocks;
  // A flag is set at the start of its block, or when a call in it has returned. In the latter case
  // a block without its flag may have been entered, but control did not get past the call, unless
  // the call went on elsewhere.
  bool flags_follow_calls = false;
};

// What the flags say of each block, over all activations of the function together. Sound for
// programs that crash anywhere: an activation can have ended in any block.
std::vector<Ran> blocks_that_ran(const FlaggedGraph& graph);

// The same for blocks as a whole: whether each was left again, so that all of its calls returned.
// `ran`: blocks_that_ran().
std::vector<Ran> blocks_that_ended(const FlaggedGraph& graph, std::vector<Ran> ran);

}  // namespace telltale
