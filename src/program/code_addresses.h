#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <string>

#include "program/core_file.h"

namespace telltale {

// What is at the addresses of a process: code of a file, code that is in no file, or none. Refers
// to its arguments; the modules of `dwfl` are the programs and libraries of the process.
class CodeAddresses {
 public:
  CodeAddresses(const CoreFile& core, Dwfl* dwfl) : core_(core), dwfl_(dwfl) {}

  // The name of the file that the core file has at the address; empty: none.
  [[nodiscard]] std::string mapped_file(uint64_t address) const;
  // Whether there is certainly no code. Code without a known file may be anywhere in executable
  // memory: compilers at run time make it, and the kernel maps its own.
  [[nodiscard]] bool is_no_code(uint64_t address) const;
  // Whether code that is in no file may be at the address. The kernel's core files tell where they
  // have code, but files of TELLTALE_PATHS, minidumps and processes have only the memory that is
  // needed.
  [[nodiscard]] bool may_be_made_code(uint64_t address) const;
  // Whether a call of a program or library ends at the address. True if its code cannot be read.
  [[nodiscard]] bool follows_call(uint64_t address) const;
  // Whether the frame that the pointer leads to has a return address behind a call. Code that was
  // made at run time is described by no table: then libdwfl finds its caller by the frame pointer.
  [[nodiscard]] bool is_frame_pointer(std::optional<uint64_t> pointer,
                                      std::optional<uint64_t> stack_pointer) const;

 private:
  [[nodiscard]] bool is_code_of_module(uint64_t address) const;

  const CoreFile& core_;
  Dwfl* dwfl_;
};

}  // namespace telltale
