// Sections of ELF files and archives, and Sampler's data in them: no crash, views lie inside the
// input, sites can be iterated.
#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/sampler/site_info.h"
#include "fuzz_checks.h"
#include "program/static_sections.h"

namespace {

using namespace telltale;

void check(Bytes file, const char* name) {
  ProblemLog problems;
  const Result<StaticSections> found = read_static_sections(file, "f", name, problems);
  fuzz::require_placed(problems, file);
  if (!found) return;
  for (const StaticSection& section : found->sections) {
    const bool inside = section.bytes.empty() || section.unpacked != nullptr ||
                        (section.bytes.data() >= file.data() &&
                         section.bytes.data() + section.bytes.size() <= file.data() + file.size());
    fuzz::require(inside, "a section lies inside the file");
    ProblemLog more;
    const sampler::SiteInfo info =
        sampler::SiteInfo::read(section.bytes, "f", section.offset, more);
    size_t rows = 0;
    for (const sampler::SitesSection& sites : info.sections()) {
      for (size_t i = 0; i < sites.size(); ++i) rows += sites.row(i).column_count;
    }
    fuzz::require(rows <= 9 * section.bytes.size(), "a row takes a byte");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  check(file, ".debug_site_info");
  check(file, ".debug_sampler_cfg");
  return 0;
}
