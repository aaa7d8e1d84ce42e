#include "cells.h"
#include "clock.h"
#include "side_record.h"
#include "state.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {
namespace {

constexpr uint32_t kMostAttempts = 10000;
constexpr size_t kSideMapped = size_t{64} << 20;
constexpr size_t kSideFirst = size_t{16} << 10;
// Allocation is done in steps, so that it is cheap and a small program reserves little.
constexpr uint64_t kLeastStep = uint64_t{1} << 20;
constexpr uint64_t kMostStep = uint64_t{64} << 20;

uint64_t trace_bytes(uint64_t cells) {
  return xray::kFileHeaderBytes + cells * state.options.cell_bytes;
}

// With numbers and suffixes, a file's name has 255 bytes at most.
constexpr size_t kMostName = 200;

void add_program_name(Path& path) {
  char target[400];
  const long length =
      sys::call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", target, sizeof(target) - 1);
  if (sys::failed(length)) {
    path.add("program");
    return;
  }
  target[length] = '\0';
  const char* name = target;
  for (const char* at = target; *at != '\0'; ++at) {
    if (*at == '/') name = at + 1;
  }
  for (size_t i = 0; name[i] != '\0' && i < kMostName; ++i) path.add(name[i]);
}

// Inserts `.PID.N` before the last suffix of the name.
void add_number(Path& path, uint32_t number) {
  const Path before = path;
  const char* const text = before.c_str();
  size_t dot = before.size();
  for (size_t i = before.size(); i > 0 && text[i - 1] != '/'; --i) {
    if (text[i - 1] == '.') {
      dot = i - 1;
      break;
    }
  }
  path.clear();
  for (size_t i = 0; i < dot; ++i) path.add(text[i]);
  path.add('.').add(static_cast<uint64_t>(state.pid)).add('.').add(uint64_t{number});
  path.add(text + dot);
}

void write_trace_header(std::byte* at, bool in_file) {
  auto* const header = reinterpret_cast<TraceHeader*>(at);
  header->version = state.options.version;
  header->type = static_cast<uint16_t>(xray::LogType::fdr);
  header->bits = header_bits(0);
  header->frequency = state.side->frequency;
  header->buffer_bytes = state.options.cell_bytes;
  header->mark = xray::kRecorderMark;
  header->flags = xray::kRecorderCounts;
  if (in_file || state.options.version == 1) header->flags |= xray::kRecorderCells;
  if (state.waits) header->flags |= xray::kRecorderWaits;
  if (state.part > 1) header->flags |= xray::kRecorderResumed;
  header->sparse_interval = static_cast<uint8_t>(state.sparse_interval);
  header->lost = static_cast<uint32_t>(state.side->lost_reentrant);
  state.header = header;
}

// Ring: allocates the lists of cells that may be overwritten. False: no memory.
bool make_ring_lists() {
  if (state.options.mode == Mode::continuous) {
    state.closed = nullptr;
    state.cell_events = state.cell_opened = nullptr;
    return true;
  }
  const size_t bytes = state.cells * (2 * sizeof(uint64_t) + sizeof(uint32_t));
  auto* const memory = static_cast<std::byte*>(sys::map_private(bytes));
  if (memory == nullptr) return false;
  state.cell_events = reinterpret_cast<uint64_t*>(memory);
  state.cell_opened = state.cell_events + state.cells;
  state.closed = reinterpret_cast<uint32_t*>(state.cell_opened + state.cells);
  return true;
}

long open_memory() {
  const size_t bytes = trace_bytes(state.cells);
  auto* const memory = static_cast<std::byte*>(sys::map_private(bytes));
  if (memory == nullptr) return -ENOMEM;
  sys::call(SYS_madvise, memory, bytes, MADV_DONTFORK);
  state.header = reinterpret_cast<TraceHeader*>(memory);
  return 0;
}

long open_trace_file() {
  for (uint32_t attempt = 0; attempt < kMostAttempts; ++attempt) {
    Path path;
    if (!make_path(attempt, path)) return -ENOENT;
    // Creating the trace claims its name and the side record's; an old side record is removed.
    if (sys::call(SYS_faccessat, AT_FDCWD, path.c_str(), 0) == 0) continue;
    // Allocates only the first cell here: on a small disk the side record needs space, too.
    const long error = trace_file.create(path.c_str(), trace_bytes(state.cells), trace_bytes(1));
    if (error == 0) {
      trace_path = path;
      return 0;
    }
    if (sys::call(SYS_faccessat, AT_FDCWD, path.c_str(), 0) != 0) return error;
  }
  return -EEXIST;
}

void write_side_header(SideHeader& side) {
  copy_bytes(side.mark, "TTXRSIDE", sizeof(side.mark));
  side.version = 1;
  side.header_bytes = sizeof(SideHeader);
  side.flags = state.options.mode == Mode::ring       ? kSideRing
               : state.options.mode == Mode::snapshot ? kSideSnapshot
                                                      : 0U;
  if (state.compares_linkage_names) side.flags |= kSideLinkageNames;
  side.pid = static_cast<uint32_t>(state.pid);
  side.parent_pid = static_cast<uint32_t>(state.parent_pid);
  side.sparse_interval = state.sparse_interval;
  side.cell_bytes = static_cast<uint32_t>(state.options.cell_bytes);
  side.part = state.part;
  side.committed = sizeof(SideHeader);
}

void open_side_file() {
  const uint32_t flags = state.spare_side.flags;
  const uint64_t reentrant = state.spare_side.lost_reentrant;
  fill_words(&state.spare_side, 0, sizeof(SideHeader) / sizeof(uint64_t));
  state.side = &state.spare_side;
  if (state.options.mode != Mode::snapshot) {
    Path path = trace_path;
    path.add(".side");
    sys::call(SYS_unlinkat, AT_FDCWD, path.c_str(), 0);
    if (side_file.create(path.c_str(), kSideMapped, kSideFirst) == 0) {
      state.side = reinterpret_cast<SideHeader*>(side_file.base());
      side_file.share_head_with_children();
    }
  }
  write_side_header(*state.side);
  state.side->flags |= flags & (kSideLoaderNotWatched | kSideNotAllPatched);
  state.side->lost_reentrant = reentrant;
}

}  // namespace

bool make_path(uint32_t attempt, Path& path) {
  path.clear();
  const char* pattern = state.options.file;
  bool numbered = false;
  if (pattern[0] != '/') {
    char folder[512];
    folder[0] = '\0';
    if (sys::failed(sys::call(SYS_getcwd, folder, sizeof(folder)))) return false;
    path.add(folder).add('/');
  }
  for (; *pattern != '\0'; ++pattern) {
    if (*pattern != '%' || pattern[1] == '\0') {
      path.add(*pattern);
      continue;
    }
    switch (*++pattern) {
      case 'p':
        add_program_name(path);
        break;
      case 'i':
        path.add(static_cast<uint64_t>(state.pid));
        break;
      case 'n':
        path.add(uint64_t{attempt});
        numbered = true;
        break;
      default:
        path.add(*pattern);
    }
  }
  if (!numbered && attempt > 0) add_number(path, attempt - 1);
  return !path.full();
}

long open_recording() {
  choose_clock();
  // A sparse clock does not tell where between two readings a wait was.
  state.waits = state.options.waits && state.sparse_interval == 0;
  state.most_delta = state.waits ? kGapTicks : kMostDelta;
  state.pid = sys::pid();
  state.has_extents = state.options.version != 1;
  // Version 1 marks unused words with EndOfBuffer, whose first byte is 3.
  state.free_word = state.has_extents ? 0 : xray::kFreeWordVersion1;
  state.cells = static_cast<uint32_t>(
      most(1, (state.options.size - xray::kFileHeaderBytes) / state.options.cell_bytes));
  const bool in_file = state.options.mode != Mode::snapshot;
  if (const long error = in_file ? open_trace_file() : open_memory(); error != 0) return error;
  if (in_file) {
    state.header = reinterpret_cast<TraceHeader*>(trace_file.base());
    state.cells = static_cast<uint32_t>((trace_file.mapped() - xray::kFileHeaderBytes) /
                                        state.options.cell_bytes);
  }
  if (state.cells == 0 || !make_ring_lists()) return -ENOMEM;
  ++state.part;
  open_side_file();
  start_clock();
  write_trace_header(reinterpret_cast<std::byte*>(state.header), in_file);
  // A thread that was about to open a buffer when the last recording was stopped found no space.
  const Locked locked(state.lock);
  take_all_buffers();
  state.space_gone = false;
  return 0;
}

bool grow_trace(uint32_t cells) {
  if (state.options.mode == Mode::snapshot) return true;
  const uint64_t need = trace_bytes(cells);
  if (need <= trace_file.allocated()) return true;
  uint64_t step = trace_file.allocated() / 4;
  step = step < kLeastStep ? kLeastStep : step > kMostStep ? kMostStep : step;
  const uint64_t all = trace_bytes(state.cells);
  return trace_file.grow(least(all, most(need, trace_file.allocated() + step))) ||
         trace_file.grow(need);
}

void give_up_files() {
  const Locked locked(state.lock);
  // A ring in memory stays mapped, too, but without its pages.
  if (trace_file.base() == nullptr && state.header != nullptr &&
      state.header != &state.spare_header) {
    sys::call(SYS_madvise, state.header, trace_bytes(state.cells), MADV_DONTNEED);
  }
  trace_file.retire();
  side_file.retire();
  fill_words(&state.spare_side, 0, sizeof(SideHeader) / sizeof(uint64_t));
  state.side = &state.spare_side;
  state.header = &state.spare_header;
  trace_path.clear();
}

void finish_files(bool exited) {
  calibrate();
  if (exited) __atomic_fetch_or(&state.side->flags, kSideExited, __ATOMIC_RELAXED);
  {
    const Locked locked(state.lock);
    tell_all_left_out();
    trace_file.cut(trace_bytes(state.cells_used));
  }
  cut_side_record();
}

}  // namespace telltale::recorder
