#include "program/frame_reader.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "program/dwarf_registers.h"
#include "program/function_scopes.h"
#include "program/unwind_functions.h"

namespace telltale {
namespace {

constexpr size_t kMostScopes = 64;  // nested lexical blocks that are searched

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

template <typename T>
std::unique_ptr<T, decltype(&std::free)> owned(T* allocated) {
  return {allocated, &std::free};
}

struct VariableType {
  uint64_t element_bytes = 0;
  uint64_t elements = 0;
};

// A scalar, or an array of scalars.
std::optional<VariableType> type_of(Dwarf_Die& variable) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_formref_die(dwarf_attr_integrate(&variable, DW_AT_type, &attribute), &type) ==
          nullptr ||
      dwarf_peel_type(&type, &type) != 0)
    return std::nullopt;
  Dwarf_Word bytes = 0;
  if (dwarf_aggregate_size(&type, &bytes) != 0) return std::nullopt;
  Dwarf_Die element = type;
  if (dwarf_tag(&type) == DW_TAG_array_type &&
      (dwarf_formref_die(dwarf_attr_integrate(&type, DW_AT_type, &attribute), &element) ==
           nullptr ||
       dwarf_peel_type(&element, &element) != 0))
    return std::nullopt;
  Dwarf_Word element_bytes = 0;
  if (dwarf_aggregate_size(&element, &element_bytes) != 0 || element_bytes == 0 ||
      element_bytes > sizeof(uint64_t) || bytes % element_bytes != 0)
    return std::nullopt;
  return VariableType{.element_bytes = element_bytes, .elements = bytes / element_bytes};
}

// The value of `size` bytes, with its sign.
int64_t extend(uint64_t value, uint64_t size) {
  const unsigned unused = static_cast<unsigned>(64 - 8 * size);
  return static_cast<int64_t>(value << unused) >> unused;
}

// How the canonical frame address is computed at an address: from which register and distance.
struct FrameRule {
  unsigned base = 0;
  int64_t offset = 0;
};
// Whether `visit` accepts the rules of one of the module's unwind tables for the address.
template <typename Visit>
bool any_unwind_rules(Dwfl_Module* module, uint64_t address, Visit visit) {
  for (const auto tables : {dwfl_module_eh_cfi, dwfl_module_dwarf_cfi}) {
    Dwarf_Addr bias = 0;
    Dwarf_CFI* cfi = tables(module, &bias);
    Dwarf_Frame* rules = nullptr;
    if (cfi == nullptr || dwarf_cfi_addrframe(cfi, address - bias, &rules) != 0) continue;
    const auto free_rules = owned(rules);
    if (visit(rules)) return true;
  }
  return false;
}

bool has_unwind_table(Dwfl_Module* module, uint64_t address) {
  return any_unwind_rules(module, address, [](Dwarf_Frame*) { return true; });
}

std::optional<FrameRule> frame_rule(Dwfl_Module* module, uint64_t address) {
  std::optional<FrameRule> found;
  any_unwind_rules(module, address, [&](Dwarf_Frame* rules) {
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (dwarf_frame_cfa(rules, &operations, &count) != 0 || count != 1) return false;
    const Dwarf_Op& rule = operations[0];
    if (rule.atom == DW_OP_bregx) {
      found = FrameRule{.base = static_cast<unsigned>(rule.number),
                        .offset = static_cast<int64_t>(rule.number2)};
    } else if (rule.atom >= DW_OP_breg0 && rule.atom <= DW_OP_breg31) {
      found = FrameRule{.base = static_cast<unsigned>(rule.atom - DW_OP_breg0),
                        .offset = static_cast<int64_t>(rule.number)};
    }
    return found.has_value();
  });
  return found;
}

// Registers that a frame keeps for its caller, and the stack pointer, as DWARF numbers them.
bool keeps_value(uint16_t machine, unsigned number) {
  if (machine == EM_AARCH64)
    return (number >= kArmX19 && number <= kArmFramePointer) || number == kArmStackPointer;
  return number == kRbx || number == kRbp || number == kRsp || number >= kR12;
}

// Where a variable is in a frame.
struct VariableAddress {
  std::optional<uint64_t> address;
  bool by_frame_address = false;
};

// From the canonical frame address if its place is given by the register that this address is
// computed from, so that it does not matter what the instructions since then did to the register.
// In a frame with its own alignment: by the register's value.
VariableAddress address_of(uint16_t machine, Dwfl_Module* module, const PlacedVariable& variable,
                           const LocationContext& context) {
  Dwarf_Addr bias = 0;
  if (dwfl_module_getelf(module, &bias) == nullptr) return {};
  const std::optional<FrameRule> rule = frame_rule(module, variable.address + bias);
  if (rule && rule->base == variable.base) {
    if (!context.canonical_frame_address) return {};
    return {.address = *context.canonical_frame_address - static_cast<uint64_t>(rule->offset) +
                       static_cast<uint64_t>(variable.offset),
            .by_frame_address = true};
  }
  if (!keeps_value(machine, variable.base)) return {};
  const std::optional<uint64_t> base = context.read_register(variable.base);
  if (!base) return {};
  return {.address = *base + static_cast<uint64_t>(variable.offset)};
}

// Symbol tables of libraries have names such as abort@@GLIBC_2.34.
std::string without_version(std::string symbol) {
  const size_t at = symbol.find('@', 1);
  if (at != std::string::npos) symbol.resize(at);
  return symbol;
}

}  // namespace

void FrameReader::read(Dwfl* dwfl, Dwfl_Frame* state, bool in_call,
                       std::vector<StackFrame>& frames) {
  StackFrame frame;
  Dwarf_Addr pc = 0;
  if (!dwfl_frame_pc(state, &pc, &frame.interrupted)) return;
  if (in_call) {
    frame.interrupted = false;
    ++pc;
  }
  frame.pc = pc;
  Place place;
  // A return address may be that of the next function or line.
  place.pc = frame.interrupted || pc == 0 ? pc : pc - 1;
  place.module = dwfl_addrmodule(dwfl, place.pc);
  frame.may_lack_caller = place.module == nullptr || !has_unwind_table(place.module, place.pc);
  if (place.module != nullptr) {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    frame.symbol = without_version(text_or_empty(
        dwfl_module_addrinfo(place.module, place.pc, &offset, &symbol, nullptr, nullptr, nullptr)));
    GElf_Addr bias = 0;
    if (dwfl_module_getelf(place.module, &bias) != nullptr) {
      frame.address = place.pc - bias;
      if (!frame.symbol.empty()) {
        frame.function_begin = frame.address - offset;
        frame.function_end = frame.function_begin + symbol.st_size;
      } else if (const auto bounds = find_unwind_function(place.module, frame.address)) {
        frame.function_begin = bounds->begin;
        frame.function_end = bounds->end;
      }
    }
    const char* file = nullptr;
    dwfl_module_info(place.module, nullptr, nullptr, nullptr, nullptr, nullptr, &file, nullptr);
    frame.module = text_or_empty(file);
    Dwarf_Addr dwarf_bias = 0;
    if (!read_debug_info_ || read_debug_info_(frame.module))
      place.dwarf = dwfl_module_getdwarf(place.module, &dwarf_bias);
    place.bias = dwarf_bias;
  }
  const size_t first = frames.size();
  LocationContext context;
  if (place.module != nullptr) context = context_of(place, state);
  if (place.dwarf == nullptr) {
    frames.push_back(std::move(frame));
  } else {
    read_functions(place, context, std::move(frame), frames);
  }
  if (find_ && place.module != nullptr)
    add_placed_variables(place, context, std::span(frames).subspan(first));
}

std::optional<LandingRegisters> FrameReader::find_landing(Dwfl* dwfl, Dwfl_Frame* state,
                                                          const StackFrame& frame) const {
  Dwarf_Addr pc = 0;
  bool is_innermost = false;
  if (!dwfl_frame_pc(state, &pc, &is_innermost)) return std::nullopt;
  Place place;
  place.pc = is_innermost || pc == 0 ? pc : pc - 1;
  place.module = dwfl_addrmodule(dwfl, place.pc);
  if (place.module == nullptr) return std::nullopt;
  const LocationContext context = context_of(place, state);
  const std::optional<uint64_t> stack_pointer = context.read_register(kRsp);
  if (!context.canonical_frame_address || !stack_pointer) return std::nullopt;
  return telltale::find_landing(core_, {.stack_pointer = *stack_pointer,
                                        .frame_address = *context.canonical_frame_address,
                                        .read_register = context.read_register,
                                        .innermost = is_innermost,
                                        .code_offset = frame.address - frame.function_begin});
}

bool FrameReader::has_landing_for_caller(Dwfl* dwfl, Dwfl_Frame* state) const {
  Dwarf_Addr pc = 0;
  bool is_innermost = false;
  if (core_.machine() != EM_X86_64 || !dwfl_frame_pc(state, &pc, &is_innermost) || !is_innermost)
    return false;
  Dwfl_Module* const module = dwfl_addrmodule(dwfl, pc);
  if (module == nullptr) return false;
  // gcc's __builtin_eh_return ends with mov %rcx,%rsp; pop %rcx; jmp *%rcx. The frame address is
  // that of rcx at the first of these.
  for (uint64_t back = 0; back <= 2; ++back) {
    const std::optional<FrameRule> rule = frame_rule(module, pc - back);
    if (rule && rule->base == kRcx) return true;
  }
  return false;
}

// Where the debug information has the variables, it says where they are in the body of the
// function. While the function returns, its frame base has changed already; the canonical frame
// address has not.
void FrameReader::add_placed_variables(const Place& place, const LocationContext& context,
                                       std::span<StackFrame> frames) const {
  StackFrame& frame = frames.back();
  const bool is_inlined =
      std::ranges::any_of(frames.first(frames.size() - 1),
                          [](const StackFrame& each) { return !each.variables.empty(); });
  if (is_inlined) return;
  const bool has_variables = !frame.variables.empty();
  for (const PlacedVariable& placed : find_(frame)) {
    StackVariable variable{.name = placed.name, .values = {}, .missing = {}};
    const auto [address, by_frame_address] =
        address_of(core_.machine(), place.module, placed, context);
    if (has_variables && !by_frame_address) continue;
    constexpr uint64_t kBytes = sizeof(uint64_t);
    if (!address) {
      variable.missing = "the unwind tables do not tell where it is";
    } else if (core_.memory(*address, placed.elements * kBytes).size() !=
               placed.elements * kBytes) {
      variable.missing = fmt::format("the core file has no memory at {:#x}", *address);
    } else {
      for (uint64_t i = 0; i < placed.elements; ++i) {
        const auto value = core_.read_number(*address + i * kBytes, kBytes);
        variable.values.push_back(static_cast<int64_t>(value.value_or(0)));
      }
    }
    const auto same = std::ranges::find(frame.variables, variable.name, &StackVariable::name);
    if (same == frame.variables.end()) {
      frame.variables.push_back(std::move(variable));
    } else {
      *same = std::move(variable);
    }
  }
}

LocationContext FrameReader::context_of(const Place& place, Dwfl_Frame* state) const {
  LocationContext context;
  context.bias = place.bias;
  context.read_register = [state](unsigned number) -> std::optional<uint64_t> {
    Dwarf_Word value = 0;
    if (dwfl_frame_reg(state, number, &value) != 0) return std::nullopt;
    return value;
  };
  context.read_memory = [this](uint64_t address, size_t size) {
    return core_.read_number(address, size);
  };
  for (const auto tables : {dwfl_module_eh_cfi, dwfl_module_dwarf_cfi}) {
    Dwarf_Addr bias = 0;
    Dwarf_CFI* cfi = tables(place.module, &bias);
    Dwarf_Frame* rules = nullptr;
    if (cfi == nullptr || dwarf_cfi_addrframe(cfi, place.pc - bias, &rules) != 0) continue;
    const auto free_rules = owned(rules);
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (dwarf_frame_cfa(rules, &operations, &count) != 0) continue;
    const auto pieces = evaluate_location(std::span(operations, count), context);
    if (pieces && pieces->front().kind != LocationPiece::Kind::missing) {
      context.canonical_frame_address = pieces->front().number;
      break;
    }
  }
  return context;
}

void FrameReader::read_functions(const Place& place, LocationContext& context, StackFrame frame,
                                 std::vector<StackFrame>& frames) {
  DwarfUnits& units = units_[place.module];
  units.read(place.module);
  std::optional<DwarfUnit> unit = units.find(place.dwarf, place.pc);
  if (!unit) {
    frames.push_back(std::move(frame));
    return;
  }
  if (!unit->missing_file.empty()) missing_files_.try_emplace(frame.module, unit->missing_file);
  const uint64_t address = place.pc - place.bias;
  SourcePlace source = line_at(unit->skeleton, address);
  Dwarf_Attribute attribute;
  frame.directory =
      text_or_empty(dwarf_formstring(dwarf_attr(&unit->skeleton, DW_AT_comp_dir, &attribute)));
  std::vector<Dwarf_Die> functions = functions_[place.module].find(*unit, address);
  if (functions.empty()) {
    frame.file = source.file;
    frame.line = source.line;
    frames.push_back(std::move(frame));
    return;
  }
  Dwarf_Op* operations = nullptr;
  size_t operation_count = 0;
  if (dwarf_getlocation_addr(dwarf_attr_integrate(&functions.back(), DW_AT_frame_base, &attribute),
                             address, &operations, &operation_count, 1) > 0) {
    const auto base = evaluate_location(std::span(operations, operation_count), context);
    if (base && base->front().kind != LocationPiece::Kind::missing)
      context.frame_base = base->front().number;
  }
  for (Dwarf_Die& function : functions) {
    StackFrame each = frame;
    each.inlined = is_inlined(function);
    if (each.inlined) each.symbol.clear();
    each.linkage_name = linkage_name_of(function);
    each.file = source.file;
    each.line = source.line;
    read_variables(place, function, context, each, 0);
    frames.push_back(std::move(each));
    if (frames.back().inlined) source = call_of(function);
    frame.interrupted = false;  // the callers of what is inlined are in a call
  }
}

// Also in nested blocks that do not contain the place: a compiler may have declared variables that
// belong to the whole function in one of them.
void FrameReader::read_variables(const Place& place, Dwarf_Die function,
                                 const LocationContext& context, StackFrame& frame,
                                 size_t depth) const {
  Dwarf_Die child;
  if (depth == kMostScopes || dwarf_child(&function, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_lexical_block) read_variables(place, child, context, frame, depth + 1);
    if (tag != DW_TAG_variable) continue;
    std::string name = text_or_empty(dwarf_diename(&child));
    const auto same = [&](const StackVariable& variable) { return variable.name == name; };
    if (std::ranges::find(variables_, name) != variables_.end() &&
        std::ranges::none_of(frame.variables, same))
      frame.variables.push_back(read_variable(place, std::move(name), child, context));
  } while (dwarf_siblingof(&child, &child) == 0);
}

StackVariable FrameReader::read_variable(const Place& place, std::string name, Dwarf_Die& die,
                                         const LocationContext& context) const {
  StackVariable variable{.name = std::move(name), .values = {}, .missing = {}};
  const auto fail = [&variable](std::string why) {
    variable.values.clear();
    variable.missing = std::move(why);
    return variable;
  };
  const std::optional<VariableType> type = type_of(die);
  if (!type) return fail("its type is neither a number nor an array of numbers");
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_getlocation_addr(dwarf_attr_integrate(&die, DW_AT_location, &attribute),
                             place.pc - place.bias, &operations, &count, 1) <= 0)
    return fail("it has no location at this address");
  const auto pieces = evaluate_location(std::span(operations, count), context);
  if (!pieces) return fail("its location cannot be computed");
  for (const LocationPiece& piece : *pieces) {
    const uint64_t left = type->elements - variable.values.size();
    const uint64_t elements = piece.bytes == 0 ? left : piece.bytes / type->element_bytes;
    if (piece.kind == LocationPiece::Kind::missing || elements > left ||
        (piece.bytes % type->element_bytes) != 0)
      return fail("a part of it was optimised out");
    if (piece.kind == LocationPiece::Kind::value) {
      if (elements != 1) return fail("a part of it was optimised out");
      variable.values.push_back(extend(piece.number, type->element_bytes));
      continue;
    }
    // Before values are stored: the core file must have them all.
    if (core_.memory(piece.number, elements * type->element_bytes).size() !=
        elements * type->element_bytes)
      return fail(fmt::format("the core file has no memory at {:#x}", piece.number));
    for (uint64_t i = 0; i < elements; ++i) {
      const auto value =
          core_.read_number(piece.number + i * type->element_bytes, type->element_bytes);
      variable.values.push_back(extend(value.value_or(0), type->element_bytes));
    }
  }
  if (variable.values.size() != type->elements) return fail("a part of it was optimised out");
  return variable;
}

}  // namespace telltale
