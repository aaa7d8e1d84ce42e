#include "program/exception_landing.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "program/dwarf_registers.h"

namespace telltale {
namespace {

constexpr uint64_t kWord = 8;
// Members of struct _Unwind_Context, as words: where the registers are saved, the frame's canonical
// frame address, the address of its code.
constexpr size_t kFrameAddress = 18;
constexpr size_t kCode = 19;
constexpr size_t kContextWords = 20;
// In the code of each of the unwinder's functions; the next call is at 130 or later.
constexpr uint64_t kLastOffsetOfFirstCall = 128;
// Bounds the cost of hostile input.
constexpr uint64_t kMostFrameBytes = 4096;
constexpr uint64_t kMostStackBytes = uint64_t{8} << 20;
constexpr size_t kMostContexts = 4;  // a frame has two

// Registers that functions keep for their callers.
constexpr std::array<unsigned, 6> kKept = {3, 6, 12, 13, 14, 15};

std::vector<uint64_t> words_at(const CoreFile& core, uint64_t address, uint64_t bytes) {
  const Bytes memory = core.memory(address, bytes);
  std::vector<uint64_t> words(memory.size() / kWord);
  if (!words.empty()) std::memcpy(words.data(), memory.data(), words.size() * kWord);
  return words;
}

// Whether the words of a frame may be a context of a frame further out.
bool is_context(const UnwinderFrame& frame, const uint64_t* words) {
  const uint64_t frame_address = words[kFrameAddress];
  return frame_address > frame.frame_address &&
         frame_address - frame.frame_address <= kMostStackBytes &&
         words[kReturnAddress] == frame_address - kWord && words[kCode] != 0;
}

// The unwinder has stored the landing pad's address where the frame will be that it goes on in, and
// computes the stack pointer in a register: gcc's __builtin_eh_return.
bool leaves_frame(const UnwinderFrame& frame, uint64_t slot) {
  const std::optional<uint64_t> rcx = frame.read_register(kRcx);
  const std::optional<uint64_t> rdx = frame.read_register(kRdx);
  const uint64_t distance = slot + kWord - frame.frame_address;
  return frame.innermost && (rcx == slot || (rcx == distance && rdx == distance));
}

// While the context is moved to the next frame, it has the return address of the one before, which
// is on the stack.
bool is_being_moved(const CoreFile& core, const UnwinderFrame& frame, const uint64_t* context) {
  const uint64_t first = frame.frame_address - kWord;
  const std::vector<uint64_t> between = words_at(core, first, context[kReturnAddress] - first);
  return std::ranges::find(between, context[kCode]) != between.end();
}

// Whether a context is that of a landing pad, and no longer what an earlier exception has left in
// the same memory.
bool is_landing(const CoreFile& core, const UnwinderFrame& frame, const uint64_t* context) {
  const uint64_t slot = context[kReturnAddress];
  const uint64_t code = context[kCode];
  const std::optional<uint64_t> returns_to = core.read_number(slot, kWord);
  if (!returns_to) return false;
  if (*returns_to == code) return leaves_frame(frame, slot);
  // The unwinder's own return address has been replaced.
  if (core.read_number(frame.frame_address - kWord, kWord) == *returns_to) return true;
  // Its first call initialises the contexts.
  return !frame.innermost && frame.code_offset > kLastOffsetOfFirstCall &&
         !is_being_moved(core, frame, context);
}

}  // namespace

bool is_exception_unwinder(std::string_view symbol) {
  return symbol == "_Unwind_RaiseException" || symbol == "_Unwind_Resume" ||
         symbol == "_Unwind_Resume_or_Rethrow" || symbol == "_Unwind_ForcedUnwind";
}

std::optional<LandingRegisters> find_landing(const CoreFile& core, const UnwinderFrame& frame) {
  if (core.machine() != EM_X86_64 || frame.frame_address <= frame.stack_pointer ||
      frame.frame_address - frame.stack_pointer > kMostFrameBytes)
    return std::nullopt;
  const std::vector<uint64_t> words =
      words_at(core, frame.stack_pointer, frame.frame_address - frame.stack_pointer);
  size_t contexts = 0;
  for (size_t first = 0; first + kContextWords <= words.size(); ++first) {
    const uint64_t* const context = &words[first];
    if (!is_context(frame, context)) continue;
    if (++contexts > kMostContexts) break;
    if (!is_landing(core, frame, context)) continue;
    LandingRegisters landing{.pc = context[kCode], .registers = {}};
    for (const unsigned number : kKept) {
      landing.registers[number] = context[number] == 0 ? frame.read_register(number)
                                                       : core.read_number(context[number], kWord);
    }
    landing.registers[kRsp] = context[kFrameAddress];
    landing.registers[kReturnAddress] = landing.pc;
    return landing;
  }
  return std::nullopt;
}

}  // namespace telltale
