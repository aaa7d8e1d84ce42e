#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
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
#include "model/short_name.h"
#include "program/demangle.h"
#include "program/elf_segments.h"
#include "program/program_names.h"
#include "program/static_sections.h"

namespace telltale {
namespace {

bool has_line(const PathGraph& graph, uint32_t line) {
  return std::ranges::any_of(graph.blocks, [&](const PathGraph::Block& block) {
    return std::ranges::find(block.lines, line) != block.lines.end();
  });
}

// Which of several functions of one name has the line; empty if none or several have.
std::string symbol_at(const std::vector<std::string>& symbols, uint32_t line,
                      const PathGraphs& graphs) {
  if (symbols.size() == 1) return symbols.front();
  std::string found;
  for (const std::string& symbol : symbols) {
    const bool fits = std::ranges::any_of(
        graphs.find(symbol), [&](const auto& graph) { return has_line(*graph, line); });
    if (!fits) continue;
    if (!found.empty()) return {};
    found = symbol;
  }
  return found;
}

// A function of a program that has no paths.
struct SkippedSymbol {
  std::string module;
  std::string symbol;
};
// By bare_name(); functions that are overloaded are left out.
std::unordered_map<std::string, SkippedSymbol> skipped_by_name(
    const std::map<std::string, ModulePaths>& modules) {
  std::unordered_map<std::string, SkippedSymbol> skipped;
  std::unordered_set<std::string> overloaded;
  for (const auto& [path, module] : modules) {
    for (const auto& [symbol, reason] : module.skipped) {
      const std::string name = bare_name(demangle(symbol));
      if (!skipped.try_emplace(name, SkippedSymbol{path, symbol}).second) overloaded.insert(name);
    }
  }
  for (const std::string& name : overloaded) skipped.erase(name);
  return skipped;
}

// gdb shows the symbol of a copy of `main` as "main[aside]".
std::string_view without_brackets(std::string_view name) { return name.substr(0, name.find('[')); }

// Drops frames of copies that only chose another one (frames_of_copies.h), as far as the text
// tells. Debuggers have no line for a copy that the Sampler made to choose; what they say of the
// function that let it run, and called nothing else there, is the line before. A function that let
// a copy run directly looks like one that calls itself, and keeps its frame. `copied`: functions
// with copies.
void drop_choosers(const std::set<std::string>& copied, std::vector<FramePaths>& frames) {
  std::vector<FramePaths> kept;
  bool has_chosen = false;  // the frame before only chose
  for (FramePaths& frame : frames) {
    const bool is_same = !kept.empty() && kept.back().linkage_name == frame.linkage_name &&
                         copied.contains(frame.linkage_name);
    has_chosen = is_same && (frame.line == 0 || has_chosen);
    if (has_chosen) {
      // The function that let it run is the last of them.
      has_chosen = frame.line == 0;
      continue;
    }
    frame.number = kept.size();
    kept.push_back(std::move(frame));
  }
  frames = std::move(kept);
}

// Debuggers print file names as the compiler got them; the metadata have them with their folders.
void complete(FramePaths& frame) {
  if (frame.decoded.empty()) {
    if (frame.module.empty() && frame.untraced.starts_with("no program")) {
      frame.untraced = frame.inlined
                           ? "it was inlined, and no program of --program has paths of it"
                           : "no program of --program has paths of a function of this name";
    }
    return;
  }
  const auto& scopes = frame.decoded.front().graph->scopes;
  if (scopes.empty() || frame.file.starts_with('/')) return;
  const std::string& file = scopes.front().file;
  if (!frame.file.empty() && !file.ends_with("/" + frame.file)) return;
  if (frame.innermost_file == frame.file) frame.innermost_file = file;
  frame.file = file;
}

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

  [[nodiscard]] Result<PathsAndCoverage> paths_and_coverage(ProblemLog& problems) const override {
    auto threads = thread_paths(problems);
    if (!threads) return std::unexpected(threads.error());
    return PathsAndCoverage{.threads = *std::move(threads), .coverage = {}};
  }
  [[nodiscard]] Result<std::vector<ThreadPaths>> thread_paths(ProblemLog& problems) const override {
    PathGraphs graphs;
    std::map<std::string, ModulePaths>
        modules;  // what they say of functions without paths, and of copies
    for (const std::string& text : options_.programs) {
      if (const auto added = add_program(text, graphs, modules, problems); !added)
        return std::unexpected(added.error());
    }
    const std::vector<std::string> wanted = path_variable_names();
    const Bytes bytes = file_.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::set<std::string> copied;
    for (const auto& [path, module] : modules) {
      graphs.join_copies(module.sources);
      for (const auto& [symbol, source] : module.sources)
        if (symbol != source) copied.insert(source);
    }
    const auto symbols = graphs.symbols_by_name();
    std::vector<ThreadPaths> all;
    FrameFlags flags;  // a debugger's text has none
    const auto skipped = skipped_by_name(modules);
    for (ThreadStack& stack : read_debugger_text(text, file_.name(), wanted, problems)) {
      for (StackFrame& frame : stack.frames) {
        auto named = symbols.find(frame.symbol);
        if (named == symbols.end())
          named = symbols.find(std::string(without_brackets(frame.symbol)));
        if (graphs.find(frame.symbol).empty() && named != symbols.end())
          frame.symbol = symbol_at(named->second, frame.line, graphs);
        const auto left_out = skipped.find(frame.symbol);
        if (left_out == skipped.end()) continue;
        frame.module = left_out->second.module;
        frame.symbol = left_out->second.symbol;
      }
      all.push_back({.pid = 0,
                     .tid = stack.tid,
                     .frames = decode_stack(stack, graphs, modules, flags),
                     .cut = stack.cut});
      drop_choosers(copied, all.back().frames);
      for (FramePaths& frame : all.back().frames) complete(frame);
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
                           std::map<std::string, ModulePaths>& modules,
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
      for (csi::SkippedFunction& skipped : of_section.skipped)
        modules[object->path].skipped.emplace(std::move(skipped.symbol), std::move(skipped.reason));
      for (csi::FlowRecord& flow : of_section.flows)
        if (!flow.source.empty())
          modules[object->path].sources.emplace(std::move(flow.symbol), std::move(flow.source));
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
