#pragma once

#include <string>

#include "base/error.h"
#include "base/problem.h"

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

}  // namespace telltale::cli
