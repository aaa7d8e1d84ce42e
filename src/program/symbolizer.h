#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telltale {

struct SymbolizerOptions {
  // Roots of separate debug files besides /usr/lib/debug: each may hold .build-id/xx/yyyy.debug and
  // the files that .gnu_debuglink names.
  std::vector<std::string> debug_directories;
  // Separate debug files given by path; used for the program that has the same build-id.
  std::vector<std::string> debug_files;
};

// What is known of the code at an address. Empty and 0 mean unknown; text is as in the program,
// never trusted.
struct CodeName {
  std::string linkage_name;
  std::string file;  // of the declaration, else of the first line-table row with a line
  uint32_t line = 0;
  std::string directory;  // that the compiler ran in; of find_instruction only
};

// Names and lines of one program or shared object, from its symbol tables and DWARF, or those of
// its separate debug file: by build-id, by .gnu_debuglink (checksum compared), or from a debuginfod
// server when DEBUGINFOD_URLS is set. Opening reads nothing; everything is read when it is first
// asked for. Safe to call from several threads, which wait for one another.
class Symbolizer {
 public:
  explicit Symbolizer(std::string path, SymbolizerOptions options = {});
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  ~Symbolizer();

  // The function that begins at or spans `address`: a link-time address; in an object file an
  // offset into section `section`.
  CodeName find(uint64_t address, uint32_t section = 0);
  // The same, but file and line are those of the instruction at `address`, which may lie anywhere
  // in the function; empty and 0 where no line is known.
  CodeName find_instruction(uint64_t address);
  // Link-time address of the first function of that linkage name; none without one.
  std::optional<uint64_t> address_of(const std::string& linkage_name);
  // True for a program that is always loaded at its link-time addresses.
  bool is_fixed();
  // Path of the file that DWARF was read from: the program's own, or a separate one; empty when
  // there is none.
  std::string debug_file();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace telltale
