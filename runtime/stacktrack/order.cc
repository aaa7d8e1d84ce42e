// Sorts a classic file in order of capture, as the specification requires: while the program ran,
// each thread filled a part.

#include <cstring>

#include "configure.h"

namespace telltale::st {
namespace {

using stacktrack::classic::kEntryBytes;

// A record and the text that follows it.
struct Slot {
  uint32_t sequence;
  uint32_t place;  // slot number; events have the highest bit set, because their context
                   // is sorted first
};
constexpr uint32_t kEvent = 0x8000'0000;
constexpr uint64_t kMostSlots = 0x7fff'ffff;

bool comes_before(const Slot& a, const Slot& b) {
  return a.sequence != b.sequence ? a.sequence < b.sequence : a.place < b.place;
}

void sift_down(Slot* slots, size_t root, size_t count) {
  for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && comes_before(slots[child], slots[child + 1])) ++child;
    if (!comes_before(slots[root], slots[child])) return;
    const Slot moved = slots[root];
    slots[root] = slots[child];
    slots[child] = moved;
    root = child;
  }
}

// Heapsort: in place, and never worse than n log n.
void sort(Slot* slots, size_t count) {
  for (size_t root = count / 2; root-- > 0;) sift_down(slots, root, count);
  for (size_t left = count; left-- > 1;) {
    const Slot last = slots[left];
    slots[left] = slots[0];
    slots[0] = last;
    sift_down(slots, 0, left);
  }
}

stacktrack::classic::Head head_of(const uint8_t* records, uint64_t place) {
  stacktrack::classic::Head head;
  std::memcpy(&head, records + place * kEntryBytes, sizeof(head));
  return head;
}

bool is_info(const stacktrack::classic::Head& head) {
  return (head.flags & stacktrack::kTypeMask) == type_flags(RecordType::info);
}

// The records except texts and empty slots.
uint64_t list_records(const uint8_t* records, uint64_t count, Slot* slots) {
  uint64_t found = 0;
  for (uint64_t place = 0; place < count; ++place) {
    const stacktrack::classic::Head head = head_of(records, place);
    if ((head.flags == 0 && head.pid == 0 && head.sequence == 0) || is_info(head)) continue;
    const bool event = (head.flags & stacktrack::kTypeMask) == type_flags(RecordType::hit);
    slots[found++] = {head.sequence, static_cast<uint32_t>(place) | (event ? kEvent : 0)};
  }
  return found;
}

class Output {
 public:
  explicit Output(int file) : file_(file) {}
  void add(const uint8_t* record) {
    if (error_ != 0) return;
    std::memcpy(buffer_ + used_, record, kEntryBytes);
    used_ += kEntryBytes;
    if (used_ == sizeof(buffer_)) finish();
  }
  int finish() {
    if (error_ == 0) error_ = write_all(file_, buffer_, used_);
    used_ = 0;
    return error_;
  }

 private:
  const int file_;
  int error_ = 0;
  size_t used_ = 0;
  uint8_t buffer_[kEntryBytes * 160];
};

int write_sorted(const uint8_t* records, uint64_t count, const Slot* slots, uint64_t found,
                 int file) {
  Output output(file);
  for (uint64_t i = 0; i < found; ++i) {
    uint64_t place = slots[i].place & ~kEvent;
    bool more = (head_of(records, place).flags & stacktrack::kHasInfo) != 0;
    output.add(records + place * kEntryBytes);
    while (more && ++place < count) {
      const stacktrack::classic::Head head = head_of(records, place);
      if (!is_info(head)) break;
      output.add(records + place * kEntryBytes);
      more = (head.flags & stacktrack::kInfoEnd) == 0;
    }
  }
  return output.finish();
}

int sort_into(const uint8_t* records, uint64_t bytes, const char* path) {
  const uint64_t count = bytes / kEntryBytes;
  if (count > kMostSlots) return -EFBIG;
  Slot* const slots = static_cast<Slot*>(map_memory(count * sizeof(Slot)));
  if (slots == nullptr) return -ENOMEM;
  const uint64_t found = list_records(records, count, slots);
  sort(slots, found);
  const int file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  int error = file < 0 ? file : 0;
  // Allocates first, so that a full disk or a limit is detected before half a file is written.
  if (error == 0) error = allocate_file(file, 0, found * kEntryBytes);
  if (error == 0) error = write_sorted(records, count, slots, found, file);
  if (file >= 0) close_file(file);
  if (file >= 0 && error != 0) remove_file(path);
  unmap(slots, count * sizeof(Slot));
  return error;
}

}  // namespace

int put_in_order(const char* path) {
  static char sorted[kPathBytes + 8];  // only one thread at a time configures
  const size_t length = std::strlen(path);
  std::memcpy(sorted, path, length);
  std::memcpy(sorted + length, ".sort", 6);
  const int file = open_file(path, O_RDWR | O_NOFOLLOW);
  if (file < 0) return file;
  uint64_t bytes = 0;
  int error = size_of_file(file, &bytes);
  uint8_t* const records = error == 0 ? static_cast<uint8_t*>(map_file(file, 0, bytes)) : nullptr;
  close_file(file);
  if (records == nullptr) return error != 0 ? error : -ENOMEM;
  error = sort_into(records, bytes, sorted);
  unmap(records, bytes);
  return error != 0 ? error : rename_file(sorted, path);
}

}  // namespace telltale::st
