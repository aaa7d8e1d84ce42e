#include "transform/call_sampling.h"

#include <llvm/IR/InstIterator.h>

#include "transform/cloning.h"
#include "transform/entry_dispatch.h"

namespace telltale::instrument {
namespace {

void take_turns(llvm::Function& function, llvm::Function& asking, const Unit& unit,
                Counters& counters) {
  llvm::GlobalVariable* const turn = counters.make_turn(function);
  const auto place = [&](llvm::IRBuilderBase&) { return turn; };
  divert_calls(function, asking, unit.options.predict_checks, place, [&](llvm::IRBuilderBase& at) {
    llvm::Value* const answer = counters.ask_for_turn(at, turn);
    // 0 goes by, 1 is the first countdown, and so on.
    constexpr std::uint64_t kSizeOfCountdown = 8;
    llvm::Value* const number =
        at.CreateZExt(at.CreateSub(answer, at.getInt32(1)), at.getInt64Ty());
    return Diversion{at.CreateICmpNE(answer, at.getInt32(0)),
                     {at.CreateMul(number, at.getInt64(kSizeOfCountdown))}};
  });
}

}  // namespace

bool takes_turns(llvm::Function& function) {
  return function.getName() != "main" && can_be_called(function) && can_be_copied(function, true) &&
         tables_of_labels(function).has_value();
}

llvm::Function* part_into_turns(llvm::Function& function, const Unit& unit, Counters& counters,
                                WholeFunctions& whole) {
  llvm::ValueToValueMapTy copies;
  llvm::Function* const asking =
      copy_of(function, ".asking", {llvm::Type::getInt64Ty(function.getContext())}, copies);
  asking->removeFnAttr(llvm::Attribute::AlwaysInline);
  asking->removeFnAttr(llvm::Attribute::InlineHint);
  asking->addFnAttr(llvm::Attribute::NoInline);
  whole.note_copy(function, *asking);
  for (llvm::CallInst* const call : marks_in(function, unit)) remove_mark(*call);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call != nullptr && whole.joins(*call)) whole.lead(*call, false);
  }
  take_turns(function, *asking, unit, counters);
  return asking;
}

}  // namespace telltale::instrument
