#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "program/core_file.h"

namespace telltale {

// A program or shared object that the process had mapped, and the file that is read for it.
struct CoreProgram {
  std::string recorded_path;  // never trusted
  std::string path;           // of the file
  uint64_t bias = 0;          // address less link-time address
};

struct CorePrograms {
  std::vector<CoreProgram> programs;     // in order of address
  std::vector<std::string> debug_files;  // of the given files, those that are separate debug files
  // Those of the core file, or those that the dynamic loader's list names.
  std::vector<CoreMapping> mappings;
};

// Files of programs, shared objects and separate debug files.
struct GivenPrograms {
  std::vector<std::string> paths;
  bool may_be_unused = false;  // some are of other core files
  bool core_is_cut = false;    // before, or inside, what names its programs
};

// Finds the files of what the process had mapped: a given file with the build-id of the mapped one,
// otherwise the file at its path, if it has that build-id. A library of which only the name is
// recorded is looked for, see find_library().
//
// Without a build-id in the core file, the file's name and the addresses of its segments decide.
// The file at the recorded path is not used if it is newer than the core file. Since nothing proves
// that such a file is the right one, it is added to `problems` as a loss.
//
// A file that is not found is added to `problems` as an oddity. Errors: bad_field for a given file
// that was not mapped, unless given files may be unused; those of reading a given file.
Result<CorePrograms> find_core_programs(const CoreFile& core, const std::string& core_name,
                                        const GivenPrograms& given, ProblemLog& problems);

}  // namespace telltale
