#include "sleds.h"

#include "hooks.h"
#include "loader.h"
#include "plain.h"
#include "syscalls.h"

namespace telltale::recorder {
namespace {

constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{1} << 20);
constexpr uint64_t kStep = 64 * 1024;

constexpr uint8_t kFunctionSledOff[2] = {0xEB, 0x09};  // jmp over the rest
constexpr uint8_t kCustomSledOff[2] = {0xEB, 0x0F};
constexpr uint8_t kTypedSledOff[2] = {0xEB, 0x14};
constexpr uint8_t kEventSledOn[2] = {0x66, 0x90};  // a nop of two bytes: the event's code runs
constexpr size_t kCustomCall = 10;
constexpr size_t kTypedCall = 14;
constexpr uint8_t kReturn = 0xC3;
constexpr uint8_t kCallNear = 0xE8;
constexpr uint8_t kJumpNear = 0xE9;
// mov $function, %r10d; call or jmp jump
constexpr size_t kPatchBytes = 11;

bool starts(const uint8_t* code, const uint8_t (&bytes)[2]) {
  return code[0] == bytes[0] && code[1] == bytes[1];
}

int32_t distance(const uint8_t* end_of_code, const std::byte* target) {
  return static_cast<int32_t>(reinterpret_cast<int64_t>(target) -
                              reinterpret_cast<int64_t>(end_of_code));
}

// Other threads may run here: the first two bytes, which activate the sled, are written last, in
// one store.
void store_first_two(uint8_t* code, uint8_t first, uint8_t second) {
  __atomic_store_n(reinterpret_cast<uint16_t*>(code), static_cast<uint16_t>(first | second << 8),
                   __ATOMIC_RELEASE);
}

void patch_function_sled(uint8_t* code, uint32_t function, uint8_t opcode, const std::byte* jump) {
  uint8_t patch[kPatchBytes] = {0x41, 0xBA};
  __builtin_memcpy(patch + 2, &function, 4);
  patch[6] = opcode;
  const int32_t to = distance(code + kPatchBytes, jump);
  __builtin_memcpy(patch + 7, &to, 4);
  for (size_t i = 2; i < kPatchBytes; ++i) {
    if (code[i] != patch[i]) __atomic_store_n(code + i, patch[i], __ATOMIC_RELEASE);
  }
  store_first_two(code, patch[0], patch[1]);
}

// Whether the patch targets the page of jumps.
bool is_ours(const uint8_t* code, const std::byte* page) {
  int32_t to;
  __builtin_memcpy(&to, code + 7, 4);
  const int64_t target = reinterpret_cast<int64_t>(code + kPatchBytes) + to;
  return target - reinterpret_cast<int64_t>(page) < static_cast<int64_t>(kPage) &&
         target >= reinterpret_cast<int64_t>(page);
}

// Registers by their number in instructions.
struct Move {
  uint8_t to;
  uint8_t from;
};

bool is_source(const Move* moves, size_t count, size_t except, uint8_t reg) {
  for (size_t i = 0; i < count; ++i) {
    if (i != except && moves[i].from == reg) return true;
  }
  return false;
}

void write_instruction(uint8_t* at, uint8_t opcode, uint8_t to, uint8_t from) {
  at[0] = static_cast<uint8_t>(0x48 | (from >= 8 ? 4 : 0) | (to >= 8 ? 1 : 0));
  at[1] = opcode;
  at[2] = static_cast<uint8_t>(0xC0 | (from & 7) << 3 | (to & 7));
}

// Clang moves an event's arguments to their registers one after the other, even if one move
// overwrites the source of a later one (seen in clang 19 and 22). Orders them so that none does;
// cycles become exchanges. `code`: `count` moves of three bytes each.
void order_moves(uint8_t* code, Move* moves, size_t count) {
  constexpr uint8_t kMove = 0x89;
  constexpr uint8_t kExchange = 0x87;
  uint8_t* const end = code + 3 * count;
  while (count != 0) {
    size_t pick = count;
    for (size_t i = 0; i < count && pick == count; ++i) {
      if (!is_source(moves, count, i, moves[i].to)) pick = i;
    }
    const bool cycle = pick == count;
    if (cycle) pick = 0;
    const Move move = moves[pick];
    --count;
    moves[pick] = moves[count];
    if (move.to == move.from) continue;
    write_instruction(code, cycle ? kExchange : kMove, move.to, move.from);
    code += 3;
    if (!cycle) continue;
    for (size_t i = 0; i < count; ++i) {
      if (moves[i].from == move.to) {
        moves[i].from = move.from;
      } else if (moves[i].from == move.from) {
        moves[i].from = move.to;
      }
    }
  }
  for (; code < end; code += 3) {
    code[0] = 0x0F;  // a nop of three bytes
    code[1] = 0x1F;
    code[2] = 0x00;
  }
}

// The part between the sled's first jump and its call: pushes and nops, then moves.
void mend_moves(uint8_t* code, size_t call) {
  Move moves[3] = {};
  size_t count = 0;
  uint8_t* at = code + call;
  while (count < 3 && at - 3 >= code + 2 && (at[-3] & 0xFA) == 0x48 && at[-2] == 0x89 &&
         (at[-1] & 0xC0) == 0xC0) {
    at -= 3;
    ++count;
  }
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const move = at + 3 * i;
    moves[i].to = static_cast<uint8_t>((move[2] & 7) | (move[0] & 1) << 3);
    moves[i].from = static_cast<uint8_t>((move[2] >> 3 & 7) | (move[0] & 4) << 1);
  }
  order_moves(at, moves, count);
}

bool patch_event_sled(uint8_t* code, const uint8_t (&off)[2], size_t call, const std::byte* jump,
                      bool on) {
  if (!on) {
    if (starts(code, kEventSledOn)) store_first_two(code, off[0], off[1]);
    return true;
  }
  if (code[call] != kCallNear) return false;
  const int32_t to = distance(code + call + 5, jump);
  int32_t there;
  __builtin_memcpy(&there, code + call + 1, 4);
  if (there == to && starts(code, kEventSledOn)) return true;
  if (!starts(code, off)) return false;
  if (there != to) {
    mend_moves(code, call);
    __builtin_memcpy(code + call + 1, &to, 4);
  }
  store_first_two(code, kEventSledOn[0], kEventSledOn[1]);
  return true;
}

template <typename Target>
void write_jump(std::byte* page, Jump jump, Target target) {
  constexpr uint8_t kJumpThroughNextWord[8] = {0xFF, 0x25, 2, 0, 0, 0, 0, 0};
  std::byte* const at = jump_in(page, jump);
  __builtin_memcpy(at, kJumpThroughNextWord, 8);
  const auto address = reinterpret_cast<uint64_t>(target);
  __builtin_memcpy(at + 8, &address, 8);
}

void fill_jump_page(std::byte* page) {
  write_jump(page, Jump::enter, telltale_xray_enter_stub);
  write_jump(page, Jump::exit, telltale_xray_exit_stub);
  write_jump(page, Jump::tail, telltale_xray_tail_stub);
  write_jump(page, Jump::argument, telltale_xray_argument_stub);
  write_jump(page, Jump::custom, telltale_xray_custom_stub);
  write_jump(page, Jump::typed, telltale_xray_typed_stub);
  write_jump(page, Jump::loader, on_loader_event);
}

std::byte* page_at(uint64_t address) {
  constexpr int kFixedNoReplace = 0x100000;
  void* const page = sys::map(reinterpret_cast<void*>(address), kPage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | kFixedNoReplace, -1, 0);
  if (page == nullptr || reinterpret_cast<uint64_t>(page) == address)
    return static_cast<std::byte*>(page);
  sys::call(SYS_munmap, page, kPage);  // kernels before 4.17 treat the address as a hint
  return nullptr;
}

}  // namespace

std::byte* make_jump_page(uint64_t low, uint64_t high) {
  const uint64_t least_address = high > kReach ? high - kReach : kStep;
  const uint64_t below = low / kPage * kPage - kPage;
  std::byte* page = nullptr;
  for (uint64_t at = below; page == nullptr && at >= least_address && at <= below && at >= kStep;
       at -= kStep) {
    page = page_at(at);
  }
  for (uint64_t at = (high + kPage) / kPage * kPage; page == nullptr && at < low + kReach;
       at += kStep)
    page = page_at(at);
  if (page == nullptr) return nullptr;
  fill_jump_page(page);
  sys::call(SYS_mprotect, page, kPage, PROT_READ | PROT_EXEC);
  return page;
}

bool patch_sled(const Sled& sled, uint32_t function, std::byte* page, bool on) {
  auto* const code = reinterpret_cast<uint8_t*>(sled.address());
  switch (sled.kind) {
    case 0:
    case 3:
    case 2: {
      const bool is_on = code[0] == 0x41 && code[1] == 0xBA;
      if (!on) {
        if (is_on) store_first_two(code, kFunctionSledOff[0], kFunctionSledOff[1]);
        return true;
      }
      if (is_on && is_ours(code, page)) return true;
      if (!starts(code, kFunctionSledOff)) return false;
      const Jump jump = sled.kind == 0 ? Jump::enter : sled.kind == 2 ? Jump::tail : Jump::argument;
      patch_function_sled(code, function, kCallNear, jump_in(page, jump));
      return true;
    }
    case 1:
      if (!on) {
        if (code[0] == 0x41) store_first_two(code, kReturn, 0x2E);
        return true;
      }
      if (code[0] == 0x41 && is_ours(code, page)) return true;
      if (code[0] != kReturn) return false;
      patch_function_sled(code, function, kJumpNear, jump_in(page, Jump::exit));
      return true;
    case 4:
      return patch_event_sled(code, kCustomSledOff, kCustomCall, jump_in(page, Jump::custom), on);
    case 5:
      return patch_event_sled(code, kTypedSledOff, kTypedCall, jump_in(page, Jump::typed), on);
    default:
      return false;
  }
}

}  // namespace telltale::recorder
