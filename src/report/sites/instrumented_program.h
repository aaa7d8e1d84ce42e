#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "import/sampler/sampler_sites.h"
#include "import/static_information.h"
#include "program/instrumentation_map.h"
#include "program/program_names.h"

namespace telltale {

class Recording;

// What the build says of one file's instrumentation, for `sites`.
struct InstrumentedProgram {
  std::string path;
  std::string format;   // "elf", "yaml", "sites", or the name of a recording format
  std::string machine;  // of an ELF file
  std::string build_id;
  InstrumentationMap map;
  std::shared_ptr<const SamplerSites> sites;  // never null
  std::vector<FunctionGraph> graphs;
  std::vector<CoverageSites> coverage;
  ProblemLog problems;
  std::unique_ptr<Symbolizer> symbolizer;  // null unless an ELF file

  // Of an executable, shared library, object, archive or llvm-xray YAML map. Errors: those of the
  // readers.
  static Result<InstrumentedProgram> read(const InputFile& file, const SymbolizerOptions& options);
  // REQUIRES: the recording has the capability "static information".
  static InstrumentedProgram of(const Recording& recording);

  [[nodiscard]] bool empty() const {
    return map.functions().empty() && sites->site_count() == 0 && graphs.empty() &&
           coverage.empty();
  }
  [[nodiscard]] ProgramFunction describe(const InstrumentedFunction& function) const {
    return describe_function(map, function, symbolizer.get(), path);
  }
  [[nodiscard]] std::map<SledKind, size_t> sleds_by_kind() const;
  [[nodiscard]] std::set<unsigned> map_versions() const;

 private:
  Result<void> read_traced(const InputFile& file);
  Result<void> read_elf(const InputFile& file, const SymbolizerOptions& options);
};

}  // namespace telltale
