#include "codegen/registration.h"

#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <cstddef>

#include "codegen/runtime_abi.h"

namespace telltale::instrument {
namespace {

static_assert(static_cast<std::uint32_t>(Random::kOnline) == abi::kOnline &&
              static_cast<std::uint32_t>(Random::kOffline) == abi::kOffline &&
              static_cast<std::uint32_t>(Random::kFixed) == abi::kFixed);
static_assert(static_cast<std::uint8_t>(ValueKind::kSigned) == abi::kSigned &&
              static_cast<std::uint8_t>(ValueKind::kUnsigned) == abi::kUnsigned &&
              static_cast<std::uint8_t>(ValueKind::kPointer) == abi::kPointer);

struct Descriptor {
  llvm::GlobalVariable* variable = nullptr;
  llvm::GlobalVariable* thread_call_counters = nullptr;  // null: none, or not of threads
};

Descriptor make_descriptor(CounterTables& tables, Countdowns& countdowns,
                           FirstExecutions& first_executions) {
  llvm::LLVMContext& context = tables.module().getContext();
  const Options& options = tables.options();
  const auto i32 = [&](std::uint64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  };
  std::uint32_t flags = 0;
  if (options.sample) flags |= abi::kSamples;
  if (options.threads) flags |= abi::kThreads;
  if (options.trace_sites) flags |= abi::kTraces;
  llvm::GlobalVariable* const call_counters = countdowns.define_call_counters();
  const auto schemes = std::count(options.schemes.begin(), options.schemes.end(), true);
  const layout::UnitDescriptor descriptor = {
      .version = i32(abi::kAbiVersion),
      .scheme_count = i32(static_cast<std::uint64_t>(schemes)),
      .random = i32(static_cast<std::uint64_t>(options.random)),
      .flags = i32(flags),
      .schemes = tables.scheme_tables(),
      .signature = llvm::ConstantDataArray::get(
          context, llvm::ArrayRef<std::uint8_t>(tables.unit().signature)),
      .countdowns = countdowns.unit_countdowns(),
      // A thread's address is no constant; the constructor stores it.
      .call_counters = options.threads ? nullptr : call_counters,
      .weak_variables = tables.weak_variables(),
      .budgets = first_executions.merge_budgets(),
      .call_counter_count = i32(countdowns.call_counter_count()),
      .budget_count = i32(first_executions.budget_count()),
      .renewed_budget_count = i32(first_executions.renewed_budget_count())};
  return {tables.make_variable(descriptor.constant(context), "unit", false),
          options.threads ? call_counters : nullptr};
}

// void (): passes the descriptor to a function of the runtime, after `prepare` has emitted code.
template <typename Prepare>
llvm::Function* make_hook(llvm::Module& module, const char* name,
                          llvm::FunctionCallee (*declare)(llvm::Module&),
                          llvm::GlobalVariable* descriptor, const Prepare& prepare) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Function* const hook =
      llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), false),
                             llvm::GlobalValue::InternalLinkage, name, module);
  hook->addFnAttr(llvm::Attribute::NoUnwind);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", hook));
  prepare(builder);
  builder.CreateCall(declare(module), {descriptor});
  builder.CreateRetVoid();
  return hook;
}

}  // namespace

void emit_registration(CounterTables& tables, Countdowns& countdowns,
                       FirstExecutions& first_executions) {
  llvm::Module& module = tables.module();
  const Descriptor descriptor = make_descriptor(tables, countdowns, first_executions);
  const auto store_call_counters = [&](llvm::IRBuilderBase& at) {
    if (descriptor.thread_call_counters == nullptr) return;
    at.CreateStore(
        at.CreateThreadLocalAddress(descriptor.thread_call_counters),
        at.CreateInBoundsGEP(at.getInt8Ty(), descriptor.variable,
                             {at.getInt64(offsetof(abi::UnitDescriptor, call_counters))}));
  };
  // Before all other constructors, after all other destructors.
  constexpr int kFirst = 1;
  llvm::appendToGlobalCtors(
      module,
      make_hook(module, "telltale.sampler.register", runtime::telltale_sampler_register_v1,
                descriptor.variable, store_call_counters),
      kFirst);
  llvm::appendToGlobalDtors(
      module,
      make_hook(module, "telltale.sampler.unregister", runtime::telltale_sampler_unregister_v1,
                descriptor.variable, [](llvm::IRBuilderBase&) {}),
      kFirst);
}

}  // namespace telltale::instrument
