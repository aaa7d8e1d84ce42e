#include "transform/access_instrumentation.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "analysis/ir_marks.h"

namespace telltale::instrument {
namespace {

// Strips marks and the conversions between a bool, i1 in registers, and its byte in memory.
llvm::Value* strip_bool_conversions(llvm::Value* value, const TranslationUnit& unit) {
  for (;;) {
    if (auto* const call = llvm::dyn_cast<llvm::CallInst>(value);
        call != nullptr && mark_of(*call, unit) != nullptr && call->arg_size() > 1) {
      value = call->getArgOperand(1);
    } else if (auto* const narrow = llvm::dyn_cast<llvm::TruncInst>(value)) {
      value = narrow->getOperand(0);
    } else if (auto* const is_set = llvm::dyn_cast<llvm::ICmpInst>(value)) {
      value = is_set->getOperand(0);
    } else {
      return value;
    }
  }
}

llvm::Instruction* load_of(const llvm::CallInst& call, const TranslationUnit& unit) {
  return llvm::dyn_cast<llvm::LoadInst>(strip_bool_conversions(call.getArgOperand(1), unit));
}

llvm::Instruction* store_of(llvm::CallInst& call, const TranslationUnit& unit) {
  llvm::Value* value = &call;
  for (;;) {
    llvm::Value* next = nullptr;
    for (llvm::User* const user : value->users()) {
      if (auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
          store != nullptr && store->getValueOperand() == value)
        return store;
      const auto* const other = llvm::dyn_cast<llvm::CallInst>(user);
      if (llvm::isa<llvm::ZExtInst>(user) || (other != nullptr && mark_of(*other, unit) != nullptr))
        next = user;
    }
    if (next == nullptr) return nullptr;
    value = next;
  }
}

// Functions with more accesses call the runtime at each access, whether or not a window is open:
// clang's time grows faster than linearly with the number of branches.
constexpr std::size_t kMaxAccessesWithBranches = 64;

class AccessInstrumenter {
 public:
  AccessInstrumenter(llvm::CallInst& call, const Mark& mark, const TranslationUnit& unit,
                     Codegen& codegen, bool with_branches)
      : call_(call),
        mark_(mark),
        codegen_(codegen),
        with_branches_(with_branches),
        module_(*call.getModule()),
        builder_(&call),
        access_(mark.is_write ? store_of(call, unit) : load_of(call, unit)) {}

  void run() {
    call_.replaceAllUsesWith(call_.getArgOperand(1));
    if (access_ == nullptr) {
      // Clang emitted no load or store.
      call_.eraseFromParent();
      return;
    }
    if (mark_.scheme == Scheme::kData) return emit_address_mark();
    llvm::Value* const watched = emit_enter();
    llvm::Instruction* const after = access_->getNextNode();
    builder_.SetInsertPoint(after);
    if (with_branches_) {
      builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(builder_.CreateIsNotNull(watched),
                                                              after->getIterator(), false));
    }
    emit_leave(watched);
    builder_.SetInsertPoint(after);
    const llvm::FunctionCallee marked =
        module_.getOrInsertFunction(std::string(kMarkPrefix) + "access", builder_.getVoidTy(),
                                    builder_.getInt32Ty(), builder_.getInt32Ty());
    builder_.CreateCall(marked, {call_.getArgOperand(0), watched});
    call_.eraseFromParent();
  }

 private:
  void emit_address_mark() {
    builder_.SetInsertPoint(access_->getNextNode());
    const llvm::FunctionCallee marked =
        module_.getOrInsertFunction(std::string(kMarkPrefix) + "address", builder_.getVoidTy(),
                                    builder_.getInt32Ty(), builder_.getInt64Ty());
    builder_.CreateCall(
        marked, {call_.getArgOperand(0), builder_.CreatePtrToInt(place(), builder_.getInt64Ty())});
    call_.eraseFromParent();
  }

  [[nodiscard]] bool is_swap() const { return mark_.scheme == Scheme::kCompareSwap; }
  llvm::Value* place() {
    return llvm::isa<llvm::LoadInst>(access_)
               ? llvm::cast<llvm::LoadInst>(access_)->getPointerOperand()
               : llvm::cast<llvm::StoreInst>(access_)->getPointerOperand();
  }
  llvm::Type* type() {
    return llvm::isa<llvm::LoadInst>(access_)
               ? access_->getType()
               : llvm::cast<llvm::StoreInst>(access_)->getValueOperand()->getType();
  }
  llvm::Value* to_i64(llvm::Value* value) {
    llvm::Type* const word = builder_.getInt64Ty();
    value = builder_.CreateFreeze(value);
    return value->getType()->isPointerTy() ? builder_.CreatePtrToInt(value, word)
                                           : builder_.CreateZExtOrTrunc(value, word);
  }

  llvm::Value* is_window_open() {
    llvm::Type* const word = builder_.getInt32Ty();
    auto* const window = llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(
        is_swap()                        ? "telltale_sampler_swap_window"
        : mark_.scheme == Scheme::kAtoms ? "telltale_sampler_atoms_window"
                                         : "telltale_sampler_atoms_rw_window",
        word));
    llvm::Value* at = window;
    if (is_swap()) {
      window->setThreadLocalMode(llvm::GlobalVariable::InitialExecTLSModel);
      at = builder_.CreateThreadLocalAddress(window);
    }
    llvm::LoadInst* const open = builder_.CreateAlignedLoad(word, at, llvm::MaybeAlign(4));
    open->setAtomic(llvm::AtomicOrdering::Monotonic);
    return builder_.CreateIsNotNull(open);
  }

  // Returns an i32 that is not 0 if the access is watched.
  llvm::Value* emit_enter() {
    builder_.SetInsertPoint(access_);
    if (!with_branches_) return emit_enter_call();
    llvm::Value* const open = is_window_open();
    llvm::BasicBlock* const before = access_->getParent();
    llvm::Instruction* const entering =
        llvm::SplitBlockAndInsertIfThen(open, access_->getIterator(), false);
    builder_.SetInsertPoint(entering);
    llvm::Value* const answer = emit_enter_call();
    builder_.SetInsertPoint(access_->getParent(), access_->getParent()->begin());
    llvm::PHINode* const watched = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    watched->addIncoming(builder_.getInt32(0), before);
    watched->addIncoming(answer, entering->getParent());
    return watched;
  }

  // Returns 0 if the window is closed, too.
  llvm::Value* emit_enter_call() {
    llvm::Type* const pointer = builder_.getPtrTy();
    llvm::Type* const word = builder_.getInt32Ty();
    llvm::Constant* const counted = codegen_.tables.access_descriptor(mark_);
    if (!is_swap()) {
      return builder_.CreateCall(
          module_.getOrInsertFunction("telltale_sampler_atoms_enter_v1", word, pointer, pointer),
          {counted, place()});
    }
    llvm::Value* const now =
        to_i64(builder_.CreateAlignedLoad(type(), place(), llvm::MaybeAlign(1)));
    return builder_.CreateCall(module_.getOrInsertFunction("telltale_sampler_swap_enter_v1", word,
                                                           pointer, pointer, builder_.getInt64Ty()),
                               {counted, place(), now});
  }

  // With branches, `watched` is known to be not 0.
  void emit_leave(llvm::Value* watched) {
    llvm::Constant* const counted = codegen_.tables.access_descriptor(mark_);
    std::vector<llvm::Value*> arguments{counted};
    std::string name = is_swap() ? "telltale_sampler_swap_leave" : "telltale_sampler_atoms_leave";
    if (is_swap()) {
      llvm::Value* const value = mark_.is_write
                                     ? llvm::cast<llvm::StoreInst>(access_)->getValueOperand()
                                     : static_cast<llvm::Value*>(access_);
      arguments.insert(arguments.end(), {place(), to_i64(value)});
    }
    if (!with_branches_) {
      name += "_if";
      arguments.insert(arguments.begin(), watched);
    }
    std::vector<llvm::Type*> types;
    for (const llvm::Value* const argument : arguments) types.push_back(argument->getType());
    builder_.CreateCall(
        module_.getOrInsertFunction(name + "_v1",
                                    llvm::FunctionType::get(builder_.getVoidTy(), types, false)),
        arguments);
  }

  llvm::CallInst& call_;
  const Mark& mark_;
  Codegen& codegen_;
  bool with_branches_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  llvm::Instruction* access_;
};

}  // namespace

void instrument_accesses(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen) {
  std::vector<llvm::CallInst*> accesses;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const Mark* const mark = mark_of(instruction, unit);
    if (mark == nullptr || mark->sites.empty()) continue;
    auto* const call = llvm::cast<llvm::CallInst>(&instruction);
    if (mark->scheme == Scheme::kYields) {
      llvm::IRBuilder<> builder(call);
      codegen.observations.emit_increment(builder, codegen.tables.counter_at(*mark, 0));
    } else if (mark->scheme == Scheme::kAtoms || mark->scheme == Scheme::kAtomsRw ||
               mark->scheme == Scheme::kCompareSwap ||
               (mark->scheme == Scheme::kData && unit.options.trace_sites)) {
      accesses.push_back(call);
    }
  }
  const bool with_branches = accesses.size() <= kMaxAccessesWithBranches;
  for (llvm::CallInst* const call : accesses)
    AccessInstrumenter(*call, *mark_of(*call, unit), unit, codegen, with_branches).run();
}

}  // namespace telltale::instrument
