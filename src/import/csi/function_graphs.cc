#include "import/csi/function_graphs.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "formats/csi/path_metadata.h"
#include "formats/csi/wire.h"
#include "program/demangle.h"
#include "program/static_sections.h"

namespace telltale {
namespace {

// `function` has its linkage name.
template <typename Function>
void add_names(const SourcesOfCopies& sources, Function& function) {
  function.copy_of = sources.source_of(function.linkage_name);
  function.name = demangle(function.copy_of.empty() ? function.linkage_name : function.copy_of);
}

}  // namespace

std::vector<FunctionGraph> read_function_graphs(Bytes text, const std::string& file,
                                                uint64_t file_offset, ProblemLog& problems) {
  std::vector<FunctionGraph> graphs;
  const csi::PathMetadata metadata = csi::PathMetadata::read(text, file, file_offset, problems);
  for (const csi::PathFunction& function : metadata.functions()) {
    graphs.push_back({.name = demangle(function.name),
                      .linkage_name = std::string(function.name),
                      .copy_of = {},
                      .blocks = function.block_count,
                      .edges = function.edge_count});
  }
  return graphs;
}

Result<TracedFunctions> read_traced_functions(Bytes file, const std::string& path,
                                              ProblemLog& problems) {
  TracedFunctions traced;
  const Result<StaticSections> records =
      read_static_sections(file, path, csi::kRecordSection, problems);
  if (!records) return std::unexpected(records.error());
  SourcesOfCopies sources;
  std::unordered_set<uint64_t> seen;  // keys: linking leaves copies of records
  for (const StaticSection& section : records->sections) {
    const csi::PathRecords read =
        csi::PathRecords::read(section.bytes, section.order, path, section.offset, problems);
    sources.add(read);
    std::unordered_set<uint64_t> kept;
    for (const csi::CoverageArray& array : read.arrays) kept.insert(array.key);
    for (const csi::CoverageRecord& record : read.coverage) {
      const bool is_dropped = section.is_linked && record.probes != 0 && !kept.contains(record.key);
      if (is_dropped || !seen.insert(record.key).second) continue;
      traced.coverage.push_back({.name = {},
                                 .linkage_name = record.symbol,
                                 .copy_of = {},
                                 .mechanism = record.mechanism,
                                 .file = record.file,
                                 .line = record.line,
                                 .blocks = record.blocks.size(),
                                 .calls = record.calls.size(),
                                 .probes = record.probes});
    }
  }
  const Result<StaticSections> texts =
      read_static_sections(file, path, csi::kPathSection, problems);
  if (!texts) return std::unexpected(texts.error());
  for (const StaticSection& section : texts->sections) {
    for (FunctionGraph& graph : read_function_graphs(section.bytes, path, section.offset, problems))
      traced.graphs.push_back(std::move(graph));
  }
  for (FunctionGraph& graph : traced.graphs) add_names(sources, graph);
  for (CoverageSites& sites : traced.coverage) add_names(sources, sites);
  return traced;
}

void SourcesOfCopies::add(const csi::PathRecords& records) {
  for (const csi::FlowRecord& flow : records.flows)
    if (!flow.source.empty()) sources_.emplace(flow.symbol, flow.source);
}

std::string SourcesOfCopies::source_of(const std::string& symbol) const {
  if (const auto found = sources_.find(symbol); found != sources_.end()) return found->second;
  const std::string_view source = csi::without_variant(symbol);
  return source == symbol ? "" : std::string(source);
}

}  // namespace telltale
