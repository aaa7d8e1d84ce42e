#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "formats/csi/path_metadata.h"
#include "formats/csi/path_records.h"
#include "formats/csi/wire.h"
#include "import/csi/debugger_text.h"
#include "import/csi/frame_decoder.h"
#include "import/format_descriptor.h"
#include "import/open_debugger_text.h"
#include "import/stack_paths.h"
#include "model/recording_info.h"
#include "program/elf_segments.h"
#include "program/program_names.h"
#include "program/static_sections.h"

namespace telltale {
namespace {

class DebuggerRecording final : public Recording, public StackPaths {
 public:
  DebuggerRecording(InputFile file, OpenOptions options)
      : Recording(formats::core), file_(std::move(file)), options_(std::move(options)) {
    problems_.merge(file_.problems());
  }

  [[nodiscard]] std::string_view noun() const override { return "a debugger's text"; }
  [[nodiscard]] RecordingInfo info(size_t /*workers*/,
                                   const CallFilter& /*filter*/) const override {
    RecordingInfo info;
    info.format = "debugger text";
    info.timed = false;
    info.files = {file_.name()};
    info.bytes = file_.bytes().size();
    info.problems.merge(problems_);
    return info;
  }
  [[nodiscard]] const ProblemLog& problems() const override { return problems_; }
  [[nodiscard]] size_t file_count() const override { return 1; }
  [[nodiscard]] const InputFile& input(size_t /*file*/) const override { return file_; }
  [[nodiscard]] const StackPaths* paths_in_frames() const override { return this; }
  [[nodiscard]] std::string why_stopped() const override { return {}; }
  // Programs are not in memory here.
  [[nodiscard]] Result<std::vector<FunctionCoverage>> coverage(
      ProblemLog& /*problems*/) const override {
    return std::vector<FunctionCoverage>();
  }

  [[nodiscard]] Result<std::vector<ThreadPaths>> thread_paths(ProblemLog& problems) const override {
    PathGraphs graphs;
    for (const std::string& text : options_.programs) {
      if (const auto added = add_program(text, graphs, problems); !added)
        return std::unexpected(added.error());
    }
    const std::vector<std::string> wanted = path_variable_names();
    const Bytes bytes = file_.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto symbols = graphs.symbols_by_name();
    std::vector<ThreadPaths> all;
    FrameFlags flags;  // a debugger's text has none
    for (ThreadStack& stack : read_debugger_text(text, file_.name(), wanted, problems)) {
      for (StackFrame& frame : stack.frames) {
        const auto symbol = symbols.find(frame.symbol);
        if (graphs.find(frame.symbol).empty() && symbol != symbols.end())
          frame.symbol = symbol->second;
      }
      all.push_back({.pid = 0,
                     .tid = stack.tid,
                     .frames = decode_stack(stack, graphs, {}, flags),
                     .cut = stack.cut});
    }
    return all;
  }

  [[nodiscard]] BuiltSources built_sources(ProblemLog& problems) const override {
    BuiltSources sources;
    for (const std::string& text : options_.programs) {
      const Result<ProgramObject> object = parse_program_object(text);
      if (object) sources.add(object->path, object->path, problems);
    }
    return sources;
  }

 private:
  Result<void> add_program(const std::string& text, PathGraphs& graphs,
                           ProblemLog& problems) const {
    const Result<ProgramObject> object = parse_program_object(text);
    if (!object) return std::unexpected(object.error());
    const Result<InputFile> input = InputFile::open(object->path, options_.limits);
    if (!input) return std::unexpected(input.error());
    if (csi::looks_like_path_metadata(input->bytes())) {
      graphs.add(input->bytes(), input->name(), 0, {}, problems);
      return {};
    }
    const auto elf = read_elf_segments(input->bytes(), input->name());
    if (!elf) return std::unexpected(elf.error());
    const auto read = [&](std::string_view name) {
      return read_static_sections(input->bytes(), input->name(), name, problems);
    };
    const auto records = read(csi::kRecordSection);
    const auto texts = read(csi::kPathSection);
    if (!records) return std::unexpected(records.error());
    if (!texts) return std::unexpected(texts.error());
    std::vector<csi::PathFunctionRecord> functions;
    for (const StaticSection& section : records->sections) {
      csi::PathRecords of_section = csi::PathRecords::read(section.bytes, elf->order, input->name(),
                                                           section.offset, problems);
      std::ranges::move(of_section.functions, std::back_inserter(functions));
    }
    for (const StaticSection& section : texts->sections)
      graphs.add(section.bytes, input->name(), section.offset, functions, problems);
    return {};
  }

  InputFile file_;
  OpenOptions options_;
  ProblemLog problems_;
};

}  // namespace

Result<std::unique_ptr<const Recording>> open_debugger_text(const std::string& path,
                                                            const OpenOptions& options) {
  if (options.programs.empty())
    return usage_error("a debugger's text needs --program: a program, or its .debug_PT as text");
  Result<InputFile> file = InputFile::open(path, options.limits);
  if (!file) return std::unexpected(file.error());
  return std::unique_ptr<const Recording>(new DebuggerRecording(*std::move(file), options));
}

}  // namespace telltale
