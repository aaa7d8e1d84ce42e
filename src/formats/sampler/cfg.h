#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale::sampler {

// A node of a function's control flow graph: a statement. Its number is its index in the function.
struct CfgNode {
  std::string_view file;  // "(unknown)" if it has none
  uint32_t line = 0;
  uint32_t first_successor = 0;
  uint32_t successor_count = 0;
  uint32_t first_callee = 0;
  uint32_t callee_count = 0;
  bool unknown_callees = false;  // an indirect call that nobody resolved: "???"
};

struct CfgFunction {
  std::string_view name;
  std::string_view file;
  uint32_t line = 0;
  bool is_static = false;
  uint64_t offset = 0;  // of its line, in the text without zero bytes
  uint32_t first_node = 0;
  uint32_t node_count = 0;
};

struct CfgUnit {
  std::string_view version;
  std::string_view source;     // file name as given to the compiler
  std::string_view signature;  // as in tags
  uint64_t offset = 0;
  uint32_t first_function = 0;
  uint32_t function_count = 0;
  bool whole = true;  // ends with its empty line
};

// Control flow graphs: the contents of .debug_sampler_cfg or of a .cfg file; a sequence of units.
// Grammar: docs/formats/sampler.md, "Control flow graphs". Zero bytes are ignored. Text that cannot
// be parsed is skipped up to the next unit; the functions before it are kept. Safe on untrusted
// input; memory is proportional to the text.
class CfgInfo {
 public:
  // `file_offset`: the offset of the bytes in `file`. The bytes must outlive this unless they
  // contain a zero byte.
  static CfgInfo read(Bytes bytes, const std::string& file, uint64_t file_offset,
                      ProblemLog& problems);

  [[nodiscard]] const std::vector<CfgUnit>& units() const { return units_; }
  [[nodiscard]] std::span<const CfgFunction> functions(const CfgUnit& unit) const {
    return std::span(functions_).subspan(unit.first_function, unit.function_count);
  }
  [[nodiscard]] std::span<const CfgNode> nodes(const CfgFunction& function) const {
    return std::span(nodes_).subspan(function.first_node, function.node_count);
  }
  // Numbers of nodes of the same function; they may be out of range.
  [[nodiscard]] std::span<const uint32_t> successors(const CfgNode& node) const {
    return std::span(successors_).subspan(node.first_successor, node.successor_count);
  }
  [[nodiscard]] std::span<const std::string_view> callees(const CfgNode& node) const {
    return std::span(callees_).subspan(node.first_callee, node.callee_count);
  }
  [[nodiscard]] std::string_view text() const { return text_; }  // without zero bytes

 private:
  CfgInfo() = default;
  class Reader;
  std::unique_ptr<std::string> own_text_;
  std::string_view text_;
  std::vector<CfgUnit> units_;
  std::vector<CfgFunction> functions_;
  std::vector<CfgNode> nodes_;
  std::vector<uint32_t> successors_;
  std::vector<std::string_view> callees_;
};

// The unit in its text form; for a unit that was read completely: the same bytes.
void append_cfg_unit(std::string& out, const CfgInfo& info, const CfgUnit& unit);

}  // namespace telltale::sampler
