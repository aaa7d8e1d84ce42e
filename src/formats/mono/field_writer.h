#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/leb_cursor.h"
#include "formats/mono/event_fields.h"
#include "formats/mono/field_reader.h"

namespace telltale::mono {

// LEB128 in its shortest form.
void append_uleb(std::string& out, uint64_t value);
void append_sleb(std::string& out, int64_t value);

// The writing codec (event_fields.h). Numbers have several encodings: one in `pattern`, the event's
// original bytes, is copied if it has the value to be written, so that an unchanged event gives its
// own bytes. An empty pattern: the shortest encoding of everything.
class FieldWriter {
 public:
  FieldWriter(std::string& out, BufferBases& bases, const Layout& layout, uint8_t first_byte,
              Bytes pattern)
      : out_(out), bases_(bases), layout_(layout), first_byte_(first_byte), pattern_(pattern) {
    if (pattern_.left() != 0) pattern_.byte("type");
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] uint8_t info() const { return first_byte_ & 0xF0; }

  void running_time(uint64_t time) {
    write_uleb(time - bases_.time, /*is_int=*/false);
    bases_.time = time;
  }
  void uleb(const char*, uint64_t& value) { write_uleb(value, false); }
  void own_time(const char*, uint64_t& value) { write_uleb(value, false); }
  void int_uleb(const char*, uint64_t& value) { write_uleb(value, true); }
  void accumulated(const char*, uint64_t& value, uint64_t last) { write_uleb(value - last, true); }
  void sleb(const char*, int64_t& value) {
    const size_t begin = pattern_.position();
    if (pattern_.sleb("") == value && copy(begin)) return;
    append_sleb(out_, value);
  }
  void byte(const char*, uint8_t& value) {
    pattern_.byte("");
    out_.push_back(static_cast<char>(value));
  }
  void small(const char*, uint64_t& value, bool is_byte) {
    if (!is_byte) return write_uleb(value, false);
    pattern_.byte("");
    out_.push_back(static_cast<char>(value));
  }
  void pointer(const char*, uint64_t& value) { write_address(bases_.pointer, value); }
  void method(const char*, uint64_t& value) {
    bases_.method += write_address(bases_.method, value);
  }
  void object(const char*, uint64_t& value) {
    const size_t begin = pattern_.position();
    const uint64_t old = static_cast<uint64_t>(pattern_.sleb(""));
    if ((((bases_.object + old) << kObjectShift) & bases_.address_mask) == value && copy(begin))
      return;
    append_sleb(out_, signed_step(value - (bases_.object << kObjectShift)) >> kObjectShift);
  }
  void text(const char*, std::string_view& value) {
    pattern_.text("");
    out_.append(value.substr(0, value.find('\0')));
    out_.push_back('\0');
  }
  void f64(const char*, double& value) {
    pattern_.f64("");
    uint64_t bits = std::bit_cast<uint64_t>(value);
    for (unsigned i = 0; i < sizeof bits; ++i, bits >>= 8)
      out_.push_back(static_cast<char>(bits & 0xFF));
  }
  uint64_t count(const char*, size_t size) {
    write_uleb(size, true);
    return size;
  }
  template <typename Item, typename Each>
  void items(const char*, std::span<const Item>& list, uint64_t, Each each) {
    for (Item item : list) each(item);
  }
  template <typename Each>
  void terminated(const char*, std::span<const CounterValue>& list, Each each) {
    for (CounterValue value : list) {
      write_uleb(value.index, false);
      each(value);
    }
    write_uleb(0, false);
  }
  void reject(const char*) {}

 private:
  // The encoding of the last number from the pattern; false if there was none.
  bool copy(size_t begin) {
    const size_t bytes = pattern_.position() - begin;
    if (!pattern_.ok() || bytes == 0) return false;
    out_.append(reinterpret_cast<const char*>(pattern_.data()) - bytes, bytes);
    return true;
  }
  void write_uleb(uint64_t value, bool is_int) {
    const size_t begin = pattern_.position();
    const uint64_t old = pattern_.uleb("");
    const bool same = old == value || (is_int && unsigned_int(old) == value);
    if (same && copy(begin)) return;
    append_uleb(out_, value);
  }
  // Returns the step that was written.
  uint64_t write_address(uint64_t base, uint64_t value) {
    const size_t begin = pattern_.position();
    const uint64_t old = static_cast<uint64_t>(pattern_.sleb(""));
    if (((base + old) & bases_.address_mask) == value && copy(begin)) return old;
    const int64_t step = signed_step(value - base);
    append_sleb(out_, step);
    return static_cast<uint64_t>(step);
  }
  // The shorter direction in a space of 32-bit addresses.
  [[nodiscard]] int64_t signed_step(uint64_t difference) const {
    if (bases_.address_mask == 0xFFFF'FFFF) return static_cast<int32_t>(difference);
    return static_cast<int64_t>(difference);
  }

  std::string& out_;
  BufferBases& bases_;
  const Layout& layout_;
  uint8_t first_byte_;
  LebCursor pattern_;
};

// Appends an event. `pattern`: its original bytes, if their file has the same layout.
template <typename Record>
void write_event(const EventHead& head, Record record, const Layout& layout, BufferBases& bases,
                 Bytes pattern, std::string& out) {
  out.push_back(static_cast<char>(head.first_byte));
  FieldWriter writer(out, bases, layout, head.first_byte, pattern);
  if (layout.events.has_time[head.first_byte]) writer.running_time(head.time);
  fields(writer, record);
}

}  // namespace telltale::mono
