// Path metadata: the text of the section .debug_PT. It can be checked and shown; what ran is in
// core files.
#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/csi/path_metadata.h"
#include "import/csi/path_graphs.h"
#include "import/format_descriptor.h"
#include "import/stack_paths.h"
#include "model/recording_info.h"
#include "output/dump/csi_dump.h"
#include "program/demangle.h"

namespace telltale {
namespace {

Confidence sniff(Bytes file) {
  return csi::looks_like_path_metadata(file) ? Confidence::certain : Confidence::none;
}

class MetadataRecording final : public Recording, public StackPaths {
 public:
  explicit MetadataRecording(std::vector<InputFile> files)
      : Recording(formats::csi), files_(std::move(files)) {
    for (const InputFile& file : files_) {
      info_.files.push_back(file.name());
      info_.bytes += file.bytes().size();
      info_.problems.merge(file.problems());
      const csi::PathMetadata metadata =
          csi::PathMetadata::read(file.bytes(), file.name(), 0, info_.problems);
      for (const csi::PathFunction& function : metadata.functions()) {
        functions_.emplace_back(function.name);
        blocks_.push_back(function.block_count);
        edges_.push_back(function.edge_count);
      }
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
    for (size_t i = 0; i < functions_.size(); ++i) {
      FunctionInfo function;
      function.name = demangle(functions_[i]);
      function.linkage_name = functions_[i];
      if (!filter.matches(function)) continue;
      ++functions;
      blocks += blocks_[i];
      edges += edges_[i];
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
  [[nodiscard]] const StackPaths* paths_in_frames() const override { return this; }

  [[nodiscard]] std::string why_stopped() const override { return {}; }
  [[nodiscard]] Result<std::vector<ThreadPaths>> thread_paths(ProblemLog&) const override {
    return usage_error(
        files_.front().name() +
        " is static information about paths: open a core file, and use --program for this");
  }

 private:
  std::vector<InputFile> files_;
  std::vector<std::string> functions_;
  std::vector<uint64_t> blocks_;  // parallel to functions_
  std::vector<uint64_t> edges_;
  RecordingInfo info_;
};

Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files, const OpenOptions&) {
  return std::make_unique<const MetadataRecording>(std::move(files));
}

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter*) {
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

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter*) {
  return csi::dump_path_metadata(file.bytes(), file.name(), style, sink, problems);
}

}  // namespace

constinit const FormatDescriptor formats::csi = {
    .name = "csi",
    .noun = "CSI path metadata",
    .versions = "section .debug_PT of csi-cc",
    .page = "csi.md",
    .targets = {},
    .sniff = sniff,
    .open = open,
    .check = check,
    .dump = dump,
};

}  // namespace telltale
