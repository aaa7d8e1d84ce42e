#include "codegen/counter_tables.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <vector>

#include "codegen/inline_counters.h"
#include "codegen/runtime_abi.h"
#include "codegen/thread_slots.h"

namespace telltale::instrument {
namespace {

llvm::Constant* i32(llvm::LLVMContext& context, std::uint64_t value) {
  return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
}

llvm::Constant* array_of(const std::vector<llvm::Constant*>& entries) {
  return llvm::ConstantArray::get(llvm::ArrayType::get(entries[0]->getType(), entries.size()),
                                  entries);
}

}  // namespace

unsigned operand_argument(const Mark& mark, unsigned index) {
  unsigned argument = kFirstOperandArgument;
  for (unsigned i = 0; i < index; ++i) argument += mark.operands[i].is_constant ? 0 : 1;
  return argument;
}

bool is_weak(const llvm::Value* variable) {
  const auto* const global = llvm::dyn_cast<llvm::GlobalVariable>(variable);
  return global != nullptr && global->hasExternalWeakLinkage();
}

CounterTables::CounterTables(llvm::Module& module, const TranslationUnit& unit,
                             const std::array<unsigned, kSchemeCount>& rows)
    : module_(module), unit_(unit), i64_(llvm::Type::getInt64Ty(module.getContext())) {
  observes_first_ = unit.options.observes_first() && can_count_inline(*this);
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    if (unit.options.schemes[i]) tables_[i] = make_table(static_cast<Scheme>(i), rows[i]);
  }
}

llvm::GlobalVariable* CounterTables::make_variable(llvm::Constant* value, const llvm::Twine& name,
                                                   bool is_constant) {
  return new llvm::GlobalVariable(module_, value->getType(), is_constant,
                                  llvm::GlobalValue::InternalLinkage, value,
                                  "telltale.sampler." + name);
}

// The minimum starts at the largest value of the site's type, the maximum at the least. Values of
// all types are extended to 64 bits.
llvm::Constant* CounterTables::initial_bounds(unsigned rows, llvm::GlobalVariable*& kinds) {
  std::vector<std::uint64_t> bounds(std::size_t{2} * rows);
  std::vector<std::uint8_t> kind(rows);
  for (const Site& site : unit_.sites) {
    if (site.scheme != Scheme::kBounds || site.row < 0) continue;
    const auto row = static_cast<std::size_t>(site.row);
    const unsigned shift = 64 - site.bits;
    if (site.kind == ValueKind::kSigned) {
      bounds[2 * row] = static_cast<std::uint64_t>(INT64_MAX) >> shift;
      bounds[2 * row + 1] = static_cast<std::uint64_t>(INT64_MIN >> shift);
    } else {
      bounds[2 * row] = UINT64_MAX >> shift;
    }
    kind[row] = static_cast<std::uint8_t>(site.kind);
  }
  kinds = make_variable(llvm::ConstantDataArray::get(module_.getContext(), kind), "kinds", true);
  return llvm::ConstantDataArray::get(module_.getContext(), bounds);
}

CounterTable CounterTables::make_table(Scheme scheme, unsigned rows) {
  CounterTable table;
  table.rows = rows;
  if (rows == 0) return table;
  const llvm::Twine name(scheme_name(scheme));
  const auto zeros = [&](std::uint64_t count) {
    return llvm::ConstantAggregateZero::get(llvm::ArrayType::get(i64_, count));
  };
  llvm::Constant* start = scheme == Scheme::kBounds
                              ? initial_bounds(rows, table.kinds)
                              : zeros(std::uint64_t{rows} * scheme_arity(scheme));
  table.banks = observes_first_ && scheme != Scheme::kBounds ? 2 : 1;
  if (table.banks > 1) start = zeros(table.all_rows() * scheme_arity(scheme));
  table.copy_stride = thread_slot_stride(*this, scheme, rows);
  table.has_thread_tallies = has_thread_tallies(*this, scheme);
  if (table.copy_stride != 0) {
    start = zeros(std::uint64_t{table.copy_stride} * (abi::kThreadSlots + 2));
  } else if (table.has_thread_tallies) {
    start = zeros(2 * table.all_rows() * scheme_arity(scheme));
  }
  table.counters = make_variable(start, name + ".counters", false);
  if (table.copy_stride != 0) table.counters->setAlignment(llvm::Align(kThreadSlotAlignment));
  if (options().timestamp_first) table.first = make_variable(zeros(rows), name + ".first", false);
  if (options().timestamp_last) table.last = make_variable(zeros(rows), name + ".last", false);
  return table;
}

llvm::Constant* CounterTables::counter_at(const Mark& mark, unsigned slot) {
  return llvm::ConstantExpr::getInBoundsGetElementPtr(
      i64_, of(mark.scheme).counters,
      llvm::ConstantInt::get(i64_, row_of(mark, 0) * scheme_arity(mark.scheme) + slot));
}

llvm::Constant* CounterTables::access_descriptor(const Mark& mark) {
  llvm::Constant*& known = access_descriptors_[&mark];
  if (known != nullptr) return known;
  const CounterTable& table = of(mark.scheme);
  llvm::Constant* const row = llvm::ConstantInt::get(i64_, row_of(mark, 0));
  const auto timestamps = [&](llvm::GlobalVariable* one) -> llvm::Constant* {
    if (one == nullptr) return nullptr;
    return llvm::ConstantExpr::getInBoundsGetElementPtr(i64_, one, row);
  };
  const layout::AccessDescriptor access = {
      .counters = counter_at(mark, 0),
      .first = timestamps(table.first),
      .last = timestamps(table.last),
      .window = llvm::ConstantInt::get(i64_, mark.scheme == Scheme::kAtomsRw ? 1 : 0)};
  known = make_variable(access.constant(module_.getContext()), "access", true);
  return known;
}

llvm::Constant* CounterTables::make_group(Scheme scheme, unsigned row, unsigned sites,
                                          bool is_signed) {
  llvm::LLVMContext& context = module_.getContext();
  const CounterTable& table = of(scheme);
  std::uint32_t flags = 0;
  if (is_signed) flags |= abi::kSignedValues;
  if (options().threads) flags |= abi::kManyThreads;
  const layout::SiteGroup group = {.counters = table.counters,
                                   .first = table.first,
                                   .last = table.last,
                                   .row = i32(context, row),
                                   .sites = i32(context, sites),
                                   .flags = i32(context, flags)};
  return make_variable(group.constant(context), "group", true);
}

llvm::Constant* CounterTables::pair_group(const llvm::CallInst& call, const Mark& mark,
                                          unsigned first, unsigned count) {
  llvm::Constant*& known = pair_groups_[{&mark, first}];
  if (known != nullptr) return known;
  add_weak_operands(call, mark);
  const Site& site = site_of(unit_, mark, first);
  known = make_group(mark.scheme, static_cast<unsigned>(site.row), count,
                     site.kind == ValueKind::kSigned);
  return known;
}

void CounterTables::add_weak_operands(const llvm::CallInst& call, const Mark& mark) {
  if (!marks_with_known_operands_.insert(&mark).second) return;
  std::vector<llvm::Constant*>* operands = nullptr;  // of the site before
  std::uint64_t following = 0;                       // the row after it
  for (unsigned i = 0, argument = kFirstOperandArgument; i < mark.sites.size(); ++i) {
    if (mark.operands[i].is_constant) continue;
    llvm::Value* const operand = call.getArgOperand(argument++);
    if (!is_weak(operand)) continue;
    const std::uint64_t row = row_of(mark, i);
    if (operands == nullptr || row != following) operands = &weak_operands_[row];
    operands->push_back(llvm::cast<llvm::Constant>(operand));
    following = row + 1;
  }
}

llvm::GlobalVariable* CounterTables::null_operand() {
  if (null_operand_ == nullptr)
    null_operand_ = make_variable(llvm::ConstantInt::get(i64_, 0), "nowhere", false);
  return null_operand_;
}

llvm::Constant* CounterTables::scheme_tables() {
  llvm::LLVMContext& context = module_.getContext();
  std::vector<llvm::Constant*> entries;
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    if (!options().schemes[i]) continue;
    const auto scheme = static_cast<Scheme>(i);
    const CounterTable& table = tables_[i];
    const layout::SchemeTable entry = {
        .name = make_variable(llvm::ConstantDataArray::getString(context, scheme_name(scheme)),
                              "name", true),
        .counters = table.counters,
        .first = table.first,
        .last = table.last,
        .kinds = table.kinds,
        .tallies = table.tallies,
        .rows = i32(context, table.rows),
        .arity = i32(context, scheme_arity(scheme)),
        .banks = i32(context, table.banks),
        .blocks = i32(context, table.blocks),
        .copy_stride = i32(context, table.copy_stride),
        .tally_stride = i32(context, table.tally_stride),
        .tally_blocks = table.tally_blocks};
    entries.push_back(entry.constant(context));
  }
  return make_variable(array_of(entries), "schemes", false);
}

llvm::Constant* CounterTables::weak_variables() {
  if (weak_operands_.empty()) return nullptr;
  llvm::LLVMContext& context = module_.getContext();
  std::vector<llvm::Constant*> addresses;
  llvm::DenseMap<llvm::Constant*, std::uint32_t> known_numbers;
  std::vector<std::uint32_t> numbers;
  // Assignments in one function are often compared with the same variables.
  std::map<std::vector<llvm::Constant*>, std::size_t> known_lists;
  std::vector<llvm::Constant*> operands;
  for (const auto& [row, list] : weak_operands_) {
    const auto [known, is_new] = known_lists.try_emplace(list, numbers.size());
    for (llvm::Constant* const variable : list) {
      if (!is_new) break;
      const auto [number, is_first] =
          known_numbers.try_emplace(variable, static_cast<std::uint32_t>(addresses.size()));
      if (is_first) addresses.push_back(variable);
      numbers.push_back(number->second);
    }
    const layout::WeakOperands entry = {.row = i32(context, row),
                                        .sites = i32(context, list.size()),
                                        .variables = i32(context, known->second)};
    operands.push_back(entry.constant(context));
  }
  const auto& schemes = options().schemes;
  const auto scheme = std::count(
      schemes.begin(), schemes.begin() + static_cast<std::ptrdiff_t>(Scheme::kScalarPairs), true);
  const layout::WeakVariables weak = {
      .addresses = make_variable(array_of(addresses), "borrowed", true),
      .numbers = make_variable(llvm::ConstantDataArray::get(context, numbers), "borrowings", true),
      .operands = make_variable(array_of(operands), "borrowers", true),
      .address_count = i32(context, addresses.size()),
      .operand_count = i32(context, operands.size()),
      .scheme = i32(context, static_cast<std::uint64_t>(scheme))};
  return make_variable(weak.constant(context), "weak", true);
}

}  // namespace telltale::instrument
