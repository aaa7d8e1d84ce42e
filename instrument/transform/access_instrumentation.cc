#include "transform/access_instrumentation.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

namespace telltale::instrument {
namespace {

// Truth values are a byte in memory.
llvm::Value* before_widening(llvm::Value* value, const Unit& unit) {
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

llvm::Instruction* load_of(const llvm::CallInst& call, const Unit& unit) {
  return llvm::dyn_cast<llvm::LoadInst>(before_widening(call.getArgOperand(1), unit));
}

llvm::Instruction* store_of(llvm::CallInst& call, const Unit& unit) {
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

// Above so many accesses a function makes two calls at each, which look at the window themselves:
// clang takes more than linear time for what comes of two jumps at each.
constexpr std::size_t kMostWithJumps = 64;

class Watcher {
 public:
  Watcher(llvm::CallInst& call, const Mark& mark, const Unit& unit, Counters& counters,
          bool with_jumps)
      : call_(call),
        mark_(mark),
        counters_(counters),
        with_jumps_(with_jumps),
        module_(*call.getModule()),
        builder_(&call),
        access_(mark.is_write ? store_of(call, unit) : load_of(call, unit)) {}

  void watch() {
    call_.replaceAllUsesWith(call_.getArgOperand(1));
    if (access_ == nullptr) {
      // Clang made no access of it: there is nothing to watch.
      call_.eraseFromParent();
      return;
    }
    if (mark_.scheme == Scheme::kData) return tell_address();
    llvm::Value* const held = enter();
    llvm::Instruction* const after = access_->getNextNode();
    builder_.SetInsertPoint(after);
    if (with_jumps_) {
      builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(builder_.CreateIsNotNull(held),
                                                              after->getIterator(), false));
    }
    leave(held);
    builder_.SetInsertPoint(after);
    const llvm::FunctionCallee marked =
        module_.getOrInsertFunction(std::string(kMarkPrefix) + "access", builder_.getVoidTy(),
                                    builder_.getInt32Ty(), builder_.getInt32Ty());
    builder_.CreateCall(marked, {call_.getArgOperand(0), held});
    call_.eraseFromParent();
  }

 private:
  void tell_address() {
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
  llvm::Value* wide(llvm::Value* value) {
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

  // Not 0 where the access is watched.
  llvm::Value* enter() {
    builder_.SetInsertPoint(access_);
    if (!with_jumps_) return call_enter();
    llvm::Value* const open = is_window_open();
    llvm::BasicBlock* const before = access_->getParent();
    llvm::Instruction* const entering =
        llvm::SplitBlockAndInsertIfThen(open, access_->getIterator(), false);
    builder_.SetInsertPoint(entering);
    llvm::Value* const answer = call_enter();
    builder_.SetInsertPoint(access_->getParent(), access_->getParent()->begin());
    llvm::PHINode* const held = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    held->addIncoming(builder_.getInt32(0), before);
    held->addIncoming(answer, entering->getParent());
    return held;
  }

  // Answers 0 if the window is closed, too.
  llvm::Value* call_enter() {
    llvm::Type* const pointer = builder_.getPtrTy();
    llvm::Type* const word = builder_.getInt32Ty();
    llvm::Constant* const counted = counters_.access_table(mark_);
    if (!is_swap()) {
      return builder_.CreateCall(
          module_.getOrInsertFunction("telltale_sampler_atoms_enter_v1", word, pointer, pointer),
          {counted, place()});
    }
    llvm::Value* const now = wide(builder_.CreateAlignedLoad(type(), place(), llvm::MaybeAlign(1)));
    return builder_.CreateCall(module_.getOrInsertFunction("telltale_sampler_swap_enter_v1", word,
                                                           pointer, pointer, builder_.getInt64Ty()),
                               {counted, place(), now});
  }

  // With jumps `held` is known not to be 0.
  void leave(llvm::Value* held) {
    llvm::Constant* const counted = counters_.access_table(mark_);
    std::vector<llvm::Value*> arguments{counted};
    std::string name = is_swap() ? "telltale_sampler_swap_leave" : "telltale_sampler_atoms_leave";
    if (is_swap()) {
      llvm::Value* const value = mark_.is_write
                                     ? llvm::cast<llvm::StoreInst>(access_)->getValueOperand()
                                     : static_cast<llvm::Value*>(access_);
      arguments.insert(arguments.end(), {place(), wide(value)});
    }
    if (!with_jumps_) {
      name += "_if";
      arguments.insert(arguments.begin(), held);
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
  Counters& counters_;
  bool with_jumps_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  llvm::Instruction* access_;
};

}  // namespace

void watch_accesses(llvm::Function& function, const Unit& unit, Counters& counters) {
  std::vector<llvm::CallInst*> accesses;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const Mark* const mark = mark_of(instruction, unit);
    if (mark == nullptr || mark->sites.empty()) continue;
    auto* const call = llvm::cast<llvm::CallInst>(&instruction);
    if (mark->scheme == Scheme::kYields) {
      llvm::IRBuilder<> builder(call);
      counters.count(builder, counters.counter_at(*mark, 0));
    } else if (mark->scheme == Scheme::kAtoms || mark->scheme == Scheme::kAtomsRw ||
               mark->scheme == Scheme::kCompareSwap ||
               (mark->scheme == Scheme::kData && unit.options.trace_sites)) {
      accesses.push_back(call);
    }
  }
  const bool with_jumps = accesses.size() <= kMostWithJumps;
  for (llvm::CallInst* const call : accesses)
    Watcher(*call, *mark_of(*call, unit), unit, counters, with_jumps).watch();
}

}  // namespace telltale::instrument
