// Path metadata: the text of the section .debug_PT. It can be checked and shown; what ran is in
// core files.
#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/csi/path_metadata.h"
#include "import/csi/function_graphs.h"
#include "import/csi/path_graphs.h"
#include "import/format_descriptor.h"
#include "import/static_information.h"
#include "model/recording_info.h"
#include "output/dump/csi_dump.h"

namespace telltale {
namespace {

Confidence sniff_metadata(Bytes file) {
  return csi::looks_like_path_metadata(file) ? Confidence::certain : Confidence::none;
}

class MetadataRecording final : public Recording, public StaticInformation {
 public:
  explicit MetadataRecording(std::vector<InputFile> files)
      : Recording(formats::csi), files_(std::move(files)) {
    for (const InputFile& file : files_) {
      info_.files.push_back(file.name());
      info_.bytes += file.bytes().size();
      info_.problems.merge(file.problems());
      for (FunctionGraph& graph :
           read_function_graphs(file.bytes(), file.name(), 0, info_.problems))
        graphs_.push_back(std::move(graph));
    }
    info_.format = "csi";
    info_.version = "1";
    info_.timed = false;
  }

  [[nodiscard]] RecordingInfo info(size_t, const CallFilter& filter) const override {
    RecordingInfo info = info_;
    uint64_t functions = 0;
    uint64_t blocks = 0;
    uint64_t edges = 0;
    for (const FunctionGraph& graph : graphs_) {
      FunctionInfo function;
      function.name = graph.name;
      function.linkage_name = graph.linkage_name;
      if (!filter.matches(function)) continue;
      ++functions;
      blocks += graph.blocks;
      edges += graph.edges;
    }
    info.records = functions + blocks + edges;
    for (const auto& [kind, count] : std::initializer_list<std::pair<const char*, uint64_t>>{
             {"Block", blocks}, {"Edge", edges}, {"Function", functions}}) {
      if (count != 0) info.records_by_kind.emplace_back(kind, count);
    }
    return info;
  }
  [[nodiscard]] const ProblemLog& problems() const override { return info_.problems; }
  [[nodiscard]] size_t file_count() const override { return files_.size(); }
  [[nodiscard]] const InputFile& input(size_t file) const override { return files_[file]; }
  [[nodiscard]] const StaticInformation* static_information() const override { return this; }

  [[nodiscard]] std::span<const FunctionGraph> graphs() const override { return graphs_; }

 private:
  std::vector<InputFile> files_;
  std::vector<FunctionGraph> graphs_;
  RecordingInfo info_;
};

Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files, const OpenOptions&) {
  return std::make_unique<const MetadataRecording>(std::move(files));
}

Result<FileCheck> check_metadata(const InputFile& file, const OpenOptions&, RecordFilter*) {
  FileCheck checked;
  checked.damage.merge(file.problems());
  const csi::PathMetadata metadata =
      csi::PathMetadata::read(file.bytes(), file.name(), 0, checked.damage);
  // What cannot be numbered is damage too. It is read again for that.
  ProblemLog of_graphs;
  PathGraphs().add(file.bytes(), file.name(), 0, {}, of_graphs);
  if (of_graphs.count() > checked.damage.count()) checked.damage = of_graphs;
  checked.format = "csi";
  checked.version = "1";
  checked.title = "CSI path metadata";
  for (const csi::PathFunction& function : metadata.functions())
    checked.records += uint64_t{1} + function.block_count + function.edge_count;
  checked.valid = checked.damage.count() == 0;
  return checked;
}

Result<void> dump_metadata(const InputFile& file, const OpenOptions&, DumpStyle style,
                           const ByteSink& sink, ProblemLog& problems, RecordFilter*) {
  return csi::dump_path_metadata(file.bytes(), file.name(), style, sink, problems);
}

}  // namespace

constinit const FormatDescriptor formats::csi = {
    .name = "csi",
    .noun = "CSI path metadata",
    .versions = "section .debug_PT of csi-cc",
    .page = "csi.md",
    .targets = {},
    .sniff = sniff_metadata,
    .open = open,
    .check = check_metadata,
    .dump = dump_metadata,
    .records = csi::path_records,
};

}  // namespace telltale
