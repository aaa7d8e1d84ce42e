#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "base/shared_text.h"
#include "bytes/cursor.h"
#include "formats/csi/wire.h"

namespace telltale::csi {

// The section .debug_telltale_paths (docs/formats/csi.md). Texts are as in the program, never
// trusted.

struct PathPosition {
  uint64_t key = 0;      // of the function
  uint64_t address = 0;  // link-time
  uint32_t block = 0;    // id in .debug_PT
  Phase phase = Phase::kSettled;
  bool after_instruction = false;  // of the same block
};

// A place in the source of a function, or of one that is inlined into it.
struct PathScope {
  uint32_t number = 0;
  SharedText file;
  SharedText function;
  uint32_t line = 0;  // of the function's declaration; 0: unknown, or in another file
};

struct PathFunctionRecord {
  uint64_t key = 0;
  uint64_t offset = 0;  // of the function's `#` in .debug_PT
  bool calls_setjmp = false;
  bool sets_late = false;         // its variables have values only where they are needed
  bool numbers_prefixes = false;  // its numbers are those of PrefixNumbers; the ring has the sum
  uint32_t ring_size = 0;         // slots; 0: it has no ring
  // Source and target of back edges that only count repetitions; ids in .debug_PT.
  std::vector<std::pair<uint32_t, uint32_t>> repeats;
  std::vector<PathScope> scopes;
  struct BlockLine {
    uint32_t block = 0;  // id in .debug_PT
    uint32_t scope = 0;  // number of a scope
    uint32_t line = 0;
    uint32_t calls = 0;  // how many of the block's calls come before; in flow records
  };
  std::vector<BlockLine> lines;  // in the order of the text
};

// Where a function keeps its variables, as operands of the assembler ("-80(%rbp)"), which hold
// where the registers have the values that they have at the address. Empty texts: without a ring.
struct PathFrameRecord {
  uint64_t key = 0;
  uint64_t address = 0;  // link-time
  std::string array;
  std::string index;
  std::string sum;
};

// A register and a distance from it.
struct FrameOperand {
  unsigned base = 0;  // number of the register in DWARF
  int64_t offset = 0;
};
// Reads an operand of the x86-64 assembler (AT&T syntax); none for one that is not a base register
// with a constant.
std::optional<FrameOperand> parse_frame_operand(std::string_view text);

// A function that was not instrumented.
struct SkippedFunction {
  std::string symbol;
  std::string reason;
};

// What the flags of one mechanism of coverage stand for in a function.
struct CoverageRecord {
  static constexpr uint32_t kNoProbe = 0xFFFFFFFF;
  struct Block {
    uint32_t probe = kNoProbe;         // number of its flag
    bool returns = false;              // the activation ends in it
    bool may_resume = false;           // its last call may go on at the second successor
    std::vector<uint32_t> successors;  // indices of blocks
  };
  struct Call {
    uint32_t block = 0;  // index
    uint32_t probe = kNoProbe;
    uint32_t line = 0;   // 0: unknown
    std::string callee;  // "?": unknown
  };
  uint64_t key = 0;
  std::string mechanism;  // FC, CC or BBC
  std::string symbol;
  std::string file;
  uint32_t line = 0;    // of the declaration; 0: unknown
  uint32_t probes = 0;  // flags in the array
  std::vector<Block> blocks;
  std::vector<Call> calls;
  std::vector<PathScope> scopes;
  std::vector<PathFunctionRecord::BlockLine> lines;  // by index of the block
};

// The place of the flags of a record in the program.
struct CoverageArray {
  uint64_t key = 0;
  uint64_t address = 0;  // link-time
};

// The blocks and calls of a function before it was instrumented.
struct FlowRecord {
  struct Block {
    std::vector<uint32_t> successors;
    bool returns = false;              // the activation ends in it
    bool may_resume = false;           // its last call may go on at one of several successors
    std::vector<uint64_t> nodes = {};  // ids in .debug_PT; none: it is not known which
  };
  struct Call {
    uint32_t block = 0;     // index
    uint32_t line = 0;      // 0: unknown
    std::string callee;     // "?": called through a pointer
    bool may_jump = false;  // the caller's frame may be gone before it returns
    // Another copy of the caller's function of the source runs instead: then the caller returns.
    bool runs_other_copy = false;
  };
  uint64_t key = 0;
  uint64_t paths_key = 0;  // of its function record; 0: it has no path tracing
  std::string unit;        // source file of the translation unit, as the compiler was given it
  std::string symbol;
  std::string source;  // symbol of the function of the source that it is a copy of; empty: of none
  std::string file;
  uint32_t line = 0;                // of the declaration; 0: unknown
  bool is_generated = false;        // the source has no such function
  bool is_local = false;            // called by name in its translation unit only
  bool is_optimised_later = false;  // calls may have been moved or removed since
  bool calls_setjmp = false;
  bool is_unoptimised = false;  // each instruction is in the block that has its line
  std::vector<Block> blocks;
  struct Take {
    uint32_t block = 0;
    std::string symbol;
  };
  std::vector<Call> calls;  // by block, in the order in which a block makes them
  std::vector<Take> takes;  // functions of which a block takes the address
  std::vector<PathScope> scopes;
  std::vector<PathFunctionRecord::BlockLine> lines;  // by index of the block
  // Lines that may have run after the block, although no later block has them.
  std::vector<PathFunctionRecord::BlockLine> lost_lines;
  // A function that may have run when a block did, although the optimiser left nothing of it there.
  struct Gone {
    uint32_t block = 0;  // index
    SharedText file;
    SharedText symbol;
    bool with_callees = false;  // what it calls (UnitRecord::callees) may have run, too
  };
  std::vector<Gone> gone;
};

// What a translation unit does before `main`.
struct UnitRecord {
  std::string unit;
  std::vector<std::string> taken;              // symbols of functions that it has the address of
  std::vector<std::string> constructors = {};  // symbols of functions that are called
  // Lines of a function's code before it was optimised.
  struct Lines {
    SharedText file;
    SharedText symbol;
    uint32_t line = 0;  // of its declaration; 0: unknown
    std::vector<uint32_t> lines = {};
  };
  // Functions that are gone somewhere (FlowRecord::gone), with callees or not, and of which the
  // unit has no code left.
  std::vector<Lines> removed = {};
  // Lines that may have run in a call through a pointer, of which the optimiser left nothing.
  std::vector<Lines> vanished = {};
  struct Name {
    SharedText file;
    SharedText symbol;
  };
  // The functions of the unit that `caller` calls.
  struct Callees {
    Name caller;
    std::vector<Name> callees;
  };
  // Of the functions that are gone with callees somewhere (FlowRecord::gone), and of those that
  // they call, directly or through others.
  std::vector<Callees> callees = {};
};

// The data flow of a function, as bytes: docs/formats/csi.md, "Data".
struct DataRecord {
  uint64_t key = 0;  // of its flow record
  Bytes bytes;
  uint64_t offset = 0;  // of bytes[0] in the file
};

struct PathRecords {
  std::vector<PathFunctionRecord> functions;
  std::vector<PathPosition> positions;  // without those of functions that the linker dropped
  std::vector<PathFrameRecord> frames;  // likewise
  std::vector<SkippedFunction> skipped;
  std::vector<CoverageRecord> coverage;  // flags and blocks that it names exist
  std::vector<CoverageArray> arrays;     // without those of functions that the linker dropped
  std::vector<FlowRecord> flows;         // blocks that they name exist
  std::vector<UnitRecord> units;
  std::vector<DataRecord> data;  // views of what is read

  // Adds damage to `problems`: a truncated record ends reading, other damaged records are skipped,
  // as are unknown kinds. Names that are missing stay empty. `file_offset`: of bytes[0].
  static PathRecords read(Bytes bytes, std::endian order, const std::string& file,
                          uint64_t file_offset, ProblemLog& problems);
};

}  // namespace telltale::csi
