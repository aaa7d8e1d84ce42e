#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "import/sampler/sampler_sites.h"

namespace telltale {

// Whether `file` is written to be included by others, by its suffix (.h, .hpp, .inc and the like).
bool is_header(std::string_view file);

// By unit of a build: the source file that the compiler was given, as far as its sites tell. That
// is the file that is no header and has sites in no other unit; of several, the first by name.
// Units without such a file are left out. Views are of `sites`. REQUIRES: numbers below
// sites.sections().size().
std::map<std::string_view, std::string_view> unit_sources(
    const SamplerSites& sites, const std::vector<uint32_t>& build_sections);

}  // namespace telltale
