// What readers need to follow the control flow of a whole program: the blocks and calls of each
// function, and which functions can be called by code that has no such records
// (docs/formats/csi.md, "Flow").
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace telltale::instrument {

// The flow of a function before it is instrumented. Blocks are those that the entry reaches, in the
// function's order, as in records of coverage.
class FlowRecord {
 public:
  // `is_local`: other translation units cannot call it by name. Of variants, what is true of the
  // function that chooses one. `optimises_later`: calls may still be moved or removed.
  // `records_data`: with a record of the data flow.
  FlowRecord(llvm::Function& function, bool is_local, bool optimises_later, bool records_data);

  // After the function's paths are numbered: which blocks are which nodes of `.debug_PT`. `key` is
  // that of the function's record.
  void add_nodes(const std::vector<llvm::BasicBlock*>& block_of_node, std::uint64_t first_id,
                 std::uint64_t key);
  // The record's key, once its text is complete.
  [[nodiscard]] std::uint64_t key() const;
  // The blocks by the index that the record gives them.
  [[nodiscard]] const std::vector<llvm::BasicBlock*>& blocks() const { return blocks_; }
  // Writes the record, and that of the data flow, into the section. `function`: the one that it was
  // made of.
  void append(llvm::Function& function) const;

 private:
  std::vector<llvm::BasicBlock*> blocks_;
  bool can_map_ = true;  // path tracing does not move the code of blocks
  std::string text_;
  std::string data_;  // bytes of its record of data flow; empty: none
};

// Which functions may be called through pointers that the module has without executing code, for
// example in tables, or by functions without a record (naked ones). Call it before functions are
// instrumented.
std::string unit_record_text(const llvm::Module& module);
// Its part about functions that may have run unseen. Call it when all functions have their record.
std::string unseen_functions_text(const llvm::Module& module);

}  // namespace telltale::instrument
