#include "import/csi/core_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <expected>
#include <map>
#include <numeric>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include "formats/csi/path_metadata.h"
#include "import/csi/path_graphs.h"
#include "import/format_descriptor.h"
#include "model/recording_info.h"
#include "program/core_stacks.h"
#include "program/demangle.h"
#include "program/program_names.h"

namespace telltale {
namespace {

constexpr std::string_view kMetadataSection = ".debug_PT";

// The variables of path tracing: as csi-cc's debug information names them, and as its manual does.
struct RecordNames {
  std::string_view ring, next, sum;
};
constexpr auto kRecordNames =
    std::to_array<RecordNames>({{"__PT_counter_arr", "__PT_counter_idx", "__PT_current_path"},
                                {"__PT_pathArr", "__PT_arrIndex", "__PT_curPath"}});

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (const RecordNames& each : kRecordNames)
    for (const std::string_view name : {each.ring, each.next, each.sum}) names.emplace_back(name);
  return names;
}

const StackVariable* find_variable(const StackFrame& frame, std::string_view name) {
  const auto found = std::ranges::find(frame.variables, name, &StackVariable::name);
  return found == frame.variables.end() ? nullptr : &*found;
}

bool has_record(const StackFrame& frame) { return !frame.variables.empty(); }

// The record, or why there is none.
std::expected<PathRecord, std::string> read_record(const StackFrame& frame) {
  for (const RecordNames& names : kRecordNames) {
    const std::array<const StackVariable*, 3> variables = {find_variable(frame, names.ring),
                                                           find_variable(frame, names.next),
                                                           find_variable(frame, names.sum)};
    if (std::ranges::count(variables, nullptr) == 3) continue;
    const std::array<std::string_view, 3> wanted = {names.ring, names.next, names.sum};
    for (size_t i = 0; i < variables.size(); ++i) {
      if (variables[i] == nullptr)
        return std::unexpected(fmt::format("the variable {} is missing", wanted[i]));
      if (!variables[i]->missing.empty()) {
        return std::unexpected(
            fmt::format("{} cannot be read: {}", wanted[i], variables[i]->missing));
      }
    }
    if (variables[1]->values.size() != 1 || variables[2]->values.size() != 1)
      return std::unexpected("the index of the ring or the path sum is an array");
    return PathRecord{.ring = variables[0]->values,
                      .next = static_cast<uint64_t>(variables[1]->values[0]),
                      .sum = variables[2]->values[0]};
  }
  return std::unexpected("it has no variables of path tracing");
}

std::vector<uint32_t> blocks_with_lines(const PathGraph& graph, std::span<const uint32_t> lines) {
  std::vector<uint32_t> found;
  for (uint32_t node = 0; node < graph.blocks.size(); ++node) {
    if (node == kExitNode) continue;
    const auto& of_block = graph.blocks[node].lines;
    if (std::ranges::find_first_of(of_block, lines) != of_block.end()) found.push_back(node);
  }
  return found;
}

FramePaths::Decoded decode(const std::shared_ptr<const PathGraph>& graph, const PathRecord& record,
                           std::span<const uint32_t> lines) {
  FramePaths::Decoded decoded{.graph = graph, .history = {}, .found_by_line = true};
  std::vector<uint32_t> candidates = blocks_with_lines(*graph, lines);
  if (!candidates.empty()) decoded.history = read_path_history(*graph, record, candidates);
  if (!decoded.history.readings.empty()) return decoded;
  // Optimised code may have another line than the block that it is in.
  candidates.resize(graph->blocks.size());
  std::iota(candidates.begin(), candidates.end(), 0U);
  PathHistory all = read_path_history(*graph, record, candidates);
  if (decoded.history.contradiction.empty() || !all.readings.empty()) {
    decoded.history = std::move(all);
    decoded.found_by_line = false;
  }
  return decoded;
}

// Joins the frames of stacks with the graphs of their functions.
class FrameDecoder {
 public:
  explicit FrameDecoder(const PathGraphs& graphs) : graphs_(graphs) {}

  // `inner`: the functions without records of their own that are inlined at this place.
  FramePaths decode_frame(const StackFrame& frame, std::span<const StackFrame> inner) const {
    FramePaths paths;
    paths.linkage_name = frame.linkage_name.empty() ? frame.symbol : frame.linkage_name;
    paths.function = demangle(paths.linkage_name);
    if (paths.function.empty()) paths.function = fmt::format("@{:#x}", frame.pc);
    paths.file = frame.file;
    paths.directory = frame.directory;
    paths.line = frame.line;
    paths.module = frame.module;
    paths.pc = frame.pc;
    paths.interrupted = frame.interrupted;
    paths.inlined = frame.inlined;
    const auto& graphs = graphs_of(frame);
    auto record = read_record(frame);
    if (!record) {
      paths.untraced = record.error();
      if (graphs.empty() && !has_record(frame))
        paths.untraced = "it was built without path tracing";
      return paths;
    }
    if (graphs.empty()) {
      paths.untraced = "its path metadata are missing";
      return paths;
    }
    std::vector<uint32_t> lines;
    if (frame.line != 0) lines.push_back(frame.line);
    for (const StackFrame& each : inner)
      if (each.line != 0) lines.push_back(each.line);
    for (const auto& graph : graphs) paths.decoded.push_back(decode(graph, *record, lines));
    keep_fitting(paths.decoded);
    return paths;
  }

 private:
  // Variants of a function have a symbol of their own.
  [[nodiscard]] const std::vector<std::shared_ptr<const PathGraph>>& graphs_of(
      const StackFrame& frame) const {
    const auto& by_symbol = graphs_.find(frame.symbol);
    return by_symbol.empty() ? graphs_.find(frame.linkage_name) : by_symbol;
  }

  // Of several functions of one name, those that have the line and no contradiction; if there are
  // none, the first.
  static void keep_fitting(std::vector<FramePaths::Decoded>& all) {
    const auto rank = [](const FramePaths::Decoded& each) {
      if (each.history.readings.empty()) return 0;
      if (!each.history.contradiction.empty()) return 1;
      return each.found_by_line ? 3 : 2;
    };
    const int best = std::ranges::max(all | std::views::transform(rank));
    std::erase_if(all, [&](const auto& each) { return rank(each) != best; });
    if (best == 0) all.resize(1);
  }

  const PathGraphs& graphs_;
};

std::vector<FramePaths> decode_stack(const ThreadStack& stack, const FrameDecoder& decoder) {
  std::vector<FramePaths> decoded;
  // Where the functions begin that are inlined at the frame's place and have no record.
  size_t first_inner = 0;
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const StackFrame& frame = stack.frames[i];
    const bool same_place = i != 0 && stack.frames[i - 1].inlined;
    if (!same_place || has_record(stack.frames[i - 1])) first_inner = i;
    decoded.push_back(
        decoder.decode_frame(frame, std::span(stack.frames).subspan(first_inner, i - first_inner)));
  }
  return decoded;
}

}  // namespace

CoreRecording::CoreRecording(InputFile file, CoreFile core, OpenOptions options,
                             ProblemLog problems)
    : Recording(formats::core),
      file_(std::move(file)),
      core_(std::move(core)),
      options_(std::move(options)),
      problems_(std::move(problems)) {}

Result<std::unique_ptr<const Recording>> CoreRecording::open(std::vector<InputFile> files,
                                                             const OpenOptions& options) {
  if (files.size() != 1)
    return usage_error("a core file is read alone, not together with other files");
  ProblemLog problems;
  problems.merge(files.front().problems());
  Result<CoreFile> core = CoreFile::read(files.front().bytes(), files.front().name(), problems);
  if (!core) return std::unexpected(core.error());
  return std::unique_ptr<const Recording>(
      new CoreRecording(std::move(files.front()), *std::move(core), options, std::move(problems)));
}

std::string CoreRecording::why_stopped() const {
  if (core_.signal() == 0) return {};
  const char* name = ::strsignal(core_.signal());
  return fmt::format("signal {} ({})", core_.signal(), name == nullptr ? "unknown" : name);
}

RecordingInfo CoreRecording::info(size_t /*workers*/, const CallFilter& filter) const {
  RecordingInfo info;
  info.format = "core";
  info.version = "1";
  info.timed = false;
  info.files = {file_.name()};
  info.bytes = file_.bytes().size();
  info.problems.merge(problems_);
  if (!core_.command().empty()) info.properties.emplace_back("command", core_.command());
  if (core_.pid() != 0) info.properties.emplace_back("process", std::to_string(core_.pid()));
  if (const std::string why = why_stopped(); !why.empty())
    info.properties.emplace_back("stopped by", why);
  for (const CoreThread& thread : core_.threads()) {
    const ThreadKey key{core_.pid(), thread.tid};
    if (filter.keeps_thread(key)) info.threads.push_back(key);
  }
  std::ranges::sort(info.threads);
  info.properties.emplace_back("threads", std::to_string(info.threads.size()));
  std::map<std::string, uint64_t> kinds;
  for (const ElfNote& note : core_.notes()) ++kinds[core_note_name(note)];
  kinds["segment"] = core_.segments().size();
  for (const auto& [kind, count] : kinds) {
    if (count == 0) continue;
    info.records_by_kind.emplace_back(kind, count);
    info.records += count;
  }
  return info;
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths(ProblemLog& problems) const {
  PathGraphs graphs;
  CoreStackOptions options;
  options.variables = variable_names();
  for (const std::string& text : options_.programs) {
    const Result<ProgramObject> object = parse_program_object(text);
    if (!object) return std::unexpected(object.error());
    const Result<InputFile> input = InputFile::open(object->path, options_.limits);
    if (!input) return std::unexpected(input.error());
    if (csi::looks_like_path_metadata(input->bytes())) {
      graphs.add(input->bytes(), input->name(), 0, problems);
    } else {
      options.programs.push_back(object->path);
    }
  }
  const Result<CoreStacks> stacks = CoreStacks::open(core_, file_.name(), options, problems);
  if (!stacks) return std::unexpected(stacks.error());
  for (const CoreStacks::Section& section : stacks->sections(kMetadataSection, problems)) {
    graphs.add(std::as_bytes(std::span(section.bytes)), section.file, section.offset, problems);
  }
  const FrameDecoder decoder(graphs);
  std::vector<ThreadPaths> all;
  for (const ThreadStack& stack : stacks->threads()) {
    all.push_back({.pid = core_.pid(),
                   .tid = stack.tid,
                   .frames = decode_stack(stack, decoder),
                   .cut = stack.cut});
  }
  return all;
}

}  // namespace telltale
