#pragma once

// Minidumps of x86-64 Linux, piece by piece.

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace telltale::testing {

class MinidumpBuilder {
 public:
  struct Thread {
    uint32_t tid;
    uint64_t first_register;  // rax; the others of CONTEXT's order are first + 1, ...
    uint64_t stack;           // address
    std::string memory;
  };

  MinidumpBuilder& system(uint16_t processor) { return stream(7, number(processor) + zeros(54)); }
  MinidumpBuilder& process(uint32_t pid) {
    return stream(15, number(uint32_t{24}) + number(uint32_t{1}) + number(pid) + zeros(12));
  }
  MinidumpBuilder& command(const std::string& words) { return stream(0x47670006, words); }
  MinidumpBuilder& program_headers(uint64_t address) {
    return stream(0x47670008, number(uint64_t{3}) + number(address) + zeros(16));
  }
  MinidumpBuilder& threads(const std::vector<Thread>& all, bool padded = false) {
    std::string list = number(static_cast<uint32_t>(all.size())) + zeros(padded ? 4 : 0);
    for (const Thread& each : all) {
      list += number(each.tid) + zeros(20) + number(each.stack) + place(each.memory) +
              place(context(each.first_register));
    }
    return stream(3, list);
  }
  // The context of the crash.
  MinidumpBuilder& exception(uint32_t tid, uint32_t signal, uint64_t first_register) {
    return stream(
        6, number(tid) + zeros(4) + number(signal) + zeros(148) + place(context(first_register)));
  }
  // `code_view`: "LEpB" and a build-id, or "RSDS" and a GUID.
  MinidumpBuilder& module(uint64_t base, uint32_t size, const std::u16string& name,
                          const std::string& code_view) {
    std::string text = number(static_cast<uint32_t>(2 * name.size()));
    for (const char16_t unit : name) text += number(static_cast<uint16_t>(unit));
    return stream(4, number(uint32_t{1}) + number(base) + number(size) + zeros(8) +
                         number(static_cast<uint32_t>(offset(text))) + zeros(52) +
                         place(code_view) + zeros(24));
  }
  MinidumpBuilder& memory(uint64_t address, const std::string& bytes) {
    return stream(5, number(uint32_t{1}) + number(address) + place(bytes));
  }
  MinidumpBuilder& stream(uint32_t type, const std::string& bytes) {
    directory_ += number(type) + place(bytes);
    ++streams_;
    return *this;
  }

  // Header, the pieces in order, the directory.
  [[nodiscard]] std::string build() const {
    return std::string("MDMP") + number(uint32_t{0xa793}) + number(streams_) +
           number(static_cast<uint32_t>(kHeader + contents_.size())) + zeros(16) + contents_ +
           directory_;
  }

 private:
  static constexpr size_t kHeader = 32;

  static std::string context(uint64_t first) {
    std::string bytes(1232, '\0');
    const uint32_t flags = 0x10000b;
    std::memcpy(bytes.data() + 0x30, &flags, sizeof flags);
    for (size_t at = 0x78; at <= 0xf8; at += 8, ++first)
      std::memcpy(bytes.data() + at, &first, sizeof first);
    return bytes;
  }
  template <typename T>
  static std::string number(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static std::string zeros(size_t count) { return std::string(count, '\0'); }
  // Appends the bytes; where they are.
  uint64_t offset(const std::string& bytes) {
    const uint64_t at = kHeader + contents_.size();
    contents_ += bytes;
    return at;
  }
  std::string place(const std::string& bytes) {
    return number(static_cast<uint32_t>(bytes.size())) +
           number(static_cast<uint32_t>(offset(bytes)));
  }

  std::string contents_;
  std::string directory_;
  uint32_t streams_ = 0;
};

}  // namespace telltale::testing
