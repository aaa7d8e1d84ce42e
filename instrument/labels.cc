#include "labels.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// Numbers may be defined again. A colon also follows the name of a segment register
// (`%fs:`), and is part of modifiers, which LLVM writes in braces (`${0:k}`, `${:uid}`).
bool defines_label(llvm::StringRef assembly) {
  bool in_braces = false;
  for (std::size_t i = 0; i < assembly.size(); ++i) {
    if (assembly.substr(i).starts_with("${")) in_braces = true;
    if (assembly[i] == '}') in_braces = false;
    if (in_braces || assembly[i] != ':') continue;
    const auto in_name = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
    std::size_t begin = i;
    while (begin > 0 && in_name(assembly[begin - 1])) --begin;
    const llvm::StringRef name = assembly.slice(begin, i);
    const char before = begin > 0 ? assembly[begin - 1] : ' ';
    const bool is_segment = before == '%';
    // Behind `$`, a number is an operand, which may be the name of a label.
    const bool is_number = !name.empty() && llvm::all_of(name, llvm::isDigit) && before != '$';
    if (!is_segment && !is_number) return true;
  }
  return false;
}

// Do only instructions of the function use the constant, directly or in constant expressions?
bool is_used_only_in(const llvm::Constant& constant, const llvm::Function& function) {
  return std::all_of(constant.user_begin(), constant.user_end(), [&](const llvm::User* user) {
    if (const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user))
      return instruction->getFunction() == &function;
    const auto* const expression = llvm::dyn_cast<llvm::ConstantExpr>(user);
    return expression != nullptr && is_used_only_in(*expression, function);
  });
}

// Do only loads use the table? Tables of labels are often not declared constant.
bool is_only_loaded(const llvm::Value& table) {
  return llvm::all_of(table.users(), [](const llvm::User* user) {
    if (const auto* const load = llvm::dyn_cast<llvm::LoadInst>(user)) return !load->isVolatile();
    return llvm::isa<llvm::GEPOperator>(user) && is_only_loaded(*user);
  });
}

}  // namespace

bool defines_label(const llvm::CallBase& call) {
  const auto* const assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  return assembly != nullptr && defines_label(assembly->getAsmString());
}

std::optional<std::vector<llvm::GlobalVariable*>> label_tables(llvm::Function& function) {
  llvm::SetVector<llvm::GlobalVariable*> tables;
  for (BasicBlock& block : function) {
    llvm::BlockAddress* const address =
        block.hasAddressTaken() ? llvm::BlockAddress::lookup(&block) : nullptr;
    if (address == nullptr) continue;
    for (llvm::User* const user : address->users()) {
      if (auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user)) {
        if (instruction->getFunction() != &function) return std::nullopt;
        continue;
      }
      if (!llvm::isa<llvm::ConstantArray>(user)) return std::nullopt;
      for (llvm::User* const holder : user->users()) {
        auto* const table = llvm::dyn_cast<llvm::GlobalVariable>(holder);
        if (table == nullptr || !table->hasLocalLinkage() ||
            !(table->isConstant() || is_only_loaded(*table)) || !is_used_only_in(*table, function))
          return std::nullopt;
        tables.insert(table);
      }
    }
  }
  return std::vector<llvm::GlobalVariable*>(tables.begin(), tables.end());
}

void copy_tables(llvm::ArrayRef<llvm::GlobalVariable*> tables, const llvm::Twine& suffix,
                 llvm::ValueToValueMapTy& clones) {
  for (llvm::GlobalVariable* const table : tables) {
    auto* const own = new llvm::GlobalVariable(*table->getParent(), table->getValueType(), true,
                                               llvm::GlobalValue::InternalLinkage, nullptr,
                                               table->getName() + suffix);
    own->copyAttributesFrom(table);
    clones[table] = own;
  }
}

void fill_copied_tables(llvm::ArrayRef<llvm::GlobalVariable*> tables,
                        llvm::ValueToValueMapTy& clones) {
  for (llvm::GlobalVariable* const table : tables)
    llvm::cast<llvm::GlobalVariable>(clones[table])
        ->setInitializer(llvm::MapValue(table->getInitializer(), clones));
}

}  // namespace telltale::instrument
