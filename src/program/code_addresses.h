#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "program/core_file.h"

namespace telltale {

// What is at the addresses of a process: code of a file, code that is in no file, or none. Refers
// to its arguments; the modules of `dwfl` are the programs and libraries of the process, `mappings`
// its files.
class CodeAddresses {
 public:
  CodeAddresses(const CoreFile& core, std::span<const CoreMapping> mappings, Dwfl* dwfl)
      : core_(core), mappings_(mappings), dwfl_(dwfl) {}

  // The name of the file that the core file has at the address; empty: none.
  [[nodiscard]] std::string mapped_file(uint64_t address) const;
  // Whether there is certainly no code. Code without a known file may be anywhere in executable
  // memory: compilers at run time make it, and the kernel maps its own.
  [[nodiscard]] bool is_no_code(uint64_t address) const;
  // Whether code that is in no file may be at the address. The kernel's core files tell where they
  // have code, but files of TELLTALE_PATHS, minidumps and processes have only the memory that is
  // needed.
  [[nodiscard]] bool may_be_made_code(uint64_t address) const;
  // Whether the code only jumps on to a function of another object; many linkers describe it in no
  // unwind table.
  [[nodiscard]] bool is_linkage_table(uint64_t address) const;
  // Whether a call of a program or library ends at the address. True if its code cannot be read.
  [[nodiscard]] bool follows_call(uint64_t address) const;
  // Whether the frame that the pointer leads to has a return address behind a call. Code that was
  // made at run time is described by no table: then libdwfl finds its caller by the frame pointer.
  [[nodiscard]] bool is_frame_pointer(std::optional<uint64_t> pointer,
                                      std::optional<uint64_t> stack_pointer) const;

 private:
  // A file that has the address.
  struct Module {
    std::string path;   // empty: none
    uint64_t bias = 0;  // address less link-time address
  };
  [[nodiscard]] Module module_at(uint64_t address) const;
  [[nodiscard]] bool is_code_of_module(uint64_t address) const;

  const CoreFile& core_;
  std::span<const CoreMapping> mappings_;
  Dwfl* dwfl_;
};

}  // namespace telltale
