#include "import/csi/core_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstring>
#include <expected>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "formats/csi/path_metadata.h"
#include "formats/csi/path_records.h"
#include "formats/csi/wire.h"
#include "import/csi/core_coverage.h"
#include "import/csi/path_graphs.h"
#include "import/csi/path_positions.h"
#include "import/format_descriptor.h"
#include "import/open_process.h"
#include "model/recording_info.h"
#include "program/core_stacks.h"
#include "program/demangle.h"
#include "program/machine_blocks.h"
#include "program/minidump.h"
#include "program/program_names.h"

namespace telltale {
namespace {

constexpr std::string_view kMachineBlocks = ".llvm_bb_addr_map";

constexpr auto kRecordNames =
    std::to_array<csi::VariableNames>({csi::kVariableNames, csi::kLegacyVariableNames});

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (const csi::VariableNames& each : kRecordNames)
    for (const char* name : {each.array, each.index, each.sum}) names.emplace_back(name);
  return names;
}

const StackVariable* find_variable(const StackFrame& frame, std::string_view name) {
  const auto found = std::ranges::find(frame.variables, name, &StackVariable::name);
  return found == frame.variables.end() ? nullptr : &*found;
}

bool has_record(const StackFrame& frame) { return !frame.variables.empty(); }

// The record, or why there is none.
std::expected<PathRecord, std::string> read_record(const StackFrame& frame) {
  for (const csi::VariableNames& names : kRecordNames) {
    const std::array<const StackVariable*, 3> variables = {find_variable(frame, names.array),
                                                           find_variable(frame, names.index),
                                                           find_variable(frame, names.sum)};
    if (std::ranges::count(variables, nullptr) == 3) continue;
    const std::array<std::string_view, 3> wanted = {names.array, names.index, names.sum};
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

using Graph = PathGraphs::Graph;
using Decoded = FramePaths::Decoded;

Decoded decode_by_line(const Graph& graph, const PathRecord& record,
                       std::span<const uint32_t> lines) {
  Decoded decoded{.graph = graph, .history = {}, .found_by = Decoded::FoundBy::line};
  std::vector<uint32_t> candidates = blocks_with_lines(*graph, lines);
  if (!candidates.empty()) decoded.history = read_path_history(*graph, record, candidates);
  if (!decoded.history.readings.empty()) return decoded;
  // Optimised code may have another line than the block that it is in.
  candidates.resize(graph->blocks.size());
  std::iota(candidates.begin(), candidates.end(), 0U);
  decoded.history = read_path_history(*graph, record, candidates);
  decoded.found_by = Decoded::FoundBy::all_blocks;
  return decoded;
}

// What the record will be when the path's number is stored completely.
PathRecord settle(const PathGraph& graph, PathRecord record, csi::Phase phase) {
  const size_t size = record.ring.size();
  if (phase == csi::Phase::kSettled || size == 0 || record.next >= size) return record;
  if (phase == csi::Phase::kNumberStored) record.next = (record.next + 1) % size;
  const int64_t newest = record.ring[(record.next + size - 1) % size];
  const auto path = newest < 0 ? std::nullopt : graph.numbers.path(static_cast<uint64_t>(newest));
  if (!path || path->edges.empty()) return record;
  const PathEdge& end = graph.numbers.edges()[path->edges.back()];
  record.sum = end.is_back ? static_cast<int64_t>(end.increment) : 0;
  return record;
}

// What a program says of its functions with path tracing.
struct ModulePaths {
  PathPositions positions;
  PathGraphs::ByKey graphs;
  std::unordered_map<std::string, std::string> skipped;  // symbol to reason
};

// Joins the frames of stacks with the graphs of their functions.
class FrameDecoder {
 public:
  FrameDecoder(const PathGraphs& graphs, const std::map<std::string, ModulePaths>& modules)
      : graphs_(graphs), modules_(modules) {}

  // `inner`: the functions without records of their own that are inlined at this place.
  FramePaths decode_frame(const StackFrame& frame, std::span<const StackFrame> inner) const {
    FramePaths paths;
    paths.linkage_name = frame.linkage_name.empty() ? frame.symbol : frame.linkage_name;
    paths.function = demangle(paths.linkage_name);
    if (paths.function.empty()) paths.function = fmt::format("@{:#x}", frame.pc);
    paths.file = frame.file;
    paths.directory = frame.directory;
    paths.line = frame.line;
    const StackFrame& innermost = inner.empty() ? frame : inner.front();
    paths.innermost_file = innermost.file;
    paths.innermost_line = innermost.line;
    paths.module = frame.module;
    paths.pc = frame.pc;
    paths.interrupted = frame.interrupted;
    paths.inlined = frame.inlined;
    const auto& graphs = graphs_of(frame);
    const auto record = read_record(frame);
    if (!record || graphs.empty()) {
      paths.untraced = record ? "its path metadata are missing" : record.error();
      if (!has_record(frame) && (graphs.empty() || frame.inlined))
        paths.untraced = why_not_traced(frame);
      return paths;
    }
    if (auto exact = decode_by_position(frame, *record)) {
      paths.decoded.push_back(*std::move(exact));
      return paths;
    }
    std::vector<uint32_t> lines;
    if (frame.line != 0) lines.push_back(frame.line);
    for (const StackFrame& each : inner)
      if (each.line != 0) lines.push_back(each.line);
    for (const Graph& graph : graphs)
      paths.decoded.push_back(decode_by_line(graph, *record, lines));
    keep_fitting(paths.decoded);
    return paths;
  }

 private:
  [[nodiscard]] const ModulePaths* module_of(const StackFrame& frame) const {
    const auto found = modules_.find(frame.module);
    return found == modules_.end() ? nullptr : &found->second;
  }

  // Variants of a function have a symbol of their own.
  [[nodiscard]] const std::vector<Graph>& graphs_of(const StackFrame& frame) const {
    const auto& by_symbol = graphs_.find(frame.symbol);
    return by_symbol.empty() ? graphs_.find(frame.linkage_name) : by_symbol;
  }

  [[nodiscard]] std::string why_not_traced(const StackFrame& frame) const {
    if (frame.inlined && modules_.contains(frame.module)) {
      return "it was inlined before path tracing: its lines are in the paths of the function "
             "around it";
    }
    if (const ModulePaths* module = module_of(frame)) {
      for (const std::string& name : {frame.symbol, frame.linkage_name}) {
        const auto found = module->skipped.find(name);
        if (found != module->skipped.end()) return "path tracing excluded it: " + found->second;
      }
    }
    return "it was built without path tracing";
  }

  // Empty if the program does not say which block the instruction is in.
  [[nodiscard]] std::optional<Decoded> decode_by_position(const StackFrame& frame,
                                                          const PathRecord& record) const {
    const ModulePaths* module = module_of(frame);
    if (module == nullptr || frame.function_begin == 0) return std::nullopt;
    const PathPositions::Found found =
        module->positions.find(frame.address, frame.function_begin, frame.function_end);
    if (found.place == PathPositions::Place::unknown) return std::nullopt;
    const auto graph = module->graphs.find(found.position.key);
    // Of functions that are inlined into one another, only one has the position.
    if (graph == module->graphs.end() ||
        (graph->second->symbol != frame.symbol && graph->second->symbol != frame.linkage_name))
      return std::nullopt;
    Decoded decoded{.graph = graph->second, .history = {}, .found_by = Decoded::FoundBy::position};
    if (found.place == PathPositions::Place::before_body) {
      decoded.history.complete = true;
      decoded.history.readings.push_back({.partial = {kEntryNode}});
      return decoded;
    }
    const auto block =
        std::ranges::find(graph->second->blocks, found.position.block, &PathGraph::Block::id);
    if (block == graph->second->blocks.end()) return std::nullopt;
    const auto node = static_cast<uint32_t>(block - graph->second->blocks.begin());
    const PathRecord settled = settle(*graph->second, record, found.position.phase);
    decoded.history = read_path_history(*graph->second, settled, std::span(&node, 1));
    return decoded;
  }

  // Of several functions of one name, those that have the line and no contradiction; if there are
  // none, the first.
  static void keep_fitting(std::vector<Decoded>& all) {
    const auto rank = [](const Decoded& each) {
      if (each.history.readings.empty()) return 0;
      if (!each.history.contradiction.empty()) return 1;
      return each.found_by == Decoded::FoundBy::all_blocks ? 2 : 3;
    };
    const int best = std::ranges::max(all | std::views::transform(rank));
    std::erase_if(all, [&](const auto& each) { return rank(each) != best; });
    if (best == 0) all.resize(1);
  }

  const PathGraphs& graphs_;
  const std::map<std::string, ModulePaths>& modules_;
};

// The metadata of the programs of a core file.
std::map<std::string, ModulePaths> read_modules(const CoreStacks& stacks, std::endian order,
                                                PathGraphs& graphs, ProblemLog& problems) {
  struct Read {
    std::vector<csi::PathFunctionRecord> functions;
    std::vector<csi::PathPosition> positions;
    std::vector<uint64_t> machine_blocks;
  };
  std::map<std::string, Read> read;
  std::map<std::string, ModulePaths> modules;
  const auto bytes_of = [](const CoreStacks::Section& section) {
    return std::as_bytes(std::span(section.bytes));
  };
  for (const CoreStacks::Section& section : stacks.sections(csi::kRecordSection, problems)) {
    csi::PathRecords records =
        csi::PathRecords::read(bytes_of(section), order, section.file, section.offset, problems);
    for (const csi::SkippedFunction& skipped : records.skipped)
      modules[section.module].skipped.emplace(skipped.symbol, skipped.reason);
    read[section.module] = {.functions = std::move(records.functions),
                            .positions = std::move(records.positions),
                            .machine_blocks = {}};
  }
  for (const CoreStacks::Section& section : stacks.sections(kMachineBlocks, problems)) {
    const auto found = read.find(section.module);
    if (found == read.end()) continue;
    found->second.machine_blocks =
        read_machine_blocks(bytes_of(section), order, section.file, section.offset, problems);
  }
  for (const CoreStacks::Section& section : stacks.sections(csi::kPathSection, problems)) {
    modules[section.module].graphs = graphs.add(bytes_of(section), section.file, section.offset,
                                                read[section.module].functions, problems);
  }
  for (auto& [module, parts] : read) {
    modules[module].positions =
        PathPositions(std::move(parts.positions), std::move(parts.machine_blocks));
  }
  return modules;
}

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
    decoded.back().number = i;
  }
  return decoded;
}

}  // namespace

CoreRecording::CoreRecording(const FormatDescriptor& format, InputFile file, CoreFile core,
                             RecordCounts counts, OpenOptions options, ProblemLog problems)
    : Recording(format),
      file_(std::move(file)),
      core_(std::move(core)),
      record_counts_(std::move(counts)),
      options_(std::move(options)),
      problems_(std::move(problems)) {}

Result<std::unique_ptr<const Recording>> CoreRecording::open(std::vector<InputFile> files,
                                                             const OpenOptions& options) {
  if (files.size() != 1)
    return usage_error("a core file is read alone, not together with other files");
  InputFile& file = files.front();
  ProblemLog problems;
  problems.merge(file.problems());
  Result<CoreFile> core = CoreFile::read(file.bytes(), file.name(), problems);
  if (!core) return std::unexpected(core.error());
  RecordCounts counts;
  for (const ElfNote& note : core->notes()) ++counts[core_note_name(note)];
  if (!core->segments().empty()) counts["segment"] = core->segments().size();
  return std::unique_ptr<const Recording>(new CoreRecording(formats::core, std::move(file),
                                                            *std::move(core), std::move(counts),
                                                            options, std::move(problems)));
}

Result<std::unique_ptr<const Recording>> CoreRecording::open_minidump(std::vector<InputFile> files,
                                                                      const OpenOptions& options) {
  if (files.size() != 1)
    return usage_error("a minidump is read alone, not together with other files");
  InputFile& file = files.front();
  ProblemLog problems;
  problems.merge(file.problems());
  Result<Minidump> dump = read_minidump(file.bytes(), file.name(), problems);
  if (!dump) return std::unexpected(dump.error());
  RecordCounts counts;
  for (const MinidumpStream& stream : dump->streams) ++counts[minidump_stream_name(stream.type)];
  CoreFile core = CoreFile::from_parts(std::move(dump->parts), file.bytes(), file.name());
  return std::unique_ptr<const Recording>(new CoreRecording(formats::minidump, std::move(file),
                                                            std::move(core), std::move(counts),
                                                            options, std::move(problems)));
}

std::unique_ptr<const Recording> CoreRecording::of_process(ProcessSnapshot snapshot,
                                                           const OpenOptions& options) {
  const std::string name = fmt::format("process {}", snapshot.parts.pid);
  const Bytes memory = snapshot.memory;
  std::unique_ptr<CoreRecording> recording(new CoreRecording(
      formats::core, InputFile::from_memory(name, memory),
      CoreFile::from_parts(std::move(snapshot.parts), memory, name), {}, options, ProblemLog()));
  recording->process_memory_ = std::move(snapshot.memory);  // the same bytes
  return recording;
}

Result<ProcessRecording> open_process(pid_t pid, const OpenOptions& options) {
  Result<ProcessSnapshot> snapshot = take_process_snapshot(pid);
  if (!snapshot) return std::unexpected(snapshot.error());
  const std::chrono::nanoseconds stopped = snapshot->stopped;
  return ProcessRecording{.recording = CoreRecording::of_process(*std::move(snapshot), options),
                          .stopped = stopped};
}

std::string CoreRecording::why_stopped() const {
  if (core_.signal() == 0) return {};
  const char* name = ::strsignal(core_.signal());
  return fmt::format("signal {} ({})", core_.signal(), name == nullptr ? "unknown" : name);
}

RecordingInfo CoreRecording::info(size_t /*workers*/, const CallFilter& filter) const {
  RecordingInfo info;
  info.format = format().name;
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
  for (const auto& [kind, count] : record_counts_) {
    info.records_by_kind.emplace_back(kind, count);
    info.records += count;
  }
  return info;
}

Result<CoreStacks> CoreRecording::open_stacks(PathGraphs& graphs, ProblemLog& problems) const {
  CoreStackOptions options;
  options.variables = variable_names();
  for (const std::string& text : options_.programs) {
    const Result<ProgramObject> object = parse_program_object(text);
    if (!object) return std::unexpected(object.error());
    const Result<InputFile> input = InputFile::open(object->path, options_.limits);
    if (!input) return std::unexpected(input.error());
    if (csi::looks_like_path_metadata(input->bytes())) {
      graphs.add(input->bytes(), input->name(), 0, {}, problems);
    } else {
      options.programs.push_back(object->path);
    }
  }
  return CoreStacks::open(core_, file_.name(), options, problems);
}

std::vector<ThreadPaths> CoreRecording::decode(const CoreStacks& stacks, PathGraphs& graphs,
                                               ProblemLog& problems) const {
  const auto modules = read_modules(stacks, core_.order(), graphs, problems);
  const FrameDecoder decoder(graphs, modules);
  std::vector<ThreadPaths> all;
  for (const ThreadStack& stack : stacks.threads()) {
    all.push_back({.pid = core_.pid(),
                   .tid = stack.tid,
                   .frames = decode_stack(stack, decoder),
                   .cut = stack.cut});
  }
  return all;
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths(ProblemLog& problems) const {
  PathGraphs graphs;
  const Result<CoreStacks> stacks = open_stacks(graphs, problems);
  if (!stacks) return std::unexpected(stacks.error());
  return decode(*stacks, graphs, problems);
}

Result<std::vector<FunctionCoverage>> CoreRecording::coverage(ProblemLog& problems) const {
  PathGraphs graphs;
  const Result<CoreStacks> stacks = open_stacks(graphs, problems);
  if (!stacks) return std::unexpected(stacks.error());
  const std::vector<ThreadPaths> threads = decode(*stacks, graphs, problems);
  return read_core_coverage(core_, file_.name(), *stacks, threads, problems);
}

}  // namespace telltale
