#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytes/leb_cursor.h"
#include "formats/mono/event_fields.h"

namespace telltale::mono {

// The reference values of a buffer's numbers. The running time and method change with every event.
struct BufferBases {
  uint64_t time = 0;    // ns
  uint64_t method = 0;  // the previous method
  uint64_t pointer = 0;
  uint64_t object = 0;                   // shifted
  uint64_t address_mask = ~uint64_t{0};  // 32 bits for 4-byte pointers
};

// Buffers for the lists of one event; reused for each event.
struct ListRoom {
  std::vector<uint64_t> words;
  std::vector<HeapReference> references;
  std::vector<HeapRoot> roots;
  std::vector<SampleFrame> frames;
  std::vector<CounterDescription> descriptions;
  std::vector<CounterValue> values;

  std::vector<uint64_t>& of(const uint64_t*) { return words; }
  std::vector<HeapReference>& of(const HeapReference*) { return references; }
  std::vector<HeapRoot>& of(const HeapRoot*) { return roots; }
  std::vector<SampleFrame>& of(const SampleFrame*) { return frames; }
  std::vector<CounterDescription>& of(const CounterDescription*) { return descriptions; }
  std::vector<CounterValue>& of(const CounterValue*) { return values; }
};

// Numbers that were a negative int in the writer have their upper 33 bits set.
constexpr uint64_t unsigned_int(uint64_t value) {
  return (value >> 31) == (~uint64_t{0} >> 31) ? value & 0xFFFF'FFFF : value;
}

// The reading codec (event_fields.h). Failures stick in the cursor.
class FieldReader {
 public:
  FieldReader(LebCursor& in, BufferBases& bases, const Layout& layout, uint8_t first_byte,
              ListRoom& room)
      : in_(in), bases_(bases), layout_(layout), first_byte_(first_byte), room_(room) {}

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] uint8_t info() const { return first_byte_ & 0xF0; }

  void running_time() { bases_.time += in_.uleb("time"); }
  void uleb(const char* name, uint64_t& value) { value = in_.uleb(name); }
  void own_time(const char* name, uint64_t& value) { value = in_.uleb(name); }
  [[gnu::always_inline]] void int_uleb(const char* name, uint64_t& value) {
    value = unsigned_int(in_.uleb(name));
  }
  void accumulated(const char* name, uint64_t& value, uint64_t last) {
    value = last + unsigned_int(in_.uleb(name));
  }
  void sleb(const char* name, int64_t& value) { value = in_.sleb(name); }
  void byte(const char* name, uint8_t& value) { value = in_.byte(name); }
  void small(const char* name, uint64_t& value, bool is_byte) {
    value = is_byte ? in_.byte(name) : in_.uleb(name);
  }
  [[gnu::always_inline]] void pointer(const char* name, uint64_t& value) {
    value = (bases_.pointer + static_cast<uint64_t>(in_.sleb(name))) & bases_.address_mask;
  }
  [[gnu::always_inline]] void object(const char* name, uint64_t& value) {
    value = ((bases_.object + static_cast<uint64_t>(in_.sleb(name))) << kObjectShift) &
            bases_.address_mask;
  }
  [[gnu::always_inline]] void method(const char* name, uint64_t& value) {
    bases_.method += static_cast<uint64_t>(in_.sleb(name));
    value = bases_.method & bases_.address_mask;
  }
  void text(const char* name, std::string_view& value) { value = in_.text(name); }
  void f64(const char* name, double& value) { value = in_.f64(name); }

  // Each item of a list takes at least a byte, which bounds the work for a length.
  uint64_t count(const char* name, size_t) {
    const uint64_t n = unsigned_int(in_.uleb(name));
    if (n > in_.left()) {
      in_.fail(LebCursor::Failure::truncated, name);
      return 0;
    }
    return n;
  }
  template <typename Item, typename Each>
  [[gnu::always_inline]] void items(const char*, std::span<const Item>& list, uint64_t n,
                                    Each each) {
    std::vector<Item>& room = room_.of(static_cast<const Item*>(nullptr));
    if (room.size() < n) room.resize(n);
    Item* const all = room.data();
    size_t done = 0;
    for (; done < n && in_.ok(); ++done) {
      all[done] = Item();
      each(all[done]);
    }
    list = std::span<const Item>(all, in_.ok() ? done : 0);
  }
  template <typename Each>
  void terminated(const char* name, std::span<const CounterValue>& list, Each each) {
    std::vector<CounterValue>& room = room_.values;
    room.clear();
    while (true) {
      CounterValue value;
      value.index = in_.uleb(name);
      if (value.index == 0) break;  // also after a failure
      each(value);
      room.push_back(value);
    }
    list = room;
  }
  void reject(const char* name) { in_.fail(LebCursor::Failure::rejected, name); }

 private:
  LebCursor& in_;
  BufferBases& bases_;
  const Layout& layout_;
  uint8_t first_byte_;
  ListRoom& room_;
};

}  // namespace telltale::mono
