#include "program/dwarf_location.h"

#include <dwarf.h>

#include <utility>

namespace telltale {
namespace {

class Evaluation {
 public:
  explicit Evaluation(const LocationContext& context) : context_(context) {}

  std::optional<std::vector<LocationPiece>> run(std::span<const Dwarf_Op> operations) {
    for (const Dwarf_Op& operation : operations) {
      if (!step(operation)) return std::nullopt;
    }
    if (!stack_.empty() || is_value_) end_piece(0);
    if (pieces_.empty()) return std::nullopt;
    return std::move(pieces_);
  }

 private:
  bool step(const Dwarf_Op& operation) {
    const unsigned atom = operation.atom;
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
      return push_register(atom - DW_OP_breg0, operation.number);
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) return push_value_of(atom - DW_OP_reg0);
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) return push(atom - DW_OP_lit0);
    switch (atom) {
      case DW_OP_regx:
        return push_value_of(static_cast<unsigned>(operation.number));
      case DW_OP_bregx:
        return push_register(static_cast<unsigned>(operation.number), operation.number2);
      case DW_OP_fbreg:
        return context_.frame_base && push(*context_.frame_base + operation.number);
      case DW_OP_call_frame_cfa:
        return push(context_.canonical_frame_address);
      case DW_OP_addr:
        return push(operation.number + context_.bias);
      case DW_OP_const1u:
      case DW_OP_const1s:
      case DW_OP_const2u:
      case DW_OP_const2s:
      case DW_OP_const4u:
      case DW_OP_const4s:
      case DW_OP_const8u:
      case DW_OP_const8s:
      case DW_OP_constu:
      case DW_OP_consts:
        return push(operation.number);
      case DW_OP_plus_uconst:
        return !stack_.empty() && push(pop() + operation.number);
      case DW_OP_plus:
      case DW_OP_minus:
      case DW_OP_and:
        return combine(atom);
      case DW_OP_deref:
        return !stack_.empty() && push(context_.read_memory(pop(), sizeof(uint64_t)));
      case DW_OP_deref_size:
        return !stack_.empty() &&
               push(context_.read_memory(pop(), static_cast<size_t>(operation.number)));
      case DW_OP_stack_value:
        is_value_ = true;
        return !stack_.empty();
      case DW_OP_piece:
        end_piece(operation.number);
        return true;
      case DW_OP_nop:
        return true;
      default:
        return false;
    }
  }

  bool push(std::optional<uint64_t> number) {
    if (number) stack_.push_back(*number);
    return number.has_value();
  }
  uint64_t pop() {
    const uint64_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  bool push_register(unsigned number, uint64_t offset) {
    const std::optional<uint64_t> value = context_.read_register(number);
    return value && push(*value + offset);
  }
  bool push_value_of(unsigned number) {
    is_value_ = true;
    return push(context_.read_register(number));
  }
  bool combine(unsigned atom) {
    if (stack_.size() < 2) return false;
    const uint64_t second = pop();
    const uint64_t first = pop();
    if (atom == DW_OP_plus) return push(first + second);
    return push(atom == DW_OP_minus ? first - second : first & second);
  }

  // A piece without a location before it is missing from the frame.
  void end_piece(uint64_t bytes) {
    LocationPiece piece;
    piece.bytes = bytes;
    if (!stack_.empty()) {
      piece.kind = is_value_ ? LocationPiece::Kind::value : LocationPiece::Kind::memory;
      piece.number = stack_.back();
    }
    pieces_.push_back(piece);
    stack_.clear();
    is_value_ = false;
  }

  const LocationContext& context_;
  std::vector<uint64_t> stack_;
  std::vector<LocationPiece> pieces_;
  bool is_value_ = false;
};

}  // namespace

std::optional<std::vector<LocationPiece>> evaluate_location(std::span<const Dwarf_Op> operations,
                                                            const LocationContext& context) {
  return Evaluation(context).run(operations);
}

}  // namespace telltale
