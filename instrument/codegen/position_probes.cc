#include "codegen/position_probes.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/SlotIndexes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PseudoProbe.h>
#include <llvm/InitializePasses.h>
#include <llvm/Pass.h>
#include <llvm/PassRegistry.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/position_marks.h"
#if LLVM_VERSION_MAJOR > 19
#include <llvm/Target/RegisterTargetPassConfigCallback.h>
#endif

#include <iterator>

namespace telltale::instrument {
namespace {

// The attributes of these probes; LLVM's own are small numbers.
constexpr std::int64_t kPositionAttributes = 0x7ce1;

// Operands of a pseudo probe.
enum : unsigned { kGuid, kIndex, kType, kAttributes };

class ReplacePositions : public llvm::MachineFunctionPass {
 public:
  static char ID;  // NOLINT(readability-identifier-naming): LLVM's
  ReplacePositions() : MachineFunctionPass(ID) {}

  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    const llvm::TargetSubtargetInfo& target = function.getSubtarget();
    // A scheduler would move instructions across probes. In a module with probes of a profile, LLVM
    // would write these into that profile's section.
    if (function.getTarget().getOptLevel() == llvm::CodeGenOptLevel::None ||
        target.enablePostRAScheduler() || target.enablePostRAMachineScheduler() ||
        function.getFunction().getParent()->getNamedMetadata(llvm::PseudoProbeDescMetadataName) !=
            nullptr)
      return false;
    auto* const indexes = getAnalysisIfAvailable<llvm::SlotIndexesWrapperPass>();
    const llvm::MCInstrDesc& probe = target.getInstrInfo()->get(llvm::TargetOpcode::PSEUDO_PROBE);
    bool changes = false;
    for (llvm::MachineBasicBlock& block : function) {
      for (llvm::MachineInstr& instruction : llvm::make_early_inc_range(block)) {
        const std::optional<AssemblyMark> found = mark_of(instruction);
        if (!found || found->mark != kPositionsMark || !operands_of(instruction).empty() ||
            found->numbers.size() != 2)
          continue;
        llvm::BuildMI(block, instruction, llvm::DebugLoc(), probe)
            .addImm(static_cast<std::int64_t>(found->numbers[0]))
            .addImm(static_cast<std::int64_t>(found->numbers[1]))
            .addImm(0)
            .addImm(kPositionAttributes);
        if (indexes != nullptr) indexes->getSI().removeMachineInstrFromMaps(instruction);
        instruction.eraseFromParent();
        changes = true;
      }
    }
    return changes;
  }
};

char ReplacePositions::ID = 0;

}  // namespace

void replace_positions_by_probes([[maybe_unused]] const llvm::Module& module) {
  static const llvm::RegisterPass<ReplacePositions> kPass("telltale-positions",
                                                          "telltale: positions become probes");
#if LLVM_VERSION_MAJOR > 19
  static const llvm::RegisterTargetPassConfigCallback kCallback(
      [](llvm::TargetMachine&, llvm::PassManagerBase&, llvm::TargetPassConfig* passes) {
        passes->insertPass(&llvm::VirtRegRewriterID, &ReplacePositions::ID);
      });
#else
  // LLVM 19 has no hook for passes of the code generator. Soon after register allocation it has a
  // pass that only works on functions with a garbage collector; ours takes its place.
  if (llvm::any_of(module, [](const llvm::Function& function) { return function.hasGC(); })) return;
  llvm::PassRegistry& registry = *llvm::PassRegistry::getPassRegistry();
  llvm::initializeFixupStatepointCallerSavedPass(registry);
  const llvm::PassInfo* const info = registry.getPassInfo(&llvm::FixupStatepointCallerSavedID);
  const_cast<llvm::PassInfo*>(info)->setNormalCtor(
      []() -> llvm::Pass* { return new ReplacePositions; });
#endif
}

std::optional<PositionProbe> position_probe_of(const llvm::MachineInstr& instruction) {
  if (!instruction.isPseudoProbe() ||
      instruction.getOperand(kAttributes).getImm() != kPositionAttributes)
    return std::nullopt;
  return PositionProbe{static_cast<std::uint64_t>(instruction.getOperand(kGuid).getImm()),
                       static_cast<std::uint64_t>(instruction.getOperand(kIndex).getImm())};
}

}  // namespace telltale::instrument
