#include "path_tracing/data_record.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/LEB128.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <optional>

#include "formats/csi/wire.h"
#include "path_tracing/data_objects.h"
#include "path_tracing/data_steps.h"

namespace telltale::instrument {
namespace {

class Bytes {
 public:
  void byte(unsigned value) { text_ += static_cast<char>(value); }
  void number(std::uint64_t value) {
    llvm::raw_string_ostream out(text_);
    llvm::encodeULEB128(value, out);
  }
  void difference(std::int64_t value) {
    llvm::raw_string_ostream out(text_);
    llvm::encodeSLEB128(value, out);
  }
  void text(llvm::StringRef text) {
    // A name ends with a zero byte.
    text_ += text.take_until([](char c) { return c == '\0'; });
    text_ += '\0';
  }
  void append(const Bytes& more) { text_ += more.text_; }
  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  std::string text_;
};

// Uses or writes: each once, in the order in which they are met.
class Items {
 public:
  void add(std::string item) {
    if (!llvm::is_contained(items_, item)) items_.push_back(std::move(item));
  }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  void write(Bytes& out) const {
    for (const std::string& item : items_)
      for (const char c : item) out.byte(static_cast<unsigned char>(c));
  }
  void write_counted(Bytes& out) const {
    out.number(items_.size());
    write(out);
  }

 private:
  std::vector<std::string> items_;
};

class DataWriter {
 public:
  DataWriter(const llvm::Function& function, const std::vector<const llvm::BasicBlock*>& blocks,
             const ScopeNumber& scope_number)
      : function_(function),
        blocks_(blocks),
        scope_number_(scope_number),
        layout_(function.getParent()->getDataLayout()),
        objects_(function),
        steps_(function, blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) index_[blocks[i]] = i;
  }

  std::string write() {
    Bytes blocks;
    next_value_ = static_cast<std::uint32_t>(function_.arg_size());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      line_ = 0;
      scope_ = 0;
      blocks.number(steps_.of(i).size());
      for (const llvm::Instruction* const step : steps_.of(i)) write_step(*step, blocks);
    }
    Bytes out;
    out.byte(csi::kDataVersion);
    const bool takes_memory =
        function_.isVarArg() || llvm::any_of(function_.args(), [](const llvm::Argument& parameter) {
          return parameter.hasPassPointeeByValueCopyAttr();
        });
    out.byte(takes_memory ? csi::kTakesMemory : 0);
    out.number(function_.arg_size());
    write_names(out);
    const auto& objects = objects_.all();
    out.number(objects.size() - 1);
    for (const DataObjects::Object& object : llvm::drop_begin(objects)) {
      out.byte(static_cast<unsigned>(object.storage));
      out.text(object.name);
    }
    out.number(blocks_.size());
    out.append(blocks);
    return out.take();
  }

 private:
  // Variables whose value a parameter or a step's result is.
  void write_names(Bytes& out) {
    std::map<std::uint32_t, llvm::StringRef> names;
    for (const llvm::BasicBlock* const block : blocks_) {
      for (const llvm::Instruction& instruction : *block) {
        for (const llvm::DbgRecord& record : instruction.getDbgRecordRange()) {
          const auto* const variable = llvm::dyn_cast<llvm::DbgVariableRecord>(&record);
          if (variable == nullptr || variable->hasArgList()) continue;
          const llvm::Value* const value = variable->getVariableLocationOp(0);
          const auto number = value == nullptr ? std::nullopt : steps_.value(*value);
          if (number) names.try_emplace(*number, variable->getVariable()->getName());
        }
      }
    }
    // Without optimisation, parameters are stored where variables of their names are.
    for (const llvm::Argument& parameter : function_.args()) {
      for (const llvm::User* const user : parameter.users()) {
        const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
        if (store == nullptr || store->getValueOperand() != &parameter) continue;
        const llvm::StringRef name = objects_.name_of(*store->getPointerOperand());
        if (!name.empty()) names.try_emplace(parameter.getArgNo(), name);
      }
    }
    out.number(names.size());
    std::uint32_t last = 0;
    for (const auto& [number, name] : names) {
      out.number(number - last);
      out.text(name);
      last = number;
    }
  }

  static std::string item_of(std::uint64_t index, csi::DataUse use,
                             std::optional<MemoryPart::Range> range = {}) {
    Bytes item;
    item.number(index << csi::kDataUseBits | static_cast<unsigned>(use));
    if (range) {
      item.number(range->begin);
      item.number(range->size);
    }
    return item.take();
  }

  std::optional<std::uint64_t> store_size(llvm::Type* type) const {
    const llvm::TypeSize size = layout_.getTypeStoreSize(type);
    if (size.isScalable()) return std::nullopt;
    return size.getFixedValue();
  }

  // What the value of an operand depends on.
  void add_value(const llvm::Value& value, Items& uses) {
    if (const auto number = steps_.value(value)) {
      uses.add(item_of(csi::data_distance(next_value_, *number), csi::DataUse::kValue));
    } else if (const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(&value);
               instruction != nullptr && !steps_.is_step(*instruction) &&
               !steps_.is_of_sampler(*instruction)) {
      add_operands(*instruction, uses);
    }
  }

  // What a part of a step uses, or the step itself.
  void add_operands(const llvm::Instruction& instruction, Items& uses) {
    if (const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      add_contents(*load->getPointerOperand(), store_size(load->getType()), uses);
    for (const llvm::Use& operand : instruction.operands()) add_value(*operand.get(), uses);
  }

  void add_contents(const llvm::Value& pointer, std::optional<std::uint64_t> size, Items& uses) {
    const std::optional<MemoryPart> part = objects_.part(pointer, size);
    if (!part) return;
    const bool has_range = part->range.has_value() && !part->is_whole;
    uses.add(has_range ? item_of(part->object, csi::DataUse::kRange, part->range)
                       : item_of(part->object, csi::DataUse::kContents));
  }

  void add_write(const llvm::Value& pointer, std::optional<std::uint64_t> size, Items& writes) {
    // Constants are not written, at least not by code that goes on.
    const MemoryPart part = objects_.part(pointer, size).value_or(MemoryPart{});
    writes.add(part.is_whole ? item_of(part.object, csi::DataUse::kValue)  // the whole object
               : part.range  ? item_of(part.object, csi::DataUse::kRange, part.range)
                             : item_of(part.object, csi::DataUse::kContents));
  }

  // The addresses of variables that a call passes.
  void add_address(const llvm::Value& value, Items& uses) {
    if (!value.getType()->isPointerTy()) return;
    const std::optional<MemoryPart> part = objects_.part(value, std::nullopt);
    if (part && part->object != 0) uses.add(item_of(part->object, csi::DataUse::kAddress));
  }

  void write_step(const llvm::Instruction& step, Bytes& out) {
    Items uses;
    Items writes;
    csi::DataStep kind = csi::DataStep::kValue;
    Bytes rest;
    const llvm::CallBase* const call = as_call(step);
    if (steps_.is_of_sampler(step)) {
      kind = call != nullptr ? csi::DataStep::kCall : csi::DataStep::kBranch;
      if (call != nullptr) write_call_without_effects(rest);
    } else if (call != nullptr) {
      kind = csi::DataStep::kCall;
      add_value(*call->getCalledOperand(), uses);
      write_call(*call, rest);
    } else if (const auto* const phi = llvm::dyn_cast<llvm::PHINode>(&step)) {
      kind = csi::DataStep::kPhi;
      write_incoming(*phi, rest);
    } else if (const auto* const store = llvm::dyn_cast<llvm::StoreInst>(&step)) {
      kind = csi::DataStep::kStore;
      add_operands(step, uses);
      add_write(*store->getPointerOperand(), store_size(store->getValueOperand()->getType()),
                writes);
      writes.write(rest);
    } else if (step.mayWriteToMemory() || step.isEHPad()) {
      kind = csi::DataStep::kEffect;
      add_effect(step, uses, writes);
      writes.write_counted(rest);
    } else {
      kind = llvm::isa<llvm::ReturnInst>(step) ? csi::DataStep::kReturn
             : step.isTerminator()             ? csi::DataStep::kBranch
                                               : csi::DataStep::kValue;
      add_operands(step, uses);
    }
    write_head(step, kind, uses, out);
    uses.write(out);
    out.append(rest);
    if (steps_.value(step)) ++next_value_;
  }

  // Kind, place, whether other steps use the result, and the number of uses.
  void write_head(const llvm::Instruction& step, csi::DataStep kind, const Items& uses,
                  Bytes& out) {
    unsigned head = static_cast<unsigned>(kind);
    if (steps_.value(step)) head |= csi::kDataHasResult;
    const unsigned few = std::min<std::size_t>(uses.size(), csi::kDataManyUses);
    head |= few << csi::kDataUsesShift;
    const llvm::DILocation* const location = step.getDebugLoc().get();
    std::int64_t line = 0;
    std::size_t scope = scope_;
    if (location != nullptr && location->getLine() != 0 && !steps_.is_of_sampler(step)) {
      line = location->getLine();
      scope = scope_number_(*location);
    }
    const bool has_scope = scope != scope_;
    const bool has_line = has_scope || line != line_;
    if (has_scope) head |= csi::kDataHasScope;
    if (has_line) head |= csi::kDataHasLine;
    out.byte(head);
    if (has_scope) out.number(scope);
    if (has_line) out.difference(line - line_);
    if (few == csi::kDataManyUses) out.number(uses.size());
    line_ = line;
    scope_ = scope;
  }

  void write_call(const llvm::CallBase& call, Bytes& out) {
    unsigned effects = 0;
    if (!call.onlyWritesMemory() && !call.doesNotAccessMemory()) effects |= csi::kCallReads;
    if (!call.onlyReadsMemory()) effects |= csi::kCallWrites;
    if (call.onlyAccessesArgMemory()) effects |= csi::kCallArgumentsOnly;
    out.byte(effects);
    out.number(call.arg_size());
    for (const llvm::Use& argument : call.args()) {
      Items uses;
      add_value(*argument.get(), uses);
      add_address(*argument.get(), uses);
      uses.write_counted(out);
    }
  }

  static void write_call_without_effects(Bytes& out) {
    out.byte(csi::kCallArgumentsOnly);
    constexpr std::uint64_t kArguments = 0;
    out.number(kArguments);
  }

  void write_incoming(const llvm::PHINode& phi, Bytes& out) {
    std::vector<std::pair<std::size_t, const llvm::Value*>> incoming;
    llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      const llvm::BasicBlock* const from = phi.getIncomingBlock(i);
      const auto found = index_.find(from);
      if (found != index_.end() && seen.insert(from).second)
        incoming.emplace_back(found->second, phi.getIncomingValue(i));
    }
    out.number(incoming.size());
    for (const auto& [from, value] : incoming) {
      Items uses;
      add_value(*value, uses);
      out.number(from);
      uses.write_counted(out);
    }
  }

  void add_effect(const llvm::Instruction& step, Items& uses, Items& writes) {
    add_operands(step, uses);
    if (const auto* const copy = llvm::dyn_cast<llvm::MemIntrinsic>(&step)) {
      std::optional<std::uint64_t> size;
      if (const auto* const length = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength()))
        size = length->getZExtValue();
      if (const auto* const transfer = llvm::dyn_cast<llvm::MemTransferInst>(copy))
        add_contents(*transfer->getSource(), size, uses);
      return add_write(*copy->getDest(), size, writes);
    }
    if (const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&step);
        call != nullptr && call->onlyAccessesArgMemory()) {
      for (const llvm::Use& argument : call->args()) {
        if (!argument->getType()->isPointerTy()) continue;
        add_contents(*argument.get(), std::nullopt, uses);
        add_write(*argument.get(), std::nullopt, writes);
      }
      return;
    }
    if (step.mayReadFromMemory() || step.isEHPad()) {
      const llvm::Value* pointer = nullptr;
      if (const auto* const change = llvm::dyn_cast<llvm::AtomicRMWInst>(&step))
        pointer = change->getPointerOperand();
      if (const auto* const exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&step))
        pointer = exchange->getPointerOperand();
      if (pointer != nullptr) {
        add_contents(*pointer, std::nullopt, uses);
        return add_write(*pointer, std::nullopt, writes);
      }
      uses.add(item_of(0, csi::DataUse::kContents));
    }
    if (step.mayWriteToMemory()) writes.add(item_of(0, csi::DataUse::kContents));
  }

  const llvm::Function& function_;
  const std::vector<const llvm::BasicBlock*>& blocks_;
  const ScopeNumber& scope_number_;
  const llvm::DataLayout& layout_;
  DataObjects objects_;
  DataSteps steps_;
  llvm::DenseMap<const llvm::BasicBlock*, std::size_t> index_;
  std::uint32_t next_value_ = 0;  // number of the next result
  // Of the step before, in the same block.
  std::int64_t line_ = 0;
  std::size_t scope_ = 0;
};

}  // namespace

std::string data_record_bytes(const llvm::Function& function,
                              const std::vector<const llvm::BasicBlock*>& blocks,
                              const ScopeNumber& scope_number) {
  return DataWriter(function, blocks, scope_number).write();
}

}  // namespace telltale::instrument
