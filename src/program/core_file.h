#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "program/elf_notes.h"
#include "program/elf_segments.h"

namespace telltale {

// A thread of the process that dumped core. Registers are numbered as DWARF numbers those of the
// machine; none for machines whose layout is unknown.
struct CoreThread {
  int64_t tid = 0;
  std::vector<uint64_t> registers;
  uint64_t pc = 0;
};

// A part of a file that was mapped.
struct CoreMapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;  // bytes
  std::string path;          // never trusted
  // As hex digits, if the source of the mapping names it apart from memory; a minidump may have
  // only the first 16 bytes.
  std::string build_id;
};

// What a core file contains, as other sources have it: a minidump, or a process that was stopped
// for a moment.
struct CoreParts {
  uint16_t machine = 0;  // EM_*
  int64_t pid = 0;       // 0: unknown
  int signal = 0;        // 0: none
  std::string command;
  std::vector<CoreThread> threads;  // the one that received the signal first
  std::vector<CoreMapping> mappings;
  uint64_t program_headers_address = 0;  // 0: unknown
  uint64_t vdso_address = 0;             // 0: unknown
  // PT_LOAD segments; `offset` is in the bytes that go with the parts.
  std::vector<ElfSegment> memory;
};

// A core file of Linux: what the kernel, gcore and coredumpctl write. Holds views: the bytes must
// outlive it. Safe on untrusted input; a file that is cut yields what is left.
class CoreFile {
 public:
  // A core file of a little-endian 64-bit machine. Segments beyond the end of `bytes` are cut.
  static CoreFile from_parts(CoreParts parts, Bytes bytes, const std::string& name);
  // Damage goes to `problems`. Errors: those of read_elf_segments; bad_field for an ELF file that
  // is no core file; unsupported_version for one of a 32-bit program.
  static Result<CoreFile> read(Bytes bytes, const std::string& name, ProblemLog& problems);
  CoreFile(CoreFile&&) = default;
  CoreFile& operator=(CoreFile&&) = default;

  [[nodiscard]] uint16_t machine() const { return elf_.machine; }  // EM_*
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return elf_.segments; }
  [[nodiscard]] uint64_t headers_offset() const { return elf_.headers_offset; }
  [[nodiscard]] const std::vector<ElfNote>& notes() const { return notes_; }
  // The one that received the signal is the first.
  [[nodiscard]] const std::vector<CoreThread>& threads() const { return threads_; }
  [[nodiscard]] const std::vector<CoreMapping>& mappings() const { return mappings_; }
  [[nodiscard]] int64_t pid() const { return pid_; }    // 0: unknown
  [[nodiscard]] int signal() const { return signal_; }  // that ended the process; 0: none
  [[nodiscard]] const std::string& command() const { return command_; }  // with arguments
  // Address of the main program's program headers; 0: unknown.
  [[nodiscard]] uint64_t program_headers_address() const { return program_headers_address_; }
  // Of the library that the kernel gives each process (vDSO); 0: unknown.
  [[nodiscard]] uint64_t vdso_address() const { return vdso_address_; }
  // The bits of a return address that pointer authentication may use for its signature (AArch64); 0
  // on other machines. All that no address of a process with 48-bit addresses has, if the file does
  // not tell.
  [[nodiscard]] uint64_t signature_bits() const;
  // Whether the file ends before notes that its headers announce, or before those headers.
  [[nodiscard]] bool lacks_notes() const { return lacks_notes_; }
  // False if threads may be missing: the file lacks notes, or its writer left threads out.
  [[nodiscard]] bool has_all_threads() const { return !lacks_notes_ && left_out_threads_ == 0; }

  // The bytes of memory at `address`, at most `size`; fewer, or none, where the file has no more.
  [[nodiscard]] Bytes memory(uint64_t address, uint64_t size) const;
  // A number of 1 to 8 bytes; empty if the file does not have all of them.
  [[nodiscard]] std::optional<uint64_t> read_number(uint64_t address, size_t size) const;
  [[nodiscard]] std::endian order() const { return elf_.order; }

 private:
  CoreFile() = default;
  void index_memory();
  void read_notes(const ElfSegment& segment, ProblemLog& problems);
  void read_note(const ElfNote& note, ProblemLog& problems);
  void read_left_out(const ElfNote& note, ProblemLog& problems);
  void read_thread(Cursor in);
  void read_process(Cursor in);
  void read_auxiliary_vector(Cursor in);
  void read_mappings(Cursor in);
  void read_signature_bits(Cursor in);

  Bytes bytes_;
  std::string name_;
  ElfSegments elf_;
  std::vector<ElfSegment> memory_;  // loadable ones with bytes in the file, by address
  std::vector<ElfNote> notes_;
  std::vector<CoreThread> threads_;
  std::vector<CoreMapping> mappings_;
  std::string command_;
  int64_t pid_ = 0;
  int signal_ = 0;
  uint64_t program_headers_address_ = 0;
  uint64_t program_name_address_ = 0;  // 0: unknown
  uint64_t vdso_address_ = 0;
  uint64_t signature_bits_ = 0;  // 0: unknown
  uint64_t left_out_threads_ = 0;
  bool lacks_notes_ = false;
};

// "NT_PRSTATUS", or the number.
std::string core_note_name(const ElfNote& note);

}  // namespace telltale
