#include "path_tracing/flow_record.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "formats/csi/wire.h"
#include "path_tracing/data_record.h"
#include "path_tracing/data_steps.h"
#include "path_tracing/flow_graph.h"
#include "path_tracing/path_metadata.h"
#include "path_tracing/unseen_calls.h"
#include "path_tracing/unseen_functions.h"
#include "source_function.h"

namespace telltale::instrument {
namespace {

// Whether the function may return a value that the call returned. A call of which only an argument
// is known to be returned counts as such.
bool may_return_result(const llvm::ReturnInst& end, const llvm::CallBase& call) {
  const llvm::Value* const value = end.getReturnValue();
  return value == nullptr || !llvm::isa<llvm::Constant>(value) ||
         llvm::isa<llvm::UndefValue>(value) || call.getReturnedArgOperand() != nullptr;
}

// Whether the code generator may turn the call into a jump, which leaves no frame of the caller. It
// copies returns to the ends of blocks that branch to them.
bool may_jump(const llvm::CallBase& call) {
  const auto* const direct = llvm::dyn_cast<llvm::CallInst>(&call);
  if (direct == nullptr || !direct->isTailCall()) return false;
  // Such a call does not return. Only these conventions allow it to be a jump.
  if (llvm::isa<llvm::UnreachableInst>(call.getParent()->getTerminator()) &&
      call.getCallingConv() != llvm::CallingConv::Tail &&
      call.getCallingConv() != llvm::CallingConv::SwiftTail)
    return false;
  for (const llvm::Instruction* after = call.getNextNode(); !after->isTerminator();
       after = after->getNextNode()) {
    const bool stays = after->mayHaveSideEffects() || after->mayReadFromMemory();
    if (stays && !is_only_a_note(*after)) return false;
  }
  const llvm::BasicBlock& block = *call.getParent();
  if (const auto* const end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
    return may_return_result(*end, call);
  const llvm::BasicBlock* const next = block.getSingleSuccessor();
  return llvm::succ_empty(&block) || (next != nullptr && llvm::succ_empty(next));
}

std::string call_line(const llvm::CallBase& call, std::size_t block) {
  const auto callee = callee_of(call);
  const llvm::DebugLoc& location = call.getDebugLoc();
  return "call\t" + std::to_string(block) + "\t" +
         std::to_string(location ? location.getLine() : 0) + "\t" +
         (callee ? escaped_field(callee->symbol) : "?") + (may_jump(call) ? "\tjump" : "") +
         (runs_other_copy(call) ? "\tcopy" : "") + "\n";
}

// Functions whose addresses the instruction uses, other than to call them directly.
std::string take_lines(const llvm::Instruction& instruction, std::size_t block) {
  std::string lines;
  const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  for (const llvm::Use& use : instruction.operands()) {
    const auto function = named_by(*use.get());
    if (!function || function->symbol.starts_with("llvm.")) continue;
    if (call != nullptr && call->isCallee(&use) && callee_of(*call)) continue;
    lines += "take\t" + std::to_string(block) + "\t" + escaped_field(function->symbol) + "\n";
  }
  return lines;
}

// How a block ends: `r` returns, `i` may go on from its last call elsewhere.
std::string ending(const llvm::BasicBlock& block) {
  const llvm::Instruction& last = *block.getTerminator();
  if (llvm::isa<llvm::ReturnInst>(last)) return "r";
  return llvm::isa<llvm::InvokeInst>(last) || llvm::isa<llvm::CallBrInst>(last) ? "i" : "";
}

}  // namespace

FlowRecord::FlowRecord(llvm::Function& function, bool is_local, bool optimises_later,
                       bool records_data) {
  text_ = "unit\t" + escaped_field(function.getParent()->getSourceFileName()) + "\n";
  const llvm::StringRef source = source_of(function).symbol;
  if (source != function.getName()) text_ += "source\t" + escaped_field(source) + "\n";
  if (is_without_source(function)) text_ += "flag\tgenerated\n";
  if (is_local) text_ += "flag\tlocal\n";
  if (optimises_later) text_ += "flag\tlater\n";
  if (calls_setjmp(function)) text_ += "flag\tsetjmp\n";
  if (function.hasOptNone()) text_ += "flag\toptnone\n";
  const llvm::ReversePostOrderTraversal<const llvm::Function*> order(&function);
  const llvm::SmallPtrSet<const llvm::BasicBlock*, 16> reached(order.begin(), order.end());
  llvm::DenseMap<const llvm::BasicBlock*, std::size_t> index;
  for (llvm::BasicBlock& block : function) {
    if (!reached.contains(&block)) continue;
    index[&block] = blocks_.size();
    blocks_.push_back(&block);
    // Targets of indirect branches are copied.
    can_map_ = can_map_ && !llvm::isa<llvm::IndirectBrInst>(block.getTerminator());
  }
  std::string calls;
  std::string takes;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    text_ += "block\t" + std::to_string(i) + "\t" + ending(*blocks_[i]);
    for (const llvm::BasicBlock* const successor : llvm::successors(blocks_[i]))
      text_ += " " + std::to_string(index.lookup(successor));
    text_ += "\n";
    for (const llvm::Instruction& instruction : *blocks_[i]) {
      const llvm::CallBase* const call = as_call(instruction);
      if (call != nullptr) calls += call_line(*call, i);
      takes += take_lines(instruction, i);
    }
  }
  PathScopes scopes;
  text_ += calls + takes + scope_and_line_text(function, blocks_, true, scopes);
  if (!records_data) return;
  // Scopes that no block's lines have are those of instructions that the optimiser moved.
  std::string further_scopes;
  const std::vector<const llvm::BasicBlock*> blocks(blocks_.begin(), blocks_.end());
  data_ = data_record_bytes(function, blocks, [&](const llvm::DILocation& location) {
    return scopes.number_of(location, further_scopes);
  });
  text_ += further_scopes;
}

void FlowRecord::add_nodes(const std::vector<llvm::BasicBlock*>& block_of_node,
                           std::uint64_t first_id, std::uint64_t key) {
  if (!can_map_) return;
  llvm::DenseMap<const llvm::BasicBlock*, std::size_t> index;
  for (std::size_t i = 0; i < blocks_.size(); ++i) index[blocks_[i]] = i;
  text_ += "paths\t" + std::to_string(key) + "\n";
  for (std::size_t node = 0; node < block_of_node.size(); ++node) {
    const auto found = index.find(block_of_node[node]);
    if (found != index.end())
      text_ +=
          "node\t" + std::to_string(found->second) + "\t" + std::to_string(first_id + node) + "\n";
  }
}

std::uint64_t FlowRecord::key() const { return text_key(text_); }

void FlowRecord::append(llvm::Function& function) const {
  const std::uint64_t key = append_text_record(function, csi::RecordKind::kFlow, text_);
  if (!data_.empty()) append_keyed_record(function, csi::RecordKind::kData, key, data_);
}

namespace {

// The functions that the loader calls before `main`. Not those that belong to a variable of which
// the linker may keep another unit's copy.
std::string constructor_lines(const llvm::Module& module) {
  std::string lines;
  for (const auto& [function, has_key] : constructors_of(module))
    if (!has_key) lines += "constructor\t" + escaped_field(function->getName()) + "\n";
  return lines;
}

}  // namespace

std::string unit_record_text(const llvm::Module& module) {
  std::string text = "unit\t" + escaped_field(module.getSourceFileName()) + "\n";
  for (const llvm::Function& function : module) {
    const bool is_taken = llvm::any_of(function.users(), [](const llvm::User* user) {
      const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (instruction != nullptr)
        return instruction->getFunction()->hasFnAttribute(llvm::Attribute::Naked);
      return !llvm::isa<llvm::BlockAddress>(user);
    });
    if (!function.isIntrinsic() && is_taken)
      text += "taken\t" + escaped_field(function.getName()) + "\n";
  }
  return text + constructor_lines(module);
}

std::string unseen_functions_text(const llvm::Module& module) {
  std::string text;
  for (const auto& [function, vanished, removed, callees] : unseen_functions(module)) {
    const std::string name = names_of_places().reference(*function);
    const auto add = [&](const char* word, const std::set<unsigned>& lines) {
      if (lines.empty()) return;
      text += word + ("\t" + name);
      for (const unsigned line : lines) text += "\t" + std::to_string(line);
      text += "\n";
    };
    add("vanished", vanished);
    add("removed", removed);
    if (callees.empty()) continue;
    text += "callees\t" + name;
    for (const llvm::DISubprogram* const callee : callees)
      text += "\t" + names_of_places().reference(*callee);
    text += "\n";
  }
  return text;
}

}  // namespace telltale::instrument
