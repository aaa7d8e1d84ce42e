#pragma once

// Core files of Linux, piece by piece; threads are those of x86-64.

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace telltale::testing {

class CoreBuilder {
 public:
  static constexpr size_t kRegisters = 27;  // as the kernel stores them

  // A thread whose stored registers are first, first + 1, ...
  CoreBuilder& thread(int32_t tid, int16_t signal, uint64_t first) {
    std::string status(112 + 8 * kRegisters + 8, '\0');
    put(status, 12, signal);
    put(status, 32, tid);
    for (size_t i = 0; i < kRegisters; ++i) put(status, 112 + 8 * i, first + i);
    return note("CORE", NT_PRSTATUS, status);
  }
  CoreBuilder& process(int32_t pid, const std::string& arguments) {
    std::string info(136, '\0');
    put(info, 24, pid);
    info.replace(56, arguments.size(), arguments);
    return note("CORE", NT_PRPSINFO, info);
  }
  CoreBuilder& program_headers(uint64_t address) {
    std::string vector(32, '\0');
    put(vector, 0, uint64_t{AT_PHDR});
    put(vector, 8, address);
    return note("CORE", NT_AUXV, vector);
  }
  struct Mapping {
    uint64_t begin, end, page;
    std::string path;
  };
  CoreBuilder& mappings(const std::vector<Mapping>& all) {
    std::string bytes = number(uint64_t{all.size()}) + number(uint64_t{4096});
    for (const Mapping& each : all)
      bytes += number(each.begin) + number(each.end) + number(each.page);
    for (const Mapping& each : all) bytes += each.path + '\0';
    return note("CORE", NT_FILE, bytes);
  }
  CoreBuilder& note(const std::string& name, uint32_t type, std::string bytes) {
    notes_ += number(static_cast<uint32_t>(name.size() + 1)) +
              number(static_cast<uint32_t>(bytes.size())) + number(type);
    notes_ += pad(name + '\0') + pad(std::move(bytes));
    return *this;
  }
  CoreBuilder& machine(uint16_t machine) {  // EM_*
    machine_ = machine;
    return *this;
  }
  CoreBuilder& memory(uint64_t address, std::string bytes) {
    memory_.emplace_back(address, std::move(bytes));
    return *this;
  }

  // Header, program headers, notes, memory in order.
  [[nodiscard]] std::string build() const {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = machine_;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<uint16_t>(1 + memory_.size());
    std::string headers;
    uint64_t offset = sizeof header + header.e_phnum * sizeof(Elf64_Phdr);
    std::string contents;
    const auto add = [&](uint32_t type, uint64_t address, const std::string& bytes) {
      Elf64_Phdr segment = {};
      segment.p_type = type;
      segment.p_offset = offset + contents.size();
      segment.p_vaddr = address;
      segment.p_filesz = segment.p_memsz = bytes.size();
      headers += number(segment);
      contents += bytes;
    };
    add(PT_NOTE, 0, notes_);
    for (const auto& [address, bytes] : memory_) add(PT_LOAD, address, bytes);
    return number(header) + headers + contents;
  }

 private:
  template <typename T>
  static std::string number(const T& value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }
  template <typename T>
  static void put(std::string& bytes, size_t at, const T& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  static std::string pad(std::string bytes) {
    bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
    return bytes;
  }

  uint16_t machine_ = EM_X86_64;
  std::string notes_;
  std::vector<std::pair<uint64_t, std::string>> memory_;
};

}  // namespace telltale::testing
