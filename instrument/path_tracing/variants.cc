#include "path_tracing/variants.h"

#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <string>
#include <utility>

#include "labels.h"
#include "source_function.h"

namespace telltale::instrument {
namespace {

constexpr const char* kSection = "__CSI_func_inst";

// Variants are numbered by their names; without instrumentation it is number 0.
struct Choice {
  std::uint32_t value = 0;
  llvm::Function* function = nullptr;
};

// The variable that says which variant runs. It is data of the program file, which can be edited
// before a run; the program does not write it.
llvm::GlobalVariable* make_selector(llvm::Function& function, std::uint32_t first) {
  llvm::Module& module = *function.getParent();
  llvm::IntegerType* const type = llvm::Type::getInt32Ty(module.getContext());
  auto* const selector = new llvm::GlobalVariable(
      module, type, true,
      function.hasLocalLinkage() ? llvm::GlobalValue::InternalLinkage : function.getLinkage(),
      llvm::ConstantInt::get(type, first), "__CSI_inst_" + function.getName());
  if (!selector->hasLocalLinkage()) selector->setVisibility(llvm::GlobalValue::HiddenVisibility);
  selector->setSection(kSection);
  selector->setDSOLocal(true);
  if (function.hasComdat()) selector->setComdat(function.getComdat());
  return selector;
}

llvm::Value* load_selector(llvm::IRBuilder<>& builder, llvm::GlobalVariable* selector) {
  return builder.CreateLoad(selector->getValueType(), selector, true, "variant");
}

// Emits a switch over the choices at the end of `entry`; `finish` fills the block of each.
template <typename Finish>
void branch(llvm::BasicBlock* entry, llvm::GlobalVariable* selector,
            const std::vector<Choice>& choices, Finish finish) {
  llvm::IRBuilder<> builder(entry);
  std::vector<llvm::BasicBlock*> blocks;
  for (std::size_t i = 0; i < choices.size(); ++i)
    blocks.push_back(llvm::BasicBlock::Create(entry->getContext(), "", entry->getParent()));
  llvm::SwitchInst* const choose =
      builder.CreateSwitch(load_selector(builder, selector), blocks.front());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i != 0) choose->addCase(builder.getInt32(choices[i].value), blocks[i]);
    llvm::IRBuilder<> inside(blocks[i]);
    finish(inside, choices[i]);
  }
}

void dispatch(llvm::Function& function, llvm::GlobalVariable* selector,
              const std::vector<Choice>& choices) {
  llvm::BasicBlock* const entry = llvm::BasicBlock::Create(function.getContext(), "", &function);
  branch(entry, selector, choices, [&](llvm::IRBuilder<>& builder, const Choice& choice) {
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& argument : function.args()) arguments.push_back(&argument);
    llvm::CallInst* const call = builder.CreateCall(choice.function, arguments);
    call->setCallingConv(function.getCallingConv());
    call->setAttributes(choice.function->getAttributes());
    // The frame of the dispatcher must not be between a variant and its caller.
    call->setTailCallKind(llvm::CallInst::TCK_MustTail);
    if (function.getReturnType()->isVoidTy()) {
      builder.CreateRetVoid();
    } else {
      builder.CreateRet(call);
    }
  });
}

// Runs while the program is loaded, before all of it is relocated: calls nothing.
void resolve_when_loaded(llvm::Function& function, llvm::GlobalValue::LinkageTypes linkage,
                         const SourceFunction& source, llvm::GlobalVariable* selector,
                         const std::vector<Choice>& choices) {
  llvm::Module& module = *function.getParent();
  llvm::Function* const resolver = llvm::Function::Create(
      llvm::FunctionType::get(llvm::PointerType::getUnqual(module.getContext()), false),
      llvm::GlobalValue::InternalLinkage, kResolverPrefix + function.getName(), module);
  note_source(*resolver, source);
  resolver->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::BasicBlock* const entry = llvm::BasicBlock::Create(module.getContext(), "", resolver);
  branch(entry, selector, choices, [](llvm::IRBuilder<>& builder, const Choice& choice) {
    builder.CreateRet(choice.function);
  });
  const std::string name = function.getName().str();
  llvm::GlobalIFunc* const ifunc = llvm::GlobalIFunc::create(
      function.getFunctionType(), function.getAddressSpace(), linkage, "", resolver, &module);
  ifunc->setVisibility(function.getVisibility());
  ifunc->setDSOLocal(function.isDSOLocal());
  function.replaceAllUsesWith(ifunc);
  function.eraseFromParent();
  ifunc->setName(name);
}

// Whether the dispatcher could not pass on an argument that is in the caller's frame: before
// release 22, LLVM copies such an argument over itself.
bool loses_arguments(const llvm::Function& function, bool by_ifunc) {
#if LLVM_VERSION_MAJOR < 22
  return !by_ifunc && llvm::any_of(function.args(), [](const llvm::Argument& argument) {
    return argument.hasByValAttr();
  });
#else
  static_cast<void>(function);
  static_cast<void>(by_ifunc);
  return false;
#endif
}

// With link-time optimisation, not if the unit refers to the function other than by calls: the
// linker of LLVM 19 and 22 crashes on references to an ifunc of the same unit.
bool is_chosen_by_ifunc(const llvm::Function& function, const TracedUnit& unit) {
  return unit.options.dispatches_by_ifunc && !function.hasLocalLinkage() && !function.hasComdat() &&
         function.getName() != "main" && !(unit.optimises_later && function.hasAddressTaken());
}

}  // namespace

std::string reason_against_variants(llvm::Function& function, const TracedUnit& unit) {
  if (function.isVarArg()) return "takes a variable number of arguments";
  if (loses_arguments(function, is_chosen_by_ifunc(function, unit)))
    return "takes a structure on the stack";
  if (!label_tables(function)) return "has labels whose addresses other code may have";
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call != nullptr && (call->cannotDuplicate() || defines_label(*call)))
      return "has code that must not be repeated";
  }
  return "";
}

std::vector<Variant> replicate(llvm::Function& function, std::vector<MechanismSet> variants,
                               const TracedUnit& unit) {
  std::sort(variants.begin(), variants.end(),
            [](MechanismSet a, MechanismSet b) { return name_of(a) < name_of(b); });
  // As csi-cc numbers them: by name, where the empty set counts as the first.
  std::stable_partition(variants.begin(), variants.end(),
                        [](MechanismSet mechanisms) { return mechanisms == 0; });
  // Clang inlines such functions first, but not recursive ones, nor those that coroutines wait in.
  function.removeFnAttr(llvm::Attribute::AlwaysInline);
  const std::vector<llvm::GlobalVariable*> tables =
      label_tables(function).value_or(std::vector<llvm::GlobalVariable*>());
  std::vector<Variant> replicas;
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string suffix = "$" + name_of(variants[i]);
    llvm::ValueToValueMapTy values;
    copy_tables(tables, suffix, values);
    llvm::Function* const copy = llvm::CloneFunction(&function, values);
    fill_copied_tables(tables, values);
    copy->setName(function.getName() + suffix);
    copy->setLinkage(llvm::GlobalValue::InternalLinkage);
    copy->setVisibility(llvm::GlobalValue::DefaultVisibility);
    copy->setDSOLocal(true);
    copy->addFnAttr(llvm::Attribute::NoInline);
    replicas.push_back({copy, variants[i]});
    choices.push_back({variants[i] == 0 ? 0 : static_cast<std::uint32_t>(i + 1), copy});
  }
  llvm::GlobalVariable* const selector = make_selector(function, choices.front().value);
  const auto linkage = function.getLinkage();
  llvm::Comdat* const comdat = function.getComdat();
  const SourceFunction source = source_of(function);
  const bool by_ifunc = is_chosen_by_ifunc(function, unit);
  function.deleteBody();
  for (llvm::GlobalVariable* const table : tables) table->eraseFromParent();
  if (by_ifunc) {
    resolve_when_loaded(function, linkage, source, selector, choices);
  } else {
    function.setLinkage(linkage);
    function.setComdat(comdat);
    function.setSubprogram(nullptr);
    function.setPersonalityFn(nullptr);
    note_source(function, source);
    dispatch(function, selector, choices);
  }
  return replicas;
}

}  // namespace telltale::instrument
