#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/core_file.h"
#include "program/elf_segments.h"

namespace telltale {

// Where a process had loaded a program or shared object: addresses less link-time addresses, in
// order of address. `mappings`: those of its file. A process may also have mapped the file to read
// it, as symbolizers and loaders of plugins do; such a mapping is not where the code runs. Several
// biases: the object was loaded several times, as dlmopen() does. Never empty, unless `mappings`
// is.
std::vector<uint64_t> load_biases(const ElfSegments& object, std::span<const CoreMapping> mappings,
                                  const CoreFile& core);

// Whether the mappings have the beginning and the end of each segment where a loader puts them with
// this bias: another build seldom has segments of the same sizes.
bool are_segments_mapped(const ElfSegments& object, uint64_t bias,
                         std::span<const CoreMapping> mappings);

}  // namespace telltale
