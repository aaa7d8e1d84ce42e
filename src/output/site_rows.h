#pragma once

#include <cstdint>
#include <string>

#include "model/counted_sites.h"
#include "output/json_writer.h"

namespace telltale {

// Counted sites as rows: for people, JSON and CSV. `sparsity` above 1 adds what the counts are
// estimates of (docs/analysis/sampler.md, "Estimates"); 0 and 1: nothing.

// "src/a.c:12"; without static information the whole unit and the site's number in it:
// "unit 0123456789abcdef0123456789abcdef, site 7".
std::string site_place(const CountedSite& site);
// The scheme's columns, as a sentence would have them: "x local direct", "late < 0LL".
std::string site_words(const CountedSite& site);
// "false 3, true 0", or "2 to 3" for bounds.
std::string site_values(const CountedSite& site);

// An object with the keys that docs/formats/sampler.md has.
void write_site_json(JsonWriter& json, const CountedSite& site, uint64_t sparsity);
// Lines with their line feed.
std::string site_csv_header();
void append_site_csv(std::string& out, const CountedSite& site, uint64_t sparsity);

}  // namespace telltale
