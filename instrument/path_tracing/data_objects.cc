#include "path_tracing/data_objects.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "path_tracing/sampler_code.h"

namespace telltale::instrument {
namespace {

// Uses that neither let the address out nor lead to another pointer.
bool is_direct_access(const llvm::Use& use) {
  const llvm::User& user = *use.getUser();
  if (const auto* const call = llvm::dyn_cast<llvm::CallBase>(&user);
      call != nullptr && is_sampler_call(*call))
    return true;
  if (llvm::isa<llvm::LoadInst>(user)) return true;
  if (llvm::isa<llvm::StoreInst>(user))
    return use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex();
  if (const auto* const intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&user))
    return llvm::isa<llvm::MemIntrinsic>(intrinsic) || intrinsic->isLifetimeStartOrEnd();
  return false;
}

// Stores of it overwrite it completely, each time in the same memory.
bool has_one_place(const llvm::Value& base) {
  const auto* const local = llvm::dyn_cast<llvm::AllocaInst>(&base);
  return local == nullptr || local->isStaticAlloca();
}

std::optional<std::uint64_t> size_of(const llvm::Value& base, const llvm::DataLayout& layout) {
  std::optional<llvm::TypeSize> size;
  if (const auto* const local = llvm::dyn_cast<llvm::AllocaInst>(&base))
    size = local->getAllocationSize(layout);
  if (const auto* const global = llvm::dyn_cast<llvm::GlobalVariable>(&base))
    size = layout.getTypeAllocSize(global->getValueType());
  if (!size || size->isScalable()) return std::nullopt;
  return size->getFixedValue();
}

}  // namespace

bool is_accessed_by_name_only(const llvm::Value& variable) {
  llvm::SmallVector<const llvm::Value*, 8> pending = {&variable};
  llvm::SmallPtrSet<const llvm::Value*, 8> seen;
  while (!pending.empty()) {
    const llvm::Value* const pointer = pending.pop_back_val();
    for (const llvm::Use& use : pointer->uses()) {
      const llvm::User* const user = use.getUser();
      if (llvm::isa<llvm::GEPOperator>(user) || llvm::isa<llvm::BitCastOperator>(user)) {
        if (use.getOperandNo() != 0) return false;
        if (seen.insert(user).second) pending.push_back(user);
      } else if (!llvm::isa<llvm::Instruction>(user) || !is_direct_access(use)) {
        return false;
      }
    }
  }
  return true;
}

DataObjects::DataObjects(const llvm::Function& function)
    : layout_(function.getParent()->getDataLayout()), objects_(1) {
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block) {
      for (const llvm::DbgRecord& record : instruction.getDbgRecordRange()) {
        const auto* const variable = llvm::dyn_cast<llvm::DbgVariableRecord>(&record);
        if (variable == nullptr ||
            variable->getType() != llvm::DbgVariableRecord::LocationType::Declare)
          continue;
        const llvm::Value* const address = variable->getVariableLocationOp(0);
        if (address != nullptr) names_.try_emplace(address, variable->getVariable()->getName());
      }
    }
  }
}

llvm::StringRef DataObjects::name_of(const llvm::Value& local) const {
  const auto found = names_.find(&local);
  return found == names_.end() ? llvm::StringRef() : llvm::StringRef(found->second);
}

std::uint32_t DataObjects::number_of(const llvm::Value& base) {
  const auto [known, is_new] = numbers_.try_emplace(&base, objects_.size());
  if (!is_new) return known->second;
  Object object;
  const bool is_shared = !is_accessed_by_name_only(base);
  if (const auto* const global = llvm::dyn_cast<llvm::GlobalVariable>(&base)) {
    // Other translation units may use the address of what they can name.
    object.storage = !global->hasLocalLinkage() ? csi::Storage::kGlobal
                     : is_shared                ? csi::Storage::kUnitGlobal
                                                : csi::Storage::kPrivateGlobal;
    object.name = global->getName().str();
  } else {
    object.storage = is_shared ? csi::Storage::kSharedLocal : csi::Storage::kLocal;
    object.name = name_of(base).str();
  }
  objects_.push_back(std::move(object));
  return known->second;
}

std::optional<MemoryPart> DataObjects::part(const llvm::Value& pointer,
                                            std::optional<std::uint64_t> size) {
  constexpr unsigned kAnyDistance = 0;
  const llvm::Value* const base = llvm::getUnderlyingObject(&pointer, kAnyDistance);
  const auto* const global = llvm::dyn_cast<llvm::GlobalVariable>(base);
  if (global == nullptr && !llvm::isa<llvm::AllocaInst>(base)) return MemoryPart{};
  if (global != nullptr && global->isConstant()) return std::nullopt;
  // The linker may take another definition, of another size.
  const bool is_exact = global == nullptr || global->hasLocalLinkage();
  MemoryPart part{.object = number_of(*base), .range = {}, .is_whole = false};
  llvm::APInt offset(layout_.getIndexTypeSizeInBits(pointer.getType()), 0);
  constexpr bool kAlsoOutOfBounds = true;
  if (!size || !has_one_place(*base) ||
      pointer.stripAndAccumulateConstantOffsets(layout_, offset, kAlsoOutOfBounds) != base ||
      offset.isNegative())
    return part;
  part.range = {.begin = offset.getZExtValue(), .size = *size};
  part.is_whole = is_exact && part.range->begin == 0 && size_of(*base, layout_) == *size;
  return part;
}

}  // namespace telltale::instrument
