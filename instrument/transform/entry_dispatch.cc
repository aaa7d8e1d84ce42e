#include "transform/entry_dispatch.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "source_function.h"
#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// A block that tail-calls `other` with the arguments of `from` and `more`.
BasicBlock* make_forwarding_block(
    llvm::Function& from, llvm::Function& other,
    const std::function<std::vector<llvm::Value*>(llvm::IRBuilderBase&)>& emit_more) {
  BasicBlock* const block = BasicBlock::Create(from.getContext(), "telltale.instead", &from);
  llvm::IRBuilder<> builder(block);
  if (from.getSubprogram() != nullptr) {
    builder.SetCurrentDebugLocation(
        llvm::DILocation::get(from.getContext(), 0, 0, from.getSubprogram()));
  }
  const std::vector<llvm::Value*> more = emit_more(builder);
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& argument : from.args()) arguments.push_back(&argument);
  arguments.insert(arguments.end(), more.begin(), more.end());
  llvm::CallInst* const call = builder.CreateCall(&other, arguments);
  call->setCallingConv(other.getCallingConv());
  call->setAttributes(from.getAttributes().removeFnAttributes(from.getContext()));
  note_other_copy(*call);
  // A byval argument is in the caller's frame, which must outlive the call.
  const bool has_copy =
      std::any_of(from.arg_begin(), from.arg_end(),
                  [](const llvm::Argument& one) { return one.hasPassPointeeByValueCopyAttr(); });
  if (!has_copy) call->setTailCallKind(llvm::CallInst::TCK_Tail);
  if (from.getReturnType()->isVoidTy()) {
    builder.CreateRetVoid();
  } else {
    builder.CreateRet(call);
  }
  return block;
}

BasicBlock* make_forwarding_block(llvm::Function& from, llvm::Function& other,
                                  const std::vector<llvm::Value*>& more) {
  return make_forwarding_block(from, other, [&](llvm::IRBuilderBase&) { return more; });
}

// The dispatcher has no debug information: code that is inlined into it would lose its lines.
void inline_nothing(llvm::Function& dispatcher) {
  for (llvm::Instruction& instruction : llvm::instructions(dispatcher)) {
    if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->setIsNoInline();
  }
}

llvm::Function* make_cold_dispatcher(llvm::Function& function) {
  llvm::Function* const dispatcher = llvm::Function::Create(
      function.getFunctionType(), llvm::GlobalValue::InternalLinkage, function.getAddressSpace(),
      function.getName() + ".aside", function.getParent());
  dispatcher->copyAttributesFrom(&function);
  dispatcher->setLinkage(llvm::GlobalValue::InternalLinkage);
  dispatcher->setVisibility(llvm::GlobalValue::DefaultVisibility);
  dispatcher->setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
  dispatcher->setDSOLocal(true);
  dispatcher->removeFnAttr(llvm::Attribute::AlwaysInline);
  dispatcher->removeFnAttr(llvm::Attribute::InlineHint);
  dispatcher->addFnAttr(llvm::Attribute::NoInline);
  note_source(*dispatcher, source_of(function));
  if (!dispatcher->hasFnAttribute(llvm::Attribute::OptimizeNone))
    dispatcher->addFnAttr(llvm::Attribute::Cold);
  return dispatcher;
}

}  // namespace

void dispatch_calls(llvm::Function& function, llvm::Function& other, bool predict,
                    const std::function<llvm::Value*(llvm::IRBuilderBase&)>& countdown_address,
                    const std::function<Dispatch(llvm::IRBuilderBase&)>& emit_decision) {
  llvm::Function* const dispatcher = make_cold_dispatcher(function);
  BasicBlock* const start = split_entry(function);
  llvm::Instruction* const end = function.getEntryBlock().getTerminator();
  llvm::IRBuilder<> builder(end);
  llvm::IntegerType* const word = builder.getInt32Ty();
  llvm::Value* const one = llvm::ConstantInt::get(word, 1);
  llvm::Value* const countdown = countdown_address(builder);
  llvm::Value* const left = builder.CreateSub(builder.CreateLoad(word, countdown), one);
  builder.CreateStore(left, countdown);
  constexpr std::uint32_t kSeldom = 1;
  constexpr std::uint32_t kOften = 10000;
  builder.CreateCondBr(
      builder.CreateICmpSLT(left, llvm::ConstantInt::get(word, 0)),
      make_forwarding_block(function, *dispatcher, std::vector<llvm::Value*>()), start,
      predict ? llvm::MDBuilder(function.getContext()).createBranchWeights(kSeldom, kOften)
              : nullptr);
  end->eraseFromParent();

  builder.SetInsertPoint(BasicBlock::Create(dispatcher->getContext(), "", dispatcher));
  builder.SetCurrentDebugLocation({});
  const Dispatch found = emit_decision(builder);
  BasicBlock* const back =
      make_forwarding_block(*dispatcher, function, std::vector<llvm::Value*>());
  builder.CreateCondBr(found.is_taken,
                       make_forwarding_block(*dispatcher, other, found.extra_arguments), back);
  // `function` will count this call again.
  builder.SetInsertPoint(back, back->begin());
  llvm::Value* const again = countdown_address(builder);
  llvm::Value* const now = builder.CreateLoad(word, again);
  const auto largest = static_cast<std::uint64_t>(INT32_MAX);
  builder.CreateStore(
      builder.CreateSelect(builder.CreateICmpEQ(now, llvm::ConstantInt::get(word, largest)), now,
                           builder.CreateAdd(now, one)),
      again);
  inline_nothing(*dispatcher);
}

void forward_calls_if(
    llvm::Function& function, llvm::Function& other,
    const std::function<llvm::Value*(llvm::IRBuilderBase&)>& emit_condition,
    const std::function<std::vector<llvm::Value*>(llvm::IRBuilderBase&)>& emit_taken) {
  BasicBlock* const start = split_entry(function);
  llvm::Instruction* const end = function.getEntryBlock().getTerminator();
  llvm::IRBuilder<> builder(end);
  constexpr std::uint32_t kSeldom = 1;
  constexpr std::uint32_t kOften = 10000;
  builder.CreateCondBr(emit_condition(builder), make_forwarding_block(function, other, emit_taken),
                       start,
                       llvm::MDBuilder(function.getContext()).createBranchWeights(kSeldom, kOften));
  end->eraseFromParent();
}

}  // namespace telltale::instrument
