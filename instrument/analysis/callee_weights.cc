#include "analysis/callee_weights.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/indirect_call_targets.h"
#include "analysis/ir_marks.h"

namespace telltale::instrument {
namespace {

// Functions of the C library that LLVM's TargetLibraryInfo lacks and that call nothing back.
constexpr std::array<std::string_view, 22> kWeightlessLibraryFunctions = {"__errno_location",
                                                                          "__ctype_b_loc",
                                                                          "__ctype_tolower_loc",
                                                                          "__ctype_toupper_loc",
                                                                          "__assert_fail",
                                                                          "getopt",
                                                                          "getopt_long",
                                                                          "exit",
                                                                          "abort",
                                                                          "_exit",
                                                                          "__isoc99_sscanf",
                                                                          "__isoc99_fscanf",
                                                                          "__isoc99_scanf",
                                                                          "fileno",
                                                                          "isatty",
                                                                          "__uflow",
                                                                          "__overflow",
                                                                          "strerror",
                                                                          "signal",
                                                                          "sigaction",
                                                                          "setlocale",
                                                                          "localtime"};
constexpr std::array<std::string_view, 6> kLibraryFunctionsWithCallbacks = {
    "qsort", "bsearch", "qsort_r", "lfind", "lsearch", "atexit"};

template <std::size_t kSize>
bool contains(const std::array<std::string_view, kSize>& names, llvm::StringRef name) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view one) { return name == llvm::StringRef(one); });
}

}  // namespace

// A function is weighty if it has marks or calls a weighty function: a fixed point.
CalleeWeights::CalleeWeights(const llvm::Module& module, const TranslationUnit& unit)
    : unit_(unit) {
  for (const llvm::Function& function : module) {
    if (function_of(function, unit) != nullptr) weighty_.insert(&function);
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (const llvm::Function& function : module) {
      if (function.isDeclaration() || weighty_.contains(&function) || !calls_weighty(function))
        continue;
      weighty_.insert(&function);
      changed = true;
    }
  }
}

bool CalleeWeights::is_weightless(const llvm::Function& callee) const {
  const Options& options = unit_.options;
  if (weighty_.contains(&callee)) return false;
  if (!callee.isDeclaration()) return !options.assume_weighty_interns;
  const llvm::StringRef name = callee.getName();
  if (weightless_by_pragma().contains(name.str())) return true;
  const llvm::TargetLibraryInfoImpl library(llvm::Triple(callee.getParent()->getTargetTriple()));
  llvm::LibFunc known{};
  const bool in_library =
      (library.getLibFunc(name, known) || contains(kWeightlessLibraryFunctions, name)) &&
      !contains(kLibraryFunctionsWithCallbacks, name);
  if (in_library) return !options.assume_weighty_libraries;
  return !options.assume_weighty_externs;
}

bool CalleeWeights::is_weightless(const llvm::CallBase& call) const {
  if (!unit_.options.use_points_to) return false;
  const std::optional<CallTargets> targets = find_call_targets(call, unit_);
  return targets && std::all_of(targets->begin(), targets->end(),
                                [&](const llvm::Function* one) { return is_weightless(*one); });
}

bool CalleeWeights::calls_weighty(const llvm::Function& function) const {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call == nullptr || call->isInlineAsm() || mark_of(*call, unit_) != nullptr) continue;
    const auto* const callee =
        llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
    if (callee == nullptr ? !is_weightless(*call)
                          : !callee->isIntrinsic() && !is_weightless(*callee))
      return true;
  }
  return false;
}

void annotate_weightless_calls(llvm::Module& module, const CalleeWeights& weights) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || !call->isIndirectCall()) continue;
      if (weights.is_weightless(*call))
        call->addFnAttr(llvm::Attribute::get(call->getContext(), kWeightlessCall));
    }
  }
}

std::set<std::string, std::less<>>& weightless_by_pragma() {
  static std::set<std::string, std::less<>> names;
  return names;
}

}  // namespace telltale::instrument
