#include "codegen/pair_tallies.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "codegen/cold_functions.h"
#include "codegen/inline_counters.h"
#include "codegen/runtime_abi.h"
#include "codegen/thread_slots.h"
#include "codegen/vector_tallies.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// Sets the type of the operand in memory that is the assembly's first argument.
void set_element_type(llvm::CallInst& call, llvm::Type* type) {
  call.addParamAttr(0, llvm::Attribute::get(call.getContext(), llvm::Attribute::ElementType, type));
}

// Calls assembly whose only argument is in memory.
llvm::Value* call_asm_on_memory(llvm::IRBuilderBase& at, llvm::Type* result, const char* code,
                                const char* constraints, llvm::Value& address, llvm::Type* type) {
  llvm::CallInst* const call = call_asm_without_aliasing(at, result, code, constraints, {&address});
  set_element_type(*call, type);
  return call;
}

// A block is flushed after as many observations as a byte holds. Tallies count down from 0.
constexpr std::uint8_t kFull = -255 & 0xff;
constexpr unsigned kLanes = OperandPassing::kLanes;
static_assert(kLanes == abi::kTallySites);

constexpr const char* kName = "tally";

// Emits the bodies of these functions.
class TallyEmitter {
 public:
  TallyEmitter(llvm::Function& function, CounterTables& tables, bool is_signed = false)
      : function_(function),
        table_(tables.of(Scheme::kScalarPairs)),
        block_(function.getArg(0)),
        i64_(tables.i64()),
        i8_(llvm::Type::getInt8Ty(function.getContext())),
        is_signed_(is_signed),
        builder_(&function.getEntryBlock()) {}

  // A processor without AVX2 calls `exact`, with the same parameters.
  void emit_processor_check(CounterTables& tables, llvm::Function& exact) {
    BasicBlock* const lacks = make_block();
    BasicBlock* const entry = make_block();
    llvm::Value* const has_avx2 =
        builder_.CreateLoad(i8_, runtime::telltale_sampler_has_avx2_v1(tables.module()));
    builder_.CreateCondBr(builder_.CreateICmpEQ(has_avx2, builder_.getInt8(0)), lacks, entry,
                          unlikely());
    builder_.SetInsertPoint(lacks);
    emit_call_of(exact);
    builder_.SetInsertPoint(entry);
  }

  // Threads that have a slot use its tallies, the others call `exact`, with the same parameters.
  void emit_choice_of_slot(CounterTables& tables, llvm::Function& exact) {
    BasicBlock* const shares = make_block();
    BasicBlock* const has_slot = make_block();
    llvm::Value* const slot = emit_thread_slot(builder_, tables);
    builder_.CreateCondBr(builder_.CreateICmpEQ(slot, builder_.getInt64(0)), shares, has_slot,
                          unlikely());
    builder_.SetInsertPoint(shares);
    emit_call_of(exact);
    builder_.SetInsertPoint(has_slot);
    emit_offset_of(slot);
    block_ = builder_.CreateGEP(i8_, block_, {in_slot_});
  }

  // The byte that is 1 while the function uses the tallies. A signal handler that interrupts it
  // then calls `exact`, with the same parameters. If the handler does not return, the byte stays 1,
  // and all later observations are counted so.
  void emit_guard(llvm::Value& guard, llvm::Function& exact) {
    guard_ = &guard;
    BasicBlock* const interrupts = make_block();
    BasicBlock* const entry = make_block();
    llvm::Value* const before =
        call_asm_on_memory(builder_, builder_.getInt32Ty(), "movzbl $1, $0\nmovb $$1, $1",
                           "=&r,*m,~{dirflag},~{fpsr},~{flags}", guard, i8_);
    builder_.CreateCondBr(builder_.CreateICmpNE(before, builder_.getInt32(0)), interrupts, entry,
                          unlikely());
    builder_.SetInsertPoint(interrupts);
    emit_call_of(exact);
    builder_.SetInsertPoint(entry);
  }

  // With threads, if the slot is known.
  llvm::Value* emit_state() {
    return builder_.CreateGEP(
        i8_, table_.tallies,
        {builder_.CreateAdd(in_slot_, builder_.getInt64(table_.tally_stride - abi::kTallyBytes))});
  }

  // The whole body of the function that flushes a block. `guard` is that of emit_guard(), or null;
  // with threads, it is where emit_state() says.
  void emit_flush(CounterTables& tables, llvm::Value* guard) {
    llvm::Value* counters = table_.counters;
    llvm::Value* first = table_.tallies;
    llvm::Value* state = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    if (table_.has_thread_tallies) {
      llvm::Value* const slot = emit_thread_slot(builder_, tables);
      if (table_.copy_stride != 0)
        counters = emit_in_thread_slot(builder_, tables, Scheme::kScalarPairs, counters, slot);
      emit_offset_of(slot);
      first = builder_.CreateGEP(i8_, first, {in_slot_});
      state = emit_state();
    }
    builder_.CreateCall(
        without_aliasing(runtime::telltale_sampler_add_up_v3(tables.module())),
        {block_, first, table_.tally_blocks, counters, builder_.getInt32(table_.rows),
         builder_.getInt32(table_.banks), state,
         builder_.getInt32(table_.has_thread_tallies && table_.copy_stride == 0 ? 1 : 0)});
    if (!tables.options().sample) emit_release(guard != nullptr ? *guard : *state);
    builder_.CreateRetVoid();
  }

  // The whole body: calls `compares`, of PairComparisons, to count in the counters.
  void emit_exact(llvm::Function& compares) {
    llvm::Value* const number = emit_number();
    llvm::Value* const bank = builder_.CreateURem(number, builder_.getInt64(table_.banks));
    llvm::Value* const row = builder_.CreateAdd(
        builder_.CreateMul(bank, builder_.getInt64(table_.rows)), emit_field(number, kRow));
    std::vector<llvm::Value*> arguments{
        builder_.CreateInBoundsGEP(
            i64_, table_.counters,
            {builder_.CreateMul(row, builder_.getInt64(abi::kPairCounters))}),
        value(), emit_field(number, kSites)};
    for (unsigned i = kLeading; i < function_.arg_size(); ++i)
      arguments.push_back(function_.getArg(i));
    for (unsigned i = arguments.size(); i < compares.arg_size(); ++i)
      arguments.push_back(llvm::PoisonValue::get(compares.getArg(i)->getType()));
    call_cold(builder_, compares, arguments);
    builder_.CreateRetVoid();
  }

  // Counts all observations, and flushes the block before a byte overflows. `make_flush` returns
  // the flush function; it is made here, so that it follows this one.
  template <typename MakeFlush>
  void emit_counting(const MakeFlush& make_flush) {
    std::vector<llvm::Value*> operands;
    for (unsigned i = kLeading; i < function_.arg_size(); ++i)
      operands.push_back(builder_.CreateFreeze(function_.getArg(i)));
    llvm::Value* const observed = emit_vector_tallies(
        builder_, *block_, *builder_.CreateFreeze(value()), operands, is_signed_);
    BasicBlock* const full = make_block();
    BasicBlock* const done = make_block();
    builder_.CreateCondBr(
        builder_.CreateICmpEQ(builder_.CreateTrunc(observed, i8_), builder_.getInt8(kFull)), full,
        done, unlikely());
    builder_.SetInsertPoint(full);
    llvm::CallInst* const flush = call_cold(builder_, make_flush(), {block_});
    flush->setTailCallKind(llvm::CallInst::TCK_Tail);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(done);
    if (guard_ != nullptr) emit_release(*guard_);
    builder_.CreateRetVoid();
  }

 private:
  static constexpr unsigned kLeading = 2;
  enum Field : unsigned { kRow, kSites, kFields = 3 };

  // The tallies are no longer in use.
  void emit_release(llvm::Value& guard) {
    call_asm_on_memory(builder_, builder_.getVoidTy(), "movb $$0, $0",
                       "*m,~{dirflag},~{fpsr},~{flags}", guard, i8_);
  }

  void emit_call_of(llvm::Function& exact) {
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& argument : function_.args()) arguments.push_back(&argument);
    call_cold(builder_, exact, arguments)->setTailCallKind(llvm::CallInst::TCK_Tail);
    builder_.CreateRetVoid();
  }

  void emit_offset_of(llvm::Value* slot) {
    in_slot_ = builder_.CreateMul(builder_.CreateSub(slot, builder_.getInt64(1)),
                                  builder_.getInt64(table_.tally_stride));
  }

  [[nodiscard]] llvm::Argument* value() const { return function_.getArg(1); }
  BasicBlock* make_block() { return BasicBlock::Create(function_.getContext(), "", &function_); }
  llvm::MDNode* unlikely() {
    constexpr unsigned kOften = 1U << 20;
    return llvm::MDBuilder(function_.getContext()).createBranchWeights(1, kOften);
  }

  // Which block of all banks is the argument?
  llvm::Value* emit_number() {
    llvm::Value* const distance =
        builder_.CreateSub(builder_.CreatePtrToInt(function_.getArg(0), i64_),
                           builder_.CreatePtrToInt(table_.tallies, i64_));
    return builder_.CreateUDiv(distance, builder_.getInt64(abi::kTallyBytes));
  }

  // A field of its abi::TallyBlock, as an i64.
  llvm::Value* emit_field(llvm::Value* number, Field field) {
    llvm::Value* const index = builder_.CreateAdd(
        builder_.CreateMul(builder_.CreateUDiv(number, builder_.getInt64(table_.banks)),
                           builder_.getInt64(kFields)),
        builder_.getInt64(field));
    return builder_.CreateZExt(
        builder_.CreateLoad(
            builder_.getInt32Ty(),
            builder_.CreateInBoundsGEP(builder_.getInt32Ty(), table_.tally_blocks, {index})),
        i64_);
  }

  llvm::Function& function_;
  const CounterTable& table_;
  llvm::Value* block_;              // of this thread
  llvm::Value* in_slot_ = nullptr;  // with threads: the offset of this thread's tallies
  llvm::Value* guard_ = nullptr;
  llvm::Type* i64_;
  llvm::Type* i8_;
  bool is_signed_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

bool PairTallies::is_enabled() {
  return can_count_inline(tables_) && operands_.has_vectors() &&
         (!tables_.options().threads || tables_.of(Scheme::kScalarPairs).has_thread_tallies);
}

bool PairTallies::is_one(const llvm::Function& function) {
  return function.getName().starts_with(llvm::StringRef("telltale.sampler.tally"));
}

std::uint64_t PairTallies::block_stride() {
  return std::uint64_t{abi::kTallyBytes} * table().banks;
}

// Its tables are defined by finish().
CounterTable& PairTallies::table() {
  CounterTable& table = tables_.of(Scheme::kScalarPairs);
  if (table.tallies == nullptr) {
    auto* const nothing =
        llvm::ArrayType::get(llvm::Type::getInt8Ty(tables_.module().getContext()), 0);
    for (auto* const made : {&table.tallies, &table.tally_blocks})
      *made = tables_.make_variable(llvm::ConstantAggregateZero::get(nothing), "", false);
  }
  return table;
}

llvm::Value* PairTallies::emit_block(llvm::IRBuilderBase& at, std::uint64_t row, unsigned sites,
                                     llvm::Value* bank) {
  llvm::GlobalVariable*& known = blocks_[{row, sites}];
  if (known == nullptr) {
    auto* const nothing = llvm::ArrayType::get(at.getInt8Ty(), 0);
    known = tables_.make_variable(llvm::ConstantAggregateZero::get(nothing), "", false);
  }
  if (bank == nullptr || table().banks == 1) return known;
  return at.CreateGEP(at.getInt8Ty(), known, {at.CreateMul(bank, at.getInt64(abi::kTallyBytes))});
}

void PairTallies::finish() {
  if (blocks_.empty()) return;
  define_tables();
  for (const auto& [kind, counting] : functions_) define(kind, counting);
}

void PairTallies::define_tables() {
  CounterTable& scheme = table();
  llvm::LLVMContext& context = tables_.module().getContext();
  llvm::Type* const i8 = llvm::Type::getInt8Ty(context);
  std::vector<std::pair<std::uint64_t, unsigned>> blocks;  // first row and number of sites
  std::vector<std::pair<llvm::GlobalVariable*, std::size_t>> places;
  for (const auto& [rows, placeholder] : blocks_) {
    places.emplace_back(placeholder, blocks.size());
    for (unsigned first = 0; first < rows.second; first += kLanes)
      blocks.emplace_back(rows.first + first, std::min(kLanes, rows.second - first));
  }
  std::vector<std::size_t> by_row(blocks.size());
  std::iota(by_row.begin(), by_row.end(), 0);
  std::stable_sort(by_row.begin(), by_row.end(), [&](std::size_t left, std::size_t right) {
    return blocks[left].first < blocks[right].first;
  });
  std::vector<llvm::Constant*> entries;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto number = [&](std::uint64_t value) {
      return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
    };
    const layout::TallyBlock entry = {.row = number(blocks[i].first),
                                      .sites = number(blocks[i].second),
                                      .by_row = number(by_row[i])};
    entries.push_back(entry.constant(context));
  }
  scheme.blocks = static_cast<unsigned>(blocks.size());
  std::uint64_t bytes = block_stride() * blocks.size();
  if (scheme.has_thread_tallies) {
    scheme.tally_stride =
        static_cast<unsigned>(llvm::alignTo(bytes + abi::kTallyBytes, kThreadSlotAlignment));
    bytes = std::uint64_t{scheme.tally_stride} * abi::kThreadSlots;
  }
  llvm::GlobalVariable* const tallies = tables_.make_variable(
      llvm::ConstantAggregateZero::get(llvm::ArrayType::get(i8, bytes)), "tallies", false);
  tallies->setAlignment(
      llvm::Align(scheme.tally_stride != 0 ? kThreadSlotAlignment : abi::kTallyBytes));
  auto* const type = llvm::ArrayType::get(entries[0]->getType(), entries.size());
  llvm::GlobalVariable* const described =
      tables_.make_variable(llvm::ConstantArray::get(type, entries), "blocks", true);
  scheme.tallies->replaceAllUsesWith(tallies);
  scheme.tallies->eraseFromParent();
  scheme.tallies = tallies;
  scheme.tally_blocks->replaceAllUsesWith(described);
  scheme.tally_blocks->eraseFromParent();
  scheme.tally_blocks = described;
  for (const auto& [placeholder, first] : places) {
    placeholder->replaceAllUsesWith(llvm::ConstantExpr::getInBoundsGetElementPtr(
        i8, tallies, llvm::ConstantInt::get(tables_.i64(), block_stride() * first)));
    placeholder->eraseFromParent();
  }
}

// void (block)
llvm::Function& PairTallies::flush_function() {
  if (flush_function_ != nullptr) return *flush_function_;
  llvm::Module& module = tables_.module();
  llvm::IRBuilder<> builder(module.getContext());
  flush_function_ = make_cold_function(
      module, "add_up", llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false));
  TallyEmitter(*flush_function_, tables_).emit_flush(tables_, guard_);
  return *flush_function_;
}

llvm::Function& PairTallies::function(const Kind& kind) {
  Counting& made = functions_[kind];
  if (made.function != nullptr) return *made.function;
  table();
  llvm::Module& module = tables_.module();
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const number = kind.is_narrow ? llvm::Type::getInt32Ty(context) : tables_.i64();
  const std::vector<llvm::Type*> leading{llvm::PointerType::getUnqual(context), number};
  llvm::FunctionType* const exact =
      operands_.function_type(llvm::Type::getVoidTy(context), leading, number);
  llvm::ArrayRef<llvm::Type*> parameters = exact->params();
  if (kind.is_short) parameters = parameters.drop_back((parameters.size() - leading.size()) / 2);
  llvm::FunctionType* const type =
      llvm::FunctionType::get(exact->getReturnType(), parameters, false);
  made.function = make_cold_function(module, kName, type);
  made.exact = make_cold_function(module, "exact", type);
  return *made.function;
}

void PairTallies::define(const Kind& kind, const Counting& counting) {
  TallyEmitter emitter(*counting.function, tables_, kind.is_signed);
  TallyEmitter(*counting.exact, tables_, kind.is_signed)
      .emit_exact(comparisons_.function(kind.is_signed, kind.is_narrow));
  emitter.emit_processor_check(tables_, *counting.exact);
  const bool of_threads = table().has_thread_tallies;
  if (of_threads) emitter.emit_choice_of_slot(tables_, *counting.exact);
  if (!tables_.options().sample) {
    if (guard_ == nullptr && !of_threads) {
      guard_ = tables_.make_variable(
          llvm::ConstantInt::get(llvm::Type::getInt8Ty(tables_.module().getContext()), 0),
          "tallying", false);
    }
    emitter.emit_guard(of_threads ? *emitter.emit_state() : *guard_, *counting.exact);
  }
  emitter.emit_counting([this]() -> llvm::Function& { return flush_function(); });
}

}  // namespace telltale::instrument
