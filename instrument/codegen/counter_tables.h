// The counters of a unit in its object file, and the descriptors that the runtime reads.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "translation_unit.h"

namespace telltale::instrument {

// The site of a mark by its position in the mark.
inline const Site& site_of(const TranslationUnit& unit, const Mark& mark, unsigned index) {
  return unit.sites[mark.sites[index]];
}

// Global variables of one scheme; null where the options do not need them.
struct CounterTable {
  llvm::GlobalVariable* counters = nullptr;  // rows * arity
  llvm::GlobalVariable* first = nullptr;     // timestamps by row
  llvm::GlobalVariable* last = nullptr;
  llvm::GlobalVariable* kinds = nullptr;    // of bounds
  llvm::GlobalVariable* tallies = nullptr;  // of scalar-pairs; see PairTallies
  llvm::GlobalVariable* tally_blocks = nullptr;
  unsigned blocks = 0;
  unsigned rows = 0;
  unsigned copy_stride = 0;   // of copies for threads, in counters; 0: there are none (ThreadSlots)
  unsigned tally_stride = 0;  // the same of tallies, in bytes
  bool has_thread_tallies = false;  // threads have tallies of their own; see tally_stride
  unsigned banks = 1;  // 2: counters and tallies of first executions follow those of the sample
  [[nodiscard]] std::uint64_t all_rows() const { return std::uint64_t{rows} * banks; }
};

class CounterTables {
 public:
  // Makes the tables of all schemes that are on; `rows` has the number of sites of each.
  CounterTables(llvm::Module& module, const TranslationUnit& unit,
                const std::array<unsigned, kSchemeCount>& rows);

  [[nodiscard]] llvm::Module& module() const { return module_; }
  [[nodiscard]] const TranslationUnit& unit() const { return unit_; }
  [[nodiscard]] const Options& options() const { return unit_.options; }
  // -fsampler-adaptive: do the counters have a second bank, for first executions?
  [[nodiscard]] bool observes_first() const { return observes_first_; }
  // Counters, rows and values of pairs are i64.
  [[nodiscard]] llvm::IntegerType* i64() const { return i64_; }

  [[nodiscard]] CounterTable& of(Scheme scheme) {
    return tables_[static_cast<std::size_t>(scheme)];
  }
  // The row of a mark's site.
  [[nodiscard]] std::uint64_t row_of(const Mark& mark, unsigned index) const {
    return static_cast<std::uint64_t>(site_of(unit_, mark, index).row);
  }
  // The address of counter `slot` of a mark's first site.
  llvm::Constant* counter_at(const Mark& mark, unsigned slot);

  // An abi::AccessDescriptor for a mark of atoms, atoms-rw or compare-swap.
  llvm::Constant* access_descriptor(const Mark& mark);
  // An abi::SiteGroup for rows of a scheme.
  llvm::Constant* make_group(Scheme scheme, unsigned row, unsigned sites, bool is_signed);
  // The same for `count` sites of a scalar-pairs mark from the `first` on; made once.
  llvm::Constant* pair_group(const llvm::CallInst& call, const Mark& mark, unsigned first,
                             unsigned count);

  // Records the operands of a scalar-pairs mark that the program may lack.
  void add_weak_operands(const llvm::CallInst& call, const Mark& mark);
  // A zeroed variable to read in place of a missing operand.
  llvm::GlobalVariable* null_operand();

  // An array of abi::SchemeTable, one for each scheme that is on.
  llvm::Constant* scheme_tables();
  // An abi::WeakVariables; null if there are none.
  llvm::Constant* weak_variables();

  // An internal variable "telltale.sampler.NAME".
  llvm::GlobalVariable* make_variable(llvm::Constant* value, const llvm::Twine& name,
                                      bool is_constant);

 private:
  CounterTable make_table(Scheme scheme, unsigned rows);
  llvm::Constant* initial_bounds(unsigned rows, llvm::GlobalVariable*& kinds);

  llvm::Module& module_;
  const TranslationUnit& unit_;
  llvm::IntegerType* i64_;
  bool observes_first_;
  std::array<CounterTable, kSchemeCount> tables_;
  llvm::GlobalVariable* null_operand_ = nullptr;
  llvm::DenseMap<const Mark*, llvm::Constant*> access_descriptors_;
  std::map<std::pair<const Mark*, unsigned>, llvm::Constant*> pair_groups_;
  llvm::DenseSet<const Mark*> marks_with_known_operands_;
  // Operands of consecutive sites of one mark, by the first site's row.
  std::map<std::uint64_t, std::vector<llvm::Constant*>> weak_operands_;
};

// The argument of a scalar-pairs call that holds the address of operand `index`.
unsigned operand_argument(const Mark& mark, unsigned index);
// Is a variable referenced by marks alone? It may be missing when the program is linked.
bool is_weak(const llvm::Value* variable);

}  // namespace telltale::instrument
