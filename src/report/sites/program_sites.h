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
#include "output/table/field.h"
#include "output/table/row_sink.h"

namespace telltale {

// Sampler's sites of one file, for `sites`.
class ProgramSites {
 public:
  // Of an executable, shared library, object, archive or .sites file. Errors: what
  // SamplerSites::add says.
  static Result<ProgramSites> open(const std::string& path, ProblemLog& problems);

  static constexpr size_t kAllUnitDigits = 32;
  static constexpr size_t kShownUnitDigits = 8;  // text output: enough to distinguish units

  [[nodiscard]] uint64_t count() const { return sites_.site_count(); }
  [[nodiscard]] std::map<std::string, uint64_t> by_scheme() const;
  // "12 sites in 2 units (branches 8, returns 4)"; empty if there are none.
  [[nodiscard]] std::string summary() const;
  // Of all programs' sites, for people and CSV. JSON has more (schemas::kSites).
  static std::span<const Field> columns();
  // Adds a row for each site. `program`: its name; `unit_digits`: digits of a unit's signature to
  // print.
  void add_rows(const std::string& program, size_t unit_digits, RowSink& rows) const;
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
  static void write_row(JsonWriter& json, const sampler::SitesSection& section, size_t row);
  SamplerSites sites_;
};

}  // namespace telltale
