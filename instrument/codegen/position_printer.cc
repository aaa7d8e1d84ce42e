#include "codegen/position_printer.h"

#include <llvm/CodeGen/AsmPrinter.h>
#include <llvm/CodeGen/AsmPrinterHandler.h>
#include <llvm/CodeGen/DebugHandlerBase.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCSectionELF.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSymbolELF.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/position_marks.h"
#include "codegen/position_probes.h"
#include "formats/csi/wire.h"

namespace telltale::instrument {
namespace {

using Operands = llvm::ArrayRef<llvm::MachineOperand>;

// Emits the instructions, labels and records that the metadata of inline assembly describe.
class PositionEmitter {
 public:
  explicit PositionEmitter(llvm::AsmPrinter& printer) : printer_(printer) {}

  void emit(const llvm::MachineInstr& instruction) {
    if (const std::optional<PositionProbe> probe = position_probe_of(instruction)) {
      emit_positions(instruction, {}, probe->key, {probe->mark});
      return;
    }
    const std::optional<AssemblyMark> found = mark_of(instruction);
    if (!found) return;
    const auto& [mark, numbers] = *found;
    if (mark == kFrameMark) {
      add_frame(instruction, numbers[0], numbers[1]);
    } else if (mark == kPositionsMark) {
      emit_positions(instruction, operands_of(instruction), numbers[0],
                     llvm::ArrayRef(numbers).drop_front());
    }
  }

  // Records of the function that ends. All at once, since each switch of sections costs something.
  void emit_records() {
    if (records_.empty()) return;
    llvm::MCStreamer& out = *printer_.OutStreamer;
    const llvm::MCSymbolELF* const group = section_->getGroup();
    out.pushSection();
    out.switchSection(printer_.OutContext.getELFSection(
        csi::kRecordSection, llvm::ELF::SHT_PROGBITS, group == nullptr ? 0U : llvm::ELF::SHF_GROUP,
        0, group, section_->isComdat(), llvm::MCSection::NonUniqueID, nullptr));
    for (const Record& record : records_) emit_record(record);
    out.popSection();
    records_.clear();
  }

 private:
  struct Record {
    csi::RecordKind kind;
    llvm::MCSymbol* address;
    std::uint64_t key;
    std::uint32_t id = 0;  // of a position, like the flags
    std::uint8_t flags = 0;
    std::string places = {};  // of a frame
  };

  void emit_positions(const llvm::MachineInstr& marked, llvm::ArrayRef<Operands> operands,
                      std::uint64_t key, llvm::ArrayRef<std::uint64_t> positions) {
    // Line 0, which the debug information has for assembly without a line. Without it, changes
    // belong to the line before them.
    if (printer_.OutContext.getCurrentDwarfLoc().getLine() == 0)
      printer_.OutContext.clearDwarfLocSeen();
    const std::size_t changes = operands.size() / 2;  // as many places in memory as operands
    std::size_t change = 0;
    // A machine block can consist of copies and reloads followed by its position. The next block
    // begins at that address, and readers would take the position for the first one of that block.
    // The printer therefore emits the start address of the block that contains the position.
    const bool is_end = operands.empty() && has_only_code_before(marked);
    bool is_first = is_end && can_begin_its_block(marked);
    for (const std::uint64_t fields : positions) {
      const auto kind = static_cast<MarkedChange>(fields >> 40U);
      if (kind != MarkedChange::kNone) {
        emit_change(kind, operands[change], operands[changes + change]);
        ++change;
      }
      llvm::MCSymbol* const here = address_here();
      records_.push_back(
          {csi::RecordKind::kPosition, is_first ? marked.getParent()->getSymbol() : here, key,
           static_cast<std::uint32_t>(fields),
           static_cast<std::uint8_t>(static_cast<std::uint8_t>(fields >> 32U) |
                                     (is_end && !is_first ? csi::kAfterInstruction : 0))});
      is_first = false;
    }
  }

  // In its machine block, all instructions that are code are before this one, and there are some.
  static bool has_only_code_before(const llvm::MachineInstr& instruction) {
    const llvm::MachineBasicBlock& block = *instruction.getParent();
    const llvm::MachineBasicBlock::const_iterator here(instruction);
    return llvm::any_of(llvm::make_range(block.begin(), here), is_code) &&
           llvm::none_of(llvm::make_range(here, block.end()), is_code);
  }

  // It is the first position of its machine block, which has a label.
  bool can_begin_its_block(const llvm::MachineInstr& instruction) const {
    const llvm::MachineBasicBlock& block = *instruction.getParent();
    const llvm::MachineBasicBlock::const_iterator here(instruction);
    return printer_.TM.Options.BBAddrMap && !block.isEntryBlock() &&
           llvm::none_of(llvm::make_range(block.begin(), here), has_positions);
  }

  static bool has_positions(const llvm::MachineInstr& instruction) {
    if (position_probe_of(instruction)) return true;
    const std::optional<AssemblyMark> found = mark_of(instruction);
    return found && found->mark == kPositionsMark;
  }

  static bool is_code(const llvm::MachineInstr& instruction) {
    if (instruction.isMetaInstruction()) return false;
    const std::optional<AssemblyMark> found = mark_of(instruction);
    return !found || (found->mark == kPositionsMark && !operands_of(instruction).empty());
  }

  void add_frame(const llvm::MachineInstr& instruction, std::uint64_t key, std::uint64_t present) {
    const llvm::SmallVector<Operands, 8> variables = operands_of(instruction);
    const auto* variable = variables.begin();
    std::string text[3];
    for (unsigned i = 0; i < 3; ++i) {
      if ((present >> i & 1) == 0) continue;
      const auto number = static_cast<unsigned>(variable->data() - instruction.operands_begin());
      llvm::raw_string_ostream place(text[i]);
      if (printer_.PrintAsmMemoryOperand(&instruction, number, nullptr, place))
        llvm::report_fatal_error("telltale: unexpected place of path tracing's variables");
      ++variable;
    }
    const auto& [sum, array, index] = text;
    std::string places;
    for (const std::string* const each : {&array, &index, &sum}) places += *each + '\0';
    records_.push_back({csi::RecordKind::kFrame, address_here(), key, 0, 0, std::move(places)});
  }

  llvm::MCSymbol* address_here() {
    if (records_.empty())
      section_ = llvm::cast<llvm::MCSectionELF>(printer_.OutStreamer->getCurrentSectionOnly());
    llvm::MCSymbol* const address = printer_.OutContext.createTempSymbol();
    printer_.OutStreamer->emitLabel(address);
    return address;
  }

  void emit_record(const Record& record) {
    llvm::MCStreamer& out = *printer_.OutStreamer;
    const bool is_position = record.kind == csi::RecordKind::kPosition;
    out.emitInt32(is_position ? kPositionSize
                              : static_cast<std::uint32_t>(17 + record.places.size()));
    out.emitInt8(static_cast<std::uint8_t>(record.kind));
    if (is_position) {
      out.emitInt8(record.flags);
      out.emitInt32(record.id);
    }
    out.emitInt64(record.key);
    emit_address(record.address);
    if (!record.places.empty()) out.emitBytes(record.places);
  }

  // Always eight bytes, whatever the size of a pointer.
  void emit_address(const llvm::MCSymbol* address) {
    llvm::MCStreamer& out = *printer_.OutStreamer;
    const llvm::DataLayout& layout = printer_.getDataLayout();
    const unsigned size = layout.getPointerSize();
    if (!layout.isLittleEndian()) out.emitZeros(8 - size);
    out.emitSymbolValue(address, size);
    if (layout.isLittleEndian()) out.emitZeros(8 - size);
  }

  // Of x86-64: `memory` is base, scale, index, displacement and segment.
  void emit_change(MarkedChange kind, Operands memory, Operands operand) {
    llvm::MCInst instruction;
    for (const llvm::MachineOperand& part : memory) add(instruction, part);
    add(instruction, operand[0]);
    const bool is_move = kind == MarkedChange::kMove;
    if (operand[0].isReg()) {
      instruction.setOpcode(opcode(is_move ? kMoveRegister : kAddRegister));
    } else {
      instruction.setOpcode(opcode(is_move                               ? kMoveNumber
                                   : llvm::isInt<8>(operand[0].getImm()) ? kAddByte
                                                                         : kAddNumber));
    }
    printer_.EmitToStreamer(*printer_.OutStreamer, instruction);
  }

  static void add(llvm::MCInst& instruction, const llvm::MachineOperand& operand) {
    if (operand.isReg()) {
      instruction.addOperand(llvm::MCOperand::createReg(operand.getReg()));
    } else if (operand.isImm()) {
      instruction.addOperand(llvm::MCOperand::createImm(operand.getImm()));
    } else {
      llvm::report_fatal_error("telltale: unexpected operand of path tracing");
    }
  }

  // LLVM's headers do not have the opcodes of a target; they are looked up by name.
  enum Opcode { kMoveRegister, kMoveNumber, kAddRegister, kAddByte, kAddNumber, kOpcodes };
  unsigned opcode(Opcode wanted) {
    constexpr const char* kNames[kOpcodes] = {"MOV64mr", "MOV64mi32", "ADD64mr", "ADD64mi8",
                                              "ADD64mi32"};
    if (opcodes_.empty()) {
      opcodes_.assign(kOpcodes, 0);
      const llvm::MCInstrInfo& instructions = *printer_.TM.getMCInstrInfo();
      for (unsigned i = 0; i < instructions.getNumOpcodes(); ++i) {
        const auto* const name = llvm::find(kNames, instructions.getName(i));
        if (name != std::end(kNames)) opcodes_[name - kNames] = i;
      }
    }
    if (opcodes_[wanted] == 0) llvm::report_fatal_error("telltale: the target has no such change");
    return opcodes_[wanted];
  }

  llvm::AsmPrinter& printer_;
  std::vector<Record> records_;                  // of the current function
  const llvm::MCSectionELF* section_ = nullptr;  // of the first of them
  std::vector<unsigned> opcodes_;  // by Opcode, 0: the target has none; empty: not looked up yet
};

#if LLVM_VERSION_MAJOR > 19
using InstructionHandler = llvm::AsmPrinterHandler;
#else
// Only handlers of debug information see instructions.
using InstructionHandler = llvm::DebugHandlerBase;
#endif

class PrintedInstructions : public InstructionHandler {
 public:
#if LLVM_VERSION_MAJOR > 19
  PrintedInstructions(llvm::AsmPrinter&, PositionEmitter& emitter) : emitter_(emitter) {}
  void beginFunction(const llvm::MachineFunction*) override {}
  void endFunction(const llvm::MachineFunction*) override {}
#else
  PrintedInstructions(llvm::AsmPrinter& printer, PositionEmitter& emitter)
      : InstructionHandler(&printer), emitter_(emitter) {
    Asm = nullptr;  // the base class leaves functions alone
  }
  void beginModule(llvm::Module*) override {}
  void beginFunctionImpl(const llvm::MachineFunction*) override {}
  void endFunctionImpl(const llvm::MachineFunction*) override {}
#endif
  void endModule() override {}
  void beginInstruction(const llvm::MachineInstr* instruction) override {
    instruction_ = instruction;
  }
  // At the end: by then the handler of debug information has emitted the assembly's line.
  void endInstruction() override { emitter_.emit(*instruction_); }

 private:
  PositionEmitter& emitter_;
  const llvm::MachineInstr* instruction_ = nullptr;
};

class PrintedFunctions : public llvm::AsmPrinterHandler {
 public:
  explicit PrintedFunctions(llvm::AsmPrinter& printer) : emitter_(printer) {}
  PositionEmitter& emitter() { return emitter_; }
  void endModule() override {}
  void beginFunction(const llvm::MachineFunction*) override {}
  void endFunction(const llvm::MachineFunction*) override { emitter_.emit_records(); }

 private:
  PositionEmitter emitter_;
};

// A copy of the target as LLVM registered it: it creates printers without our handlers.
std::optional<llvm::Target>& original() {
  static std::optional<llvm::Target> the_original;
  return the_original;
}

llvm::AsmPrinter* make_printer(llvm::TargetMachine& machine,
                               std::unique_ptr<llvm::MCStreamer>&& streamer) {
  llvm::AsmPrinter* const printer = original()->createAsmPrinter(machine, std::move(streamer));
  if (printer == nullptr) return nullptr;
  auto functions = std::make_unique<PrintedFunctions>(*printer);
  auto instructions = std::make_unique<PrintedInstructions>(*printer, functions->emitter());
  printer->addAsmPrinterHandler(std::move(functions));
#if LLVM_VERSION_MAJOR > 19
  printer->addAsmPrinterHandler(std::move(instructions));
#else
  printer->addDebugHandler(std::move(instructions));
#endif
  return printer;
}

}  // namespace

void print_positions(const llvm::Triple& triple) {
  std::string error;
#if LLVM_VERSION_MAJOR > 19
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, error);
#else
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple.str(), error);
#endif
  if (target == nullptr) llvm::report_fatal_error(llvm::Twine("telltale: ") + error, false);
  if (original()) return;
  original() = *target;
  // LLVM has no hook for extending a printer, so the target's factory function is replaced.
  llvm::TargetRegistry::RegisterAsmPrinter(const_cast<llvm::Target&>(*target), make_printer);
}

}  // namespace telltale::instrument
