#include "codegen/variables_by_address.h"

#include "analysis/ir_marks.h"
#include "codegen/cold_functions.h"
#include "codegen/pair_tallies.h"
#include "codegen/runtime_abi.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// Fewer are shorter as values.
constexpr unsigned kLeastAddresses = 3;

// The body: a loop over batches, and in it one over the operands of a batch.
class LoadingEmitter {
 public:
  LoadingEmitter(llvm::Function& function, llvm::Function& counts, CounterTables& tables,
                 std::uint64_t stride, llvm::Type* stored, llvm::Type* number, bool is_signed)
      : function_(function),
        counts_(counts),
        tables_(tables),
        stride_(stride),
        stored_(stored),
        number_(number),
        is_signed_(is_signed),
        builder_(&function.getEntryBlock()) {}

  void emit() {
    llvm::Value* const array =
        builder_.CreateAlloca(llvm::ArrayType::get(number_, OperandPassing::kLanes));
    emit_loop(builder_.getInt64(0), count(), OperandPassing::kLanes, [&](llvm::Value* first) {
      llvm::Value* const sites =
          builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, builder_.CreateSub(count(), first),
                                         builder_.getInt64(OperandPassing::kLanes));
      emit_loop(builder_.getInt64(0), sites, 1, [&](llvm::Value* index) {
        builder_.CreateStore(emit_load(builder_.CreateAdd(first, index)),
                             builder_.CreateGEP(number_, array, {index}));
      });
      emit_call(first, sites, array);
    });
    builder_.CreateRetVoid();
  }

 private:
  [[nodiscard]] llvm::Argument* place() const { return function_.getArg(0); }
  [[nodiscard]] llvm::Argument* value() const { return function_.getArg(1); }
  [[nodiscard]] llvm::Argument* count() const { return function_.getArg(2); }
  [[nodiscard]] llvm::Argument* table() const { return function_.getArg(3); }

  llvm::Value* emit_load(llvm::Value* index) {
    llvm::Type* const pointer = builder_.getPtrTy();
    llvm::Value* const address =
        builder_.CreateLoad(pointer, builder_.CreateGEP(pointer, table(), {index}));
    // The program may lack a variable that is weak.
    llvm::Value* const place =
        builder_.CreateSelect(builder_.CreateIsNotNull(address), address, tables_.null_operand());
    llvm::Value* const operand = builder_.CreateFreeze(builder_.CreateLoad(stored_, place));
    return builder_.CreateIntCast(operand, number_, is_signed_);
  }

  void emit_call(llvm::Value* first, llvm::Value* sites, llvm::Value* array) {
    llvm::Value* const batch =
        builder_.CreateUDiv(first, builder_.getInt64(OperandPassing::kLanes));
    std::vector<llvm::Value*> arguments{
        builder_.CreateGEP(builder_.getInt8Ty(), place(),
                           {builder_.CreateMul(batch, builder_.getInt64(stride_))}),
        value()};
    if (!PairTallies::is_one(counts_)) arguments.push_back(sites);
    llvm::FunctionType* const type = counts_.getFunctionType();
    std::uint64_t loaded = 0;
    for (auto i = static_cast<unsigned>(arguments.size()); i < type->getNumParams(); ++i) {
      auto* const vector = llvm::cast<llvm::FixedVectorType>(type->getParamType(i));
      arguments.push_back(builder_.CreateAlignedLoad(
          vector, builder_.CreateConstGEP1_64(number_, array, loaded), llvm::Align(4)));
      loaded += vector->getNumElements();
    }
    call_cold(builder_, counts_, arguments);
  }

  // A loop from `first` to below `end`, which is not reached at once.
  template <typename Body>
  void emit_loop(llvm::Value* first, llvm::Value* end, unsigned step, const Body& body) {
    llvm::LLVMContext& context = function_.getContext();
    BasicBlock* const before = builder_.GetInsertBlock();
    BasicBlock* const head = BasicBlock::Create(context, "", &function_);
    BasicBlock* const after = BasicBlock::Create(context, "", &function_);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* const index = builder_.CreatePHI(tables_.i64(), 2);
    index->addIncoming(first, before);
    body(index);
    llvm::Value* const following = builder_.CreateAdd(index, builder_.getInt64(step));
    index->addIncoming(following, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpULT(following, end), head, after);
    builder_.SetInsertPoint(after);
  }

  llvm::Function& function_;
  llvm::Function& counts_;
  CounterTables& tables_;
  std::uint64_t stride_;
  llvm::Type* stored_;
  llvm::Type* number_;
  bool is_signed_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

// A variable of this unit alone would no longer be known to be unaliased.
bool VariablesByAddress::has_address(const llvm::Value& operand) const {
  const auto* const variable = llvm::dyn_cast<llvm::GlobalVariable>(&operand);
  return variable != nullptr && !variable->hasLocalLinkage() && !variable->isThreadLocal();
}

std::vector<VariablesByAddress::Run> VariablesByAddress::runs(const llvm::CallInst& call,
                                                              const Mark& mark) {
  const auto sites = static_cast<unsigned>(mark.sites.size());
  const llvm::Type* const type = call.getArgOperand(1)->getType();
  constexpr unsigned kMaxBits = 64;
  // A bool is a byte in memory, and only its lowest bit counts.
  const bool is_loaded = type->isPointerTy() || (type->isIntegerTy() && !type->isIntegerTy(1) &&
                                                 type->getIntegerBitWidth() <= kMaxBits);
  if (!tables_.options().sample || !operands_.has_vectors() || !is_loaded)
    return {{0, sites, nullptr}};
  std::vector<Run> found;
  std::vector<llvm::Constant*> addresses;
  const auto pass_as_values = [&](unsigned first, unsigned end) {
    if (first == end) return;
    if (!found.empty() && found.back().table == nullptr) {
      found.back().end = end;
    } else {
      found.push_back({first, end, nullptr});
    }
  };
  for (unsigned i = 0; i <= sites; ++i) {
    if (i < sites && !mark.operands[i].is_constant) {
      llvm::Value* const operand = call.getArgOperand(operand_argument(mark, i));
      if (has_address(*operand)) {
        addresses.push_back(llvm::cast<llvm::Constant>(operand));
        continue;
      }
    }
    const auto first = i - static_cast<unsigned>(addresses.size());
    if (addresses.size() < kLeastAddresses) {
      pass_as_values(first, i);
    } else {
      found.push_back({first, i, table_of(addresses)});
    }
    addresses.clear();
    if (i < sites) pass_as_values(i, i + 1);
  }
  return found;
}

llvm::Constant* VariablesByAddress::table_of(const std::vector<llvm::Constant*>& addresses) {
  llvm::Constant*& known = known_tables_[addresses];
  if (known == nullptr) {
    auto* const type = llvm::ArrayType::get(addresses.front()->getType(), addresses.size());
    known = tables_.make_variable(llvm::ConstantArray::get(type, addresses), "variables", true);
  }
  return known;
}

llvm::Function& VariablesByAddress::function(llvm::Function& counts, std::uint64_t stride,
                                             llvm::Type* stored, llvm::Type* number,
                                             bool is_signed) {
  llvm::Function*& made = functions_[{&counts, stored}];
  if (made != nullptr) return *made;
  llvm::Module& module = tables_.module();
  llvm::Type* const pointer = llvm::PointerType::getUnqual(module.getContext());
  made =
      make_cold_function(module, "load",
                         llvm::FunctionType::get(
                             llvm::Type::getVoidTy(module.getContext()),
                             {counts.getArg(0)->getType(), number, tables_.i64(), pointer}, false));
  // It reads variables of the program.
  made->setMemoryEffects(llvm::MemoryEffects::readOnly() |
                         llvm::MemoryEffects::inaccessibleMemOnly());
  LoadingEmitter(*made, counts, tables_, stride, stored, number, is_signed).emit();
  return *made;
}

}  // namespace telltale::instrument
