#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "import/sampler/sampler_sites.h"
#include "output/table/field.h"
#include "output/table/object_writer.h"
#include "output/table/row_sink.h"

namespace telltale {

// Sampler's sites of programs, for `sites`.

inline constexpr size_t kAllUnitDigits = 32;
inline constexpr size_t kShownUnitDigits = 8;  // text output: enough to distinguish units

[[nodiscard]] std::map<std::string, uint64_t> count_by_scheme(const SamplerSites& sites);
// "12 sites in 2 units (branches 8, returns 4)"; empty if there are none.
[[nodiscard]] std::string describe_sites(const SamplerSites& sites);
// The columns of tables of programs' sites, for people and CSV. JSON has more (schemas::kSites).
std::span<const Field> site_columns();
// Adds a row for each site. `program`: its name; `unit_digits`: digits of a unit's signature to
// print.
void add_site_rows(const SamplerSites& sites, const std::string& program, size_t unit_digits,
                   RowSink& rows);
// The elements of `sites` in schemas::kSites.
void write_site_rows(const SamplerSites& sites, ListWriter& rows);

}  // namespace telltale
