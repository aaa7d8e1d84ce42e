#include "snapshot.h"

#include "cells.h"
#include "clock.h"
#include "side_record.h"
#include "state.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {
namespace {

constexpr uint8_t kExtentsKind = static_cast<uint8_t>(xray::MetadataKind::buffer_extents) << 1 | 1;
constexpr uint8_t kNewBufferKind = static_cast<uint8_t>(xray::MetadataKind::new_buffer) << 1 | 1;
constexpr uint32_t kMostAttempts = 10000;

int under_way = 0;
int last = 0;  // the process crashes: no other snapshot starts

class Output {
 public:
  explicit Output(const char* path)
      : descriptor_(sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)) {}
  ~Output() {
    if (is_open()) sys::call(SYS_close, descriptor_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  [[nodiscard]] bool is_open() const { return !sys::failed(descriptor_); }
  [[nodiscard]] bool exists() const { return descriptor_ == -EEXIST; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }
  // False: not everything could be written; partially written data does not count.
  bool write(const void* data, size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    int64_t at = bytes_;
    while (bytes != 0) {
      const long done = sys::call(SYS_pwrite64, descriptor_, from, bytes, at);
      if (done == -EINTR) continue;
      if (sys::failed(done) || done == 0) return false;
      from += done;
      at += done;
      bytes -= static_cast<size_t>(done);
    }
    bytes_ = at;
    return true;
  }
  void take_back(int64_t to) { bytes_ = to; }
  // Replaces the first bytes, which are already in the file.
  void rewrite_head(const void* data, size_t bytes) {
    sys::call(SYS_pwrite64, descriptor_, data, bytes, 0);
  }
  void cut() { sys::call(SYS_ftruncate, descriptor_, bytes_); }

 private:
  long descriptor_;
  int64_t bytes_ = 0;
};

// Calls use(buffer, head, extents) for the buffers of a cell until it returns false; returns
// whether it never did. The owner may be adding events: the extents are read once, and the 16 bytes
// at `head` have these.
template <typename Use>
bool for_each_buffer(const std::byte* cell, Use use) {
  uint64_t used = 0;
  while (used + 2 * xray::kMetadataRecordBytes <= state.options.cell_bytes &&
         static_cast<uint8_t>(cell[used]) == kExtentsKind) {
    std::byte head[xray::kMetadataRecordBytes];
    __builtin_memcpy(head, cell + used, 8);
    __builtin_memcpy(head + 8, cell + used + 8, 8);
    uint64_t extents;
    __builtin_memcpy(&extents, head + 1, sizeof(extents));
    if (extents > state.options.cell_bytes - used - sizeof(head)) break;
    if (!use(cell + used, head, extents)) return false;
    used += sizeof(head) + extents;
  }
  return true;
}

// Each buffer is written up to the extents read once. `parts` counts the written buffers.
bool write_cell(Output& out, const std::byte* cell, uint64_t& parts) {
  if (!state.has_extents) {
    if (static_cast<uint8_t>(*cell) != kNewBufferKind) return true;
    ++parts;
    return out.write(cell, state.options.cell_bytes);
  }
  return for_each_buffer(cell,
                         [&](const std::byte* buffer, const std::byte* head, uint64_t extents) {
                           constexpr size_t kHead = xray::kMetadataRecordBytes;
                           if (!out.write(head, kHead) || !out.write(buffer + kHead, extents))
                             return false;
                           ++parts;
                           return true;
                         });
}

bool write_cells(Output& out, uint64_t& parts) {
  const uint32_t cells = __atomic_load_n(&state.cells_used, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < cells; ++i) {
    const uint64_t opened =
        state.cell_opened == nullptr ? 0 : __atomic_load_n(&state.cell_opened[i], __ATOMIC_ACQUIRE);
    const int64_t before = out.bytes();
    const uint64_t parts_before = parts;
    if (!write_cell(out, cell_begin(i), parts)) return false;
    // Reused while it was written: its events count as overwritten.
    if (state.cell_opened != nullptr &&
        __atomic_load_n(&state.cell_opened[i], __ATOMIC_ACQUIRE) != opened) {
      out.take_back(before);
      parts = parts_before;
    }
  }
  return true;
}

void write_side(const char* trace) {
  Path path;
  path.add(trace).add(".side");
  sys::call(SYS_unlinkat, AT_FDCWD, path.c_str(), 0);
  Output out(path.c_str());
  if (!out.is_open()) return;
  size_t bytes = 0;
  const void* const records = side_records(bytes);
  SideHeader header;
  copy_bytes(&header, state.side, sizeof(header));
  header.flags = state.side->flags | kSideSnapshot;
  header.committed = sizeof(header) + bytes;
  out.write(&header, sizeof(header));
  out.write(records, bytes);
}

int64_t write_to(const char* path, bool& exists) {
  Output out(path);
  exists = out.exists();
  if (!out.is_open()) return -1;
  TraceHeader header;
  copy_bytes(&header, state.header, sizeof(header));
  if (state.has_extents)
    header.flags = state.header->flags & static_cast<uint8_t>(~xray::kRecorderCells);
  uint64_t parts = 0;
  const bool done = out.write(&header, sizeof(header)) && write_cells(out, parts);
  out.cut();
  header.bits = header_bits(parts);
  out.rewrite_head(&header, sizeof(header));
  write_side(path);
  return done ? out.bytes() : -1;
}

bool has_events() { return state.fork_mark->alive != 0 && state.header != &state.spare_header; }

int64_t write_now(const char* path) {
  calibrate();
  tell_all_left_out();
  bool exists = false;
  if (path != nullptr) return write_to(path, exists);
  Path next;
  for (uint32_t attempt = 0; attempt < kMostAttempts && make_path(attempt, next); ++attempt) {
    const int64_t bytes = write_to(next.c_str(), exists);
    if (exists) continue;
    if (bytes >= 0) trace_path = next;
    return bytes;
  }
  return -1;
}

}  // namespace

int64_t write_snapshot(const char* path) {
  if (__atomic_load_n(&last, __ATOMIC_ACQUIRE) != 0 ||
      __atomic_exchange_n(&under_way, 1, __ATOMIC_ACQUIRE) != 0) {
    return -1;
  }
  const int64_t bytes = state.recording && has_events() ? write_now(path) : -1;
  __atomic_store_n(&under_way, 0, __ATOMIC_RELEASE);
  return bytes;
}

bool write_named_snapshot(Path& path) {
  if (__atomic_exchange_n(&under_way, 1, __ATOMIC_ACQUIRE) != 0) return false;
  const Path before = trace_path;
  const bool done = has_events() && write_now(nullptr) >= 0;
  path = trace_path;
  // In the other modes the trace is the recording's own file.
  if (state.options.mode != Mode::snapshot) trace_path = before;
  __atomic_store_n(&under_way, 0, __ATOMIC_RELEASE);
  return done;
}

uint64_t recorded_bytes() {
  if (!has_events()) return 0;
  uint64_t bytes = xray::kFileHeaderBytes;
  const uint32_t cells = __atomic_load_n(&state.cells_used, __ATOMIC_ACQUIRE);
  if (!state.has_extents) return bytes + cells * state.options.cell_bytes;
  for (uint32_t i = 0; i < cells; ++i) {
    for_each_buffer(cell_begin(i), [&](const std::byte*, const std::byte*, uint64_t extents) {
      bytes += xray::kMetadataRecordBytes + extents;
      return true;
    });
  }
  return bytes;
}

void write_last_snapshot() {
  __atomic_store_n(&last, 1, __ATOMIC_RELEASE);
  sys::wait_until([] { return __atomic_load_n(&under_way, __ATOMIC_ACQUIRE) == 0; });
  if (state.recording && has_events()) write_now(nullptr);
}

}  // namespace telltale::recorder
