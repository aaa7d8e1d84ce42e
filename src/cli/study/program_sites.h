#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"

namespace telltale::cli {

// The site information of a program, and the name that it is stored under.
struct ProgramSites {
  std::string build;  // build-id; without one "sites-" and a hash of the text
  std::string text;   // sections of sites, as in .debug_site_info
};

// `program` is any file that SamplerSites::add accepts. Errors: io; those of SamplerSites::add;
// bad_field, if the program has no sites.
Result<ProgramSites> read_program_sites(const std::string& program, ProblemLog& problems);

// The build-id of a program in hexadecimal digits; empty, if it has none. Errors: io; those of
// ElfImage::read.
Result<std::string> build_id_of(const std::string& program);

// Those of the files that core files can be read with: programs, debug files, texts of path
// metadata. Others of a study have sites alone.
std::vector<std::string> programs_of_cores(const std::vector<std::string>& programs,
                                           const InputLimits& limits);

// The name of a program's build, if `telltale-cc --trace` built it: its build-id, without one
// "paths-" and a hash of its path metadata. Empty if it has no such metadata: of a stripped
// program, the separate debug file tells. Errors: io; those of ElfImage::read.
Result<std::string> traced_build_of(const std::string& program);

}  // namespace telltale::cli
