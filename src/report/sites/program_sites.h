#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "import/sampler/sampler_sites.h"
#include "output/json_writer.h"
#include "output/table.h"

namespace telltale {

// Sampler's sites of one file, as `sites` shows them.
class ProgramSites {
 public:
  // Of an executable, shared library, object, archive or .sites file. Errors: what
  // SamplerSites::add says.
  static Result<ProgramSites> open(const std::string& path, ProblemLog& problems);

  static constexpr size_t kAllUnitDigits = 32;
  static constexpr size_t kShownUnitDigits = 8;  // for people: enough to tell units apart

  [[nodiscard]] uint64_t count() const { return sites_.site_count(); }
  [[nodiscard]] std::map<std::string, uint64_t> by_scheme() const;
  // "12 sites in 2 units (branches 8, returns 4)"; empty if there are none.
  [[nodiscard]] std::string summary() const;
  // Calls use(std::span<const Table::Cell>) for each site, with the columns of
  // sampler_site_columns; `program`: null if there is no column for it; `unit_digits`: how many of
  // a unit's digits are told.
  template <typename Use>
  void for_each_row(const std::string* program, size_t unit_digits, Use use) const {
    for (const SamplerSites::Section& section : sites_.sections()) {
      for (size_t i = 0; i < section.sites->size(); ++i)
        use(std::span<const Table::Cell>(cells_of(*section.sites, i, program, unit_digits)));
    }
  }
  // An array of objects.
  template <typename Flush>
  void write_rows(JsonWriter& json, Flush flush) const {
    json.begin_array();
    for (const SamplerSites::Section& section : sites_.sections()) {
      for (size_t i = 0; i < section.sites->size(); ++i) {
        write_row(json, *section.sites, i);
        flush();
      }
    }
    json.end_array();
  }

 private:
  static std::vector<Table::Cell> cells_of(const sampler::SitesSection& section, size_t row,
                                           const std::string* program, size_t unit_digits);
  static void write_row(JsonWriter& json, const sampler::SitesSection& section, size_t row);
  SamplerSites sites_;
};

// As for_each_row tells them; with one for the program if there are several.
std::vector<Table::Column> sampler_site_columns(bool with_program);

}  // namespace telltale
