#include "report/sites/instrumented_program.h"

#include <utility>

#include "bytes/input_file.h"
#include "import/csi/function_graphs.h"
#include "import/format_descriptor.h"
#include "import/recording.h"
#include "program/archive.h"
#include "program/elf_image.h"

namespace telltale {

Result<InstrumentedProgram> InstrumentedProgram::read(const InputFile& file,
                                                      const SymbolizerOptions& options) {
  InstrumentedProgram program;
  program.path = file.name();
  program.problems.merge(file.problems());
  const bool is_elf = ElfImage::recognises(file.bytes());
  auto sites = std::make_shared<SamplerSites>();
  program.sites = sites;
  if (is_elf || is_archive(file.bytes())) {
    if (const auto added = sites->add(file.share(), program.problems); !added)
      return std::unexpected(added.error());
    if (const auto done = program.read_traced(file); !done) return std::unexpected(done.error());
    program.format = "sites";
    if (!is_elf) return program;
    if (const auto done = program.read_elf(file, options); !done)
      return std::unexpected(done.error());
    return program;
  }
  Result<InstrumentationMap> map =
      InstrumentationMap::read_yaml(file.bytes(), program.path, program.problems);
  if (!map) return std::unexpected(map.error());
  program.map = *std::move(map);
  program.format = "yaml";
  return program;
}

Result<void> InstrumentedProgram::read_traced(const InputFile& file) {
  Result<TracedFunctions> traced = read_traced_functions(file.bytes(), path, problems);
  if (!traced) return std::unexpected(traced.error());
  graphs = std::move(traced->graphs);
  coverage = std::move(traced->coverage);
  return {};
}

Result<void> InstrumentedProgram::read_elf(const InputFile& file,
                                           const SymbolizerOptions& options) {
  const Result<ElfImage> image = ElfImage::read(file.bytes(), path);
  if (!image) return std::unexpected(image.error());
  Result<InstrumentationMap> found = InstrumentationMap::read_elf(*image, problems);
  if (!found) return std::unexpected(found.error());
  map = *std::move(found);
  format = "elf";
  machine = image->machine_name();
  build_id = image->build_id();
  symbolizer = std::make_unique<Symbolizer>(path, options);
  return {};
}

InstrumentedProgram InstrumentedProgram::of(const Recording& recording) {
  InstrumentedProgram program;
  program.path = recording.input(0).name();
  const StaticInformation& information = *recording.static_information();
  program.sites = information.sites();
  program.format = program.sites == nullptr ? std::string(recording.format().name) : "sites";
  if (program.sites == nullptr) program.sites = std::make_shared<SamplerSites>();
  program.graphs.assign(information.graphs().begin(), information.graphs().end());
  program.problems.merge(recording.problems());
  return program;
}

std::map<SledKind, size_t> InstrumentedProgram::sleds_by_kind() const {
  std::map<SledKind, size_t> counts;
  for (const Sled& sled : map.sleds()) ++counts[sled.kind];
  return counts;
}

std::set<unsigned> InstrumentedProgram::map_versions() const {
  std::set<unsigned> versions;
  for (const Sled& sled : map.sleds()) versions.insert(sled.version);
  return versions;
}

}  // namespace telltale
