#include "path_tracing/path_code.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <optional>
#include <string>
#include <utility>

#include "formats/csi/wire.h"
#include "model/late_variables.h"
#include "path_tracing/frame_variables.h"
#include "path_tracing/position_code.h"

namespace telltale::instrument {
namespace {

using csi::Phase;

// If the count of repetitions is only in memory, each iteration's addition waits for the previous
// one. Is the loop so short that this takes longer than its body? Loops with calls are not: calls
// take longer, and the register would have to be saved around them.
bool waits_for_count(const llvm::Loop& loop) {
  constexpr unsigned kMostInstructions = 24;
  unsigned instructions = 0;
  for (const llvm::BasicBlock* const block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.isDebugOrPseudoInst() || llvm::isa<llvm::PHINode>(instruction)) continue;
      if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction))
        return false;
      if (++instructions > kMostInstructions) return false;
    }
  }
  return true;
}

class PathCode {
 public:
  PathCode(const TracedFunction& traced, const TraceOptions& options)
      : traced_(traced),
        options_(options),
        context_(traced.function.getContext()),
        word_(llvm::Type::getInt64Ty(context_)),
        ring_(llvm::ArrayType::get(word_, ring_slots(options, traced.numbers_prefixes))),
        has_ring_(keeps_ring(traced.numbered, options)),
        is_x86_64_(llvm::Triple(traced.function.getParent()->getTargetTriple()).getArch() ==
                   llvm::Triple::x86_64),
        code_(*traced.function.getParent(), traced.key, traced.first_id, traced.optimised_later) {}

  llvm::DenseSet<const llvm::Instruction*> run() {
    if (traced_.sets_late) {
      const std::vector<PathEdge> edges(traced_.numbered.edges.begin(),
                                        traced_.numbered.edges.end());
      late_ = late_variables(static_cast<std::uint32_t>(traced_.block_of_node.size()), edges);
      has_variables_ = needs_variables(late_, edges);
    }
    find_counts_in_registers();
    // Insertion points, determined before any code is inserted.
    if (traced_.optimised_later) mark_after_calls();
    insert_variables();
    for (std::uint32_t node = 0; node < traced_.block_of_node.size(); ++node) {
      if (node != kEntryNode && node != kExitNode) insert_block_start(node);
    }
    std::vector<bool> has_end(traced_.block_of_node.size(), false);
    for (const NumberedEdge& edge : traced_.numbered.edges) {
      if (edge.place != PathCodePlace::kEndOfSource ||
          !(does_something(edge) || counts_in_register(edge.to)))
        continue;
      insert_at_end(edge);
      has_end[edge.from] = has_end[edge.from] || does_something(edge);
    }
    // The code generator of this process does not merge them.
    if (traced_.optimised_later) {
      for (std::uint32_t node = 0; node < traced_.block_of_node.size(); ++node) {
        if (node != kExitNode && !has_end[node]) insert_block_end(node);
      }
    }
    llvm::SmallVector<llvm::AllocaInst*, 2> copies;
    if (index_copy_ != nullptr) copies.push_back(index_copy_);
    if (count_copy_ != nullptr) copies.push_back(count_copy_);
    if (!copies.empty()) llvm::PromoteMemToReg(copies, dominators());
    return std::move(stores_);
  }

 private:
  llvm::ConstantInt* number(std::uint64_t value) const {
    return llvm::ConstantInt::get(word_, value);
  }
  // Whether the sum is not set yet at the source of the edge.
  [[nodiscard]] bool begins_without_sum(const NumberedEdge& edge) const {
    return traced_.sets_late && !late_.has_sum[edge.from];
  }
  [[nodiscard]] bool sets_sum(const NumberedEdge& edge) const {
    return begins_without_sum(edge) && edge.to != kExitNode &&
           (edge.is_back || late_.has_sum[edge.to]);
  }
  // Whether the edge is the first on its way that leads to where readers need the index.
  [[nodiscard]] bool sets_index(const NumberedEdge& edge) const {
    return traced_.sets_late && !late_.has_ring[edge.from] && late_.has_ring[edge.to] &&
           edge.to != kExitNode;
  }
  // Finds the loops that keep a copy of their slot in a register: their back edges add to the
  // register and store it. An addition to memory takes about five cycles, as long as several
  // iterations of a short loop, such as a search for a character.
  void find_counts_in_registers() {
    counts_in_register_.resize(traced_.block_of_node.size());
    if (!traced_.sets_late) return;
    std::optional<llvm::LoopInfo> known_loops;
    for (const NumberedEdge& edge : traced_.numbered.edges) {
      if (!edge.repeats || begins_without_sum(edge)) continue;
      if (!known_loops) known_loops.emplace(dominators());
      const llvm::BasicBlock* const header = traced_.block_of_node[edge.to];
      const llvm::Loop* const loop = known_loops->getLoopFor(header);
      counts_in_register_[edge.to] = loop != nullptr && loop->getHeader() == header &&
                                     loop->contains(traced_.block_of_node[edge.from]) &&
                                     waits_for_count(*loop);
    }
  }
  [[nodiscard]] bool counts_in_register(std::uint32_t header) const {
    return counts_in_register_[header];
  }

  [[nodiscard]] bool does_something(const NumberedEdge& edge) const {
    if (sets_index(edge)) return true;
    if (begins_without_sum(edge)) return sets_sum(edge);
    return edge.completes || edge.repeats || edge.increment != 0;
  }

  // Path tracing adds no blocks and edges while its code is inserted.
  llvm::DominatorTree& dominators() {
    if (!dominators_) dominators_.emplace(traced_.function);
    return *dominators_;
  }

  void insert_start(llvm::IRBuilder<>& builder, std::uint32_t node) {
    code_.insert(builder, {node, Phase::kSettled, false});
  }
  void insert_position(llvm::IRBuilder<>& builder, std::uint32_t node, Phase phase) {
    code_.insert(builder, {node, phase});
  }

  // The start of the node belongs to the next piece of assembly of this edge, see `change`.
  void begin_edge(std::uint32_t node) { start_ = {node, Phase::kSettled, false}; }
  void emit_start(llvm::IRBuilder<>& builder) {
    if (start_) code_.insert(builder, *std::exchange(start_, std::nullopt));
  }

  // As one piece of assembly, with the start of the block.
  llvm::Instruction* change(llvm::IRBuilder<>& builder, llvm::ArrayRef<VariableChange> changes) {
    return code_.insert(builder, std::exchange(start_, std::nullopt), changes);
  }
  // Stores in this order; returns the first instruction.
  llvm::Instruction* store(llvm::IRBuilder<>& builder, llvm::ArrayRef<VariableChange> stores) {
    if (is_x86_64_) return change(builder, stores);
    emit_start(builder);
    llvm::Instruction* first = nullptr;
    for (const VariableChange& each : stores) {
      llvm::Instruction* const result = builder.CreateStore(each.operand, each.variable, true);
      if (first == nullptr) first = result;
      code_.insert(builder, each.position);
    }
    return first;
  }
  static VariableChange move(llvm::Value* value, llvm::Value* variable, std::uint32_t node,
                             Phase phase) {
    return {MarkedChange::kMove, value, variable, {node, phase}};
  }
  // `stores` come before it.
  void increase_sum(llvm::IRBuilder<>& builder, llvm::SmallVector<VariableChange, 2> stores,
                    std::uint64_t increment, std::uint32_t node) {
    llvm::Value* const sum = sum_place(builder);
    if (is_x86_64_) {
      stores.push_back({MarkedChange::kAdd, number(increment), sum, {node, Phase::kSettled}});
      change(builder, stores);
      return;
    }
    store(builder, stores);
    builder.CreateStore(increased(builder, sum, increment), sum, true);
    insert_position(builder, node, Phase::kSettled);
  }

  void declare(llvm::IRBuilder<>& builder) {
    const auto word = [](llvm::DIBuilder& debug) -> llvm::DIType* {
      return debug.createBasicType("__pt_int", 64, llvm::dwarf::DW_ATE_signed);
    };
    const auto ring = [&](llvm::DIBuilder& debug) -> llvm::DIType* {
      return debug.createArrayType(64 * ring_->getNumElements(), 64, word(debug),
                                   debug.getOrCreateArray({debug.getOrCreateSubrange(
                                       0, static_cast<std::int64_t>(ring_->getNumElements()))}));
    };
    const csi::VariableNames names =
        options_.legacy_names ? csi::kLegacyVariableNames : csi::kVariableNames;
    if (has_ring_) {
      declare_variable(traced_.function, builder, array_, names.array, ring);
      declare_variable(traced_.function, builder, index_, names.index, word);
    }
    if (sum_ != nullptr) declare_variable(traced_.function, builder, sum_, names.sum, word);
  }

  void insert_variables() {
    llvm::BasicBlock& entry = traced_.function.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    const auto allocate = [&](llvm::Type* type, const char* name) {
      llvm::AllocaInst* const variable = builder.CreateAlloca(type, nullptr, name);
      variable->setAlignment(llvm::Align(8));
      return variable;
    };
    // Optimisers that run later replace the declaration of a variable of a simple type by values at
    // some places, if all its accesses are assembly.
    llvm::Type* const scalar =
        traced_.optimised_later ? static_cast<llvm::Type*>(llvm::StructType::get(word_)) : word_;
    if (has_ring_) {
      array_ =
          allocate(frame_array_type(word_, ring_->getNumElements()), csi::kVariableNames.array);
      index_ = allocate(scalar, csi::kVariableNames.index);
    }
    if (has_variables_ && !has_sum_in_ring()) sum_ = allocate(scalar, csi::kVariableNames.sum);
    // After the function's own variables.
    builder.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    declare(builder);
    if (has_ring_ && keeps_index_in_register()) {
      index_copy_ = builder.CreateAlloca(word_);
      builder.CreateStore(number(0), index_copy_);
    }
    if (llvm::is_contained(counts_in_register_, true)) count_copy_ = builder.CreateAlloca(word_);
    if (!traced_.sets_late) {
      if (has_ring_) clear_ring(builder);
      builder.CreateStore(number(0), sum_, true);
    }
    code_.insert_frame_record(builder, {array_, index_, sum_});
    // Without stores before it, the position may be where the function begins.
    if (traced_.sets_late) {
      insert_start(builder, kEntryNode);
    } else {
      insert_position(builder, kEntryNode, Phase::kSettled);
    }
  }

  void clear_ring(llvm::IRBuilder<>& builder) {
    builder.CreateStore(number(0), index_, true);
    builder.CreateStore(number(~std::uint64_t{0}),
                        slot(builder, number(ring_->getNumElements() - 1)), true);
  }

  // Keeps the index in a register, so that the next iteration does not wait for the store. Not in
  // functions where registers may have stale values after longjmp.
  [[nodiscard]] bool keeps_index_in_register() const { return traced_.sets_late; }

  llvm::Value* slot(llvm::IRBuilder<>& builder, llvm::Value* index) {
    return builder.CreateInBoundsGEP(ring_, array_, {number(0), index});
  }

  [[nodiscard]] bool has_sum_in_ring() const { return has_ring_ && traced_.numbers_prefixes; }
  llvm::Value* sum_place(llvm::IRBuilder<>& builder) {
    return has_sum_in_ring() ? slot(builder, builder.CreateLoad(word_, index_copy_)) : sum_;
  }

  // The sum becomes the number of the path that ends: the next slot has the sum of the next path.
  void begin_next_slot(llvm::IRBuilder<>& builder, std::uint64_t next_sum,
                       std::uint32_t next_node) {
    llvm::Value* const index = builder.CreateLoad(word_, index_copy_);
    llvm::Value* const next = builder.CreateAnd(builder.CreateAdd(index, number(1), "", true, true),
                                                number(ring_->getNumElements() - 1));
    builder.CreateStore(next, index_copy_);
    stores_.insert(store(
        builder, {move(number(next_sum), slot(builder, next), next_node, Phase::kNumberStored),
                  move(next, index_, next_node, Phase::kSettled)}));
  }

  // Appends the number to the ring. `next_sum` is what the next path starts with, at `next_node`.
  void store_number(llvm::IRBuilder<>& builder, std::uint64_t increment, std::uint64_t next_sum,
                    std::uint32_t next_node) {
    if (has_sum_in_ring()) {
      begin_next_slot(builder, next_sum, next_node);
      return;
    }
    emit_start(builder);
    const bool has_copy = index_copy_ != nullptr;
    llvm::Value* const index =
        builder.CreateLoad(word_, has_copy ? index_copy_ : index_, !has_copy);
    llvm::Value* const path = increased(builder, sum_, increment);
    stores_.insert(
        store(builder, {move(path, slot(builder, index), next_node, Phase::kNumberStored)}));
    llvm::Value* const is_last = builder.CreateICmpEQ(index, number(ring_->getNumElements() - 1));
    llvm::Value* const next = builder.CreateSelect(
        is_last, number(0), builder.CreateAdd(index, number(1), "", true, true));
    if (has_copy) builder.CreateStore(next, index_copy_);
    store(builder, {move(next, index_, next_node, Phase::kIndexMoved),
                    move(number(next_sum), sum_, next_node, Phase::kSettled)});
  }

  void repeat_in_register(llvm::IRBuilder<>& builder, std::uint32_t node) {
    llvm::Value* const counted =
        builder.CreateAdd(builder.CreateLoad(word_, count_copy_), number(kRepetition));
    builder.CreateStore(counted, count_copy_);
    store(builder, {move(counted, sum_place(builder), node, Phase::kSettled)});
  }
  // On each way into the loop. The path that just began has a known sum.
  void copy_count(llvm::IRBuilder<>& builder, const NumberedEdge& edge) {
    builder.CreateStore(edge.is_back ? static_cast<llvm::Value*>(number(edge.increment))
                                     : builder.CreateLoad(word_, sum_place(builder), true),
                        count_copy_);
  }

  llvm::Value* increased(llvm::IRBuilder<>& builder, llvm::Value* variable,
                         std::uint64_t increment) {
    llvm::Value* const sum = builder.CreateLoad(word_, variable, true);
    return increment == 0 ? sum : builder.CreateAdd(sum, number(increment));
  }

  void insert_edge(llvm::IRBuilder<>& builder, const NumberedEdge& edge) {
    if (does_something(edge)) change_variables(builder, edge);
    if (counts_in_register(edge.to) && !edge.repeats) copy_count(builder, edge);
  }

  void change_variables(llvm::IRBuilder<>& builder, const NumberedEdge& edge) {
    // A block that ends the activation is still a position of the program.
    const std::uint32_t next = edge.to == kExitNode ? edge.from : edge.to;
    llvm::SmallVector<VariableChange, 2> changes;
    // Readers of the edge's source ignore the index.
    if (sets_index(edge)) {
      const bool is_all =
          !edge.is_back && (begins_without_sum(edge) ? !sets_sum(edge) : edge.increment == 0);
      changes.push_back(move(number(0), index_, is_all ? next : edge.from, Phase::kSettled));
      if (is_all || edge.is_back) store(builder, std::exchange(changes, {}));
      if (is_all) return;
    }
    if (sets_sum(edge)) {
      // Readers ignore the variables until the next position.
      const std::uint64_t known = late_.known_sum[edge.from];
      if (!edge.is_back) {
        changes.push_back(
            move(number(known + edge.increment), sum_place(builder), next, Phase::kSettled));
        store(builder, changes);
        return;
      }
      emit_start(builder);
      builder.CreateStore(number(known), sum_place(builder), true);
    }
    if (edge.repeats && counts_in_register(edge.to)) {
      repeat_in_register(builder, next);
    } else if (edge.repeats) {
      increase_sum(builder, {}, kRepetition, next);
    } else if (edge.is_back) {
      store_number(builder, edge.exit_increment, edge.increment, next);
    } else if (edge.completes) {
      store_number(builder, edge.increment, 0, next);
    } else {
      increase_sum(builder, std::move(changes), edge.increment, next);
    }
  }

  // Code of an edge at the start of its target: before it, the variables are still in the state of
  // the source block.
  void insert_block_start(std::uint32_t node) {
    llvm::BasicBlock* const block = traced_.block_of_node[node];
    llvm::IRBuilder<> builder(block, block->getFirstInsertionPt());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    const NumberedEdge* const edge = edges_to_start_[node];
    if (edge != nullptr && does_something(*edge)) {
      begin_edge(edge->from);
      insert_edge(builder, *edge);
    } else {
      insert_start(builder, node);
    }
  }

  void insert_at_end(const NumberedEdge& edge) {
    llvm::BasicBlock* const block = traced_.block_of_node[edge.from];
    // Nothing may be between a musttail call and its return.
    llvm::Instruction* const call = block->getTerminatingMustTailCall();
    llvm::IRBuilder<> builder(call != nullptr ? call : block->getTerminator());
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    insert_edge(builder, edge);
  }

  // Makes the ends of blocks distinct, so that the code generator does not merge identical calls.
  // Inserts nothing between a call and its return, so that it can become a jump.
  void insert_block_end(std::uint32_t node) {
    llvm::BasicBlock* const block = traced_.block_of_node[node];
    llvm::Instruction* place = block->getTerminator();
    const auto* const before = llvm::dyn_cast_or_null<llvm::CallInst>(place->getPrevNode());
    if (llvm::isa<llvm::ReturnInst>(place) && before != nullptr && before->isTailCall())
      place = place->getPrevNode();
    if (llvm::Instruction* const call = block->getTerminatingMustTailCall()) place = call;
    llvm::IRBuilder<> builder(place);
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    code_.insert_difference(builder, node);
  }

  // A callee inlined later brings its own positions.
  void mark_after_calls() {
    for (std::uint32_t node = 0; node < traced_.block_of_node.size(); ++node) {
      if (traced_.block_of_node[node] == nullptr) continue;
      std::vector<llvm::Instruction*> after;
      for (llvm::Instruction& instruction : *traced_.block_of_node[node]) {
        const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm() ||
            call->isMustTailCall())
          continue;
        llvm::Instruction* const next = instruction.getNextNode();
        if (!llvm::isa<llvm::ReturnInst>(next)) after.push_back(next);
      }
      for (llvm::Instruction* const next : after) {
        llvm::IRBuilder<> builder(next);
        builder.SetCurrentDebugLocation(llvm::DebugLoc());
        insert_position(builder, node, Phase::kSettled);
      }
    }
  }

  [[nodiscard]] static std::vector<const NumberedEdge*> edges_to_start(const NumberedGraph& graph) {
    std::vector<const NumberedEdge*> edges(graph.nodes.size(), nullptr);
    for (const NumberedEdge& edge : graph.edges) {
      if (edge.place == PathCodePlace::kStartOfTarget) edges[edge.to] = &edge;
    }
    return edges;
  }

  const TracedFunction& traced_;
  const TraceOptions& options_;
  llvm::LLVMContext& context_;
  llvm::IntegerType* word_;
  llvm::ArrayType* ring_;
  bool has_ring_;
  bool is_x86_64_;
  PositionCode code_;
  llvm::AllocaInst* array_ = nullptr;  // null without a ring, like index_
  llvm::AllocaInst* index_ = nullptr;
  llvm::AllocaInst* sum_ = nullptr;         // null if the ring has it, or there are no variables
  llvm::AllocaInst* index_copy_ = nullptr;  // for the optimiser: a register copy of index_
  llvm::AllocaInst* count_copy_ = nullptr;  // the same of the slot in which a loop counts
  std::vector<bool> counts_in_register_;    // by header
  std::optional<llvm::DominatorTree> dominators_;
  const std::vector<const NumberedEdge*> edges_to_start_ = edges_to_start(traced_.numbered);
  llvm::DenseSet<const llvm::Instruction*> stores_;
  LateVariables late_;  // if the function sets its variables late
  bool has_variables_ = true;
  std::optional<Position> start_;  // still to be emitted
};

}  // namespace

llvm::DenseSet<const llvm::Instruction*> insert_path_code(const TracedFunction& traced,
                                                          const TraceOptions& options) {
  return PathCode(traced, options).run();
}

}  // namespace telltale::instrument
