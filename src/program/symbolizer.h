#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telltale {

struct SymbolizerOptions {
  // Roots of separate debug files besides /usr/lib/debug: each may contain .build-id/xx/yyyy.debug
  // and files named by .gnu_debuglink.
  std::vector<std::string> debug_directories;
  // Paths of separate debug files; used for the program with the same build-id.
  std::vector<std::string> debug_files;
  // Whether find() tells files and lines. Without them, debug information is read only of functions
  // that have no symbol: of a large C++ program, it takes longer than the answer.
  bool places = true;
};

// Facts about the code at an address. Empty and 0 mean unknown; text is as in the program, never
// trusted.
struct CodeName {
  std::string linkage_name;
  std::string file;  // of the declaration, otherwise of the first line-table row with a line
  uint32_t line = 0;
  std::string directory;  // the compiler's working directory; only from find_instruction
};

// Names and lines of one program or shared object, from its symbol tables and DWARF, or those of
// its separate debug file: by build-id, by .gnu_debuglink (with its checksum), or from a debuginfod
// server if DEBUGINFOD_URLS is set. Opening reads nothing; everything is read at the first query.
// Thread-safe; threads wait for one another.
class Symbolizer {
 public:
  explicit Symbolizer(std::string path, SymbolizerOptions options = {});
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  ~Symbolizer();

  // The function that begins at or contains `address`: a link-time address; in an object file an
  // offset into section `section`.
  CodeName find(uint64_t address, uint32_t section = 0);
  // The same, but file and line are those of the instruction at `address`, anywhere in the
  // function; empty and 0 if no line is known.
  CodeName find_instruction(uint64_t address);
  // The functions that were inlined at `address`, the innermost first, and the one that contains
  // them: each with the place of the call of the one before it. Without debug information, what
  // find_instruction() knows; never empty.
  std::vector<CodeName> find_frames(uint64_t address);
  // Link-time address of the first function with that linkage name; empty if there is none.
  std::optional<uint64_t> address_of(const std::string& linkage_name);
  // True for a program that is not position-independent.
  bool is_fixed();
  // Path of the file that DWARF was read from: the program's own, or a separate one; empty if there
  // is none.
  std::string debug_file();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace telltale
