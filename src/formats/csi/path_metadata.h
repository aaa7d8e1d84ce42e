#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale::csi {

// The text of a section .debug_PT: the control flow graph of each function with path tracing
// (docs/formats/csi.md). Texts are views of the input and are never trusted.

// The token of a block's line that represents the store of a completed path.
inline constexpr int64_t kPathStore = -1;

enum class BlockKind : uint8_t { plain, entry, exit };

struct PathBlock {
  uint64_t id = 0;
  BlockKind kind = BlockKind::plain;
  // In PathMetadata: line numbers in the order of instructions (0: a location without a line), and
  // kPathStore.
  uint32_t first_token = 0;
  uint32_t token_count = 0;
  bool says_null = false;  // spelled NULL in the text; otherwise the line ends after ENTRY
};

struct PathEdge {
  uint32_t from = 0;  // indexes of the function's blocks
  uint32_t to = 0;
  bool back = false;         // `~>`: it ends a path, and the next one starts at `to`
  uint64_t increment = 0;    // added to the path sum; of a back edge: the new path sum
  uint64_t weight = 0;       // of a back edge: the first number of the paths that start at `to`
  std::string_view comment;  // what follows on the line, with the blanks before its `#`
};

struct PathFunction {
  uint64_t offset = 0;    // offset of its `#` in the file
  std::string_view name;  // linkage name
  uint32_t first_block = 0;
  uint32_t block_count = 0;
  uint32_t first_edge = 0;
  uint32_t edge_count = 0;
};

// The functions of a text. Holds views: the bytes must outlive it. Memory is proportional to the
// text. Safe on untrusted input. What graphs mean, for example that they have no cycles, is not
// checked here.
class PathMetadata {
 public:
  // Adds damage to `problems`, with offset: a function that violates the grammar is skipped, and
  // reading resumes at the next line that is a `#`. `file_offset`: of bytes[0].
  static PathMetadata read(Bytes bytes, const std::string& file, uint64_t file_offset,
                           ProblemLog& problems);

  // In file order. Names are not unique: objects of a link are concatenated.
  [[nodiscard]] const std::vector<PathFunction>& functions() const { return functions_; }
  [[nodiscard]] std::span<const PathBlock> blocks(const PathFunction& function) const {
    return std::span(blocks_).subspan(function.first_block, function.block_count);
  }
  [[nodiscard]] std::span<const PathEdge> edges(const PathFunction& function) const {
    return std::span(edges_).subspan(function.first_edge, function.edge_count);
  }
  [[nodiscard]] std::span<const int64_t> tokens(const PathBlock& block) const {
    return std::span(tokens_).subspan(block.first_token, block.token_count);
  }

 private:
  class Reader;
  std::vector<PathFunction> functions_;
  std::vector<PathBlock> blocks_;
  std::vector<PathEdge> edges_;
  std::vector<int64_t> tokens_;
};

// True if the bytes begin as such a text does.
bool looks_like_path_metadata(Bytes bytes);

// Appends the function as text: the bytes that it was read from.
void append_path_function(std::string& out, const PathMetadata& metadata,
                          const PathFunction& function);

}  // namespace telltale::csi
