#pragma once

#include <cstdint>
#include <string>

#include "model/counted_sites.h"
#include "output/table/object_writer.h"

namespace telltale {

// Counted sites as rows of text, JSON and CSV. `sparsity` above 1 adds estimates
// (docs/analysis/sampler.md, "Estimates"); 0 and 1: none.

// "src/a.c:12"; without static information, the unit and the site's number in it:
// "unit 0123456789abcdef0123456789abcdef, site 7".
std::string site_place(const CountedSite& site);
// The scheme's columns as text: "x local direct", "late < 0LL".
std::string site_words(const CountedSite& site);
// "false 3, true 0", or "2 to 3" for bounds.
std::string site_values(const CountedSite& site);
// "false 300 +- 337, true 0 +- 0": what the counts are estimates of, with their margins
// (docs/analysis/sampler.md, "Estimates"); empty for bounds.
std::string site_estimates(const CountedSite& site, uint64_t sparsity);

// The members of schemas::kResolve's rows.
void write_site(ObjectWriter& row, const CountedSite& site, uint64_t sparsity);
// Lines with line feeds.
std::string site_csv_header();
void append_site_csv(std::string& out, const CountedSite& site, uint64_t sparsity);

}  // namespace telltale
