#include "import/csi/frame_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include "base/system_library.h"
#include "formats/csi/wire.h"
#include "program/demangle.h"

namespace telltale {
namespace {

constexpr auto kRecordNames =
    std::to_array<csi::VariableNames>({csi::kVariableNames, csi::kLegacyVariableNames});

const StackVariable* find_variable(const StackFrame& frame, std::string_view name) {
  const auto found = std::ranges::find(frame.variables, name, &StackVariable::name);
  return found == frame.variables.end() ? nullptr : &*found;
}

bool has_record(const StackFrame& frame) {
  return !std::ranges::all_of(frame.variables, is_coverage_flags);
}

// What a function's record consists of.
struct RecordParts {
  bool ring = true;  // otherwise it is the path sum alone
  bool sum = true;   // otherwise the ring has it
};

// The record, or why there is none.
std::expected<PathRecord, std::string> read_record(const StackFrame& frame, RecordParts parts) {
  for (const csi::VariableNames& names : kRecordNames) {
    const std::array<const StackVariable*, 3> variables = {find_variable(frame, names.array),
                                                           find_variable(frame, names.index),
                                                           find_variable(frame, names.sum)};
    if (std::ranges::count(variables, nullptr) == 3) continue;
    const std::array<std::string_view, 3> wanted = {names.array, names.index, names.sum};
    const bool lacks_ring = !parts.ring && variables[0] == nullptr && variables[1] == nullptr;
    const bool lacks_sum = !parts.sum && variables[2] == nullptr;
    for (size_t i = lacks_ring ? 2 : 0; i < (lacks_sum ? 2 : variables.size()); ++i) {
      if (variables[i] == nullptr)
        return std::unexpected(fmt::format("the variable {} is missing", wanted[i]));
      if (!variables[i]->missing.empty()) {
        return std::unexpected(
            fmt::format("{} cannot be read: {}", wanted[i], variables[i]->missing));
      }
    }
    if ((!lacks_ring && variables[1]->values.size() != 1) ||
        (!lacks_sum && variables[2]->values.size() != 1))
      return std::unexpected("the index of the ring or the path sum is an array");
    PathRecord record{.ring = {}, .next = 0, .sum = lacks_sum ? 0 : variables[2]->values[0]};
    if (!lacks_ring) {
      record.ring = variables[0]->values;
      record.next = static_cast<uint64_t>(variables[1]->values[0]);
    }
    return record;
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

Decoded decode_by_line(const Graph& graph, PathRecord record, bool interrupted,
                       std::span<const uint32_t> lines) {
  Decoded decoded{.graph = graph, .history = {}, .found_by = Decoded::FoundBy::line};
  // Unoptimised code sets the record before anything else.
  record.is_set = !interrupted && !graph->sets_late && !graph->calls_setjmp;
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
  if (graph.prefixes) return record;
  const int64_t newest = record.ring[(record.next + size - 1) % size];
  const auto path = newest < 0 ? std::nullopt : graph.numbers.path(static_cast<uint64_t>(newest));
  if (!path || path->edges.empty()) return record;
  const PathEdge& end = graph.numbers.edges()[path->edges.back()];
  record.sum = end.is_back ? static_cast<int64_t>(end.increment) : 0;
  return record;
}

// Whether a decoded frame is beyond its entry block, where the flags are cleared.
bool has_left_entry(const FramePaths& frame) {
  return frame.decoded.size() == 1 &&
         frame.decoded.front().found_by == FramePaths::Decoded::FoundBy::position &&
         std::ranges::all_of(frame.decoded.front().history.readings,
                             [](const auto& reading) {
                               return !reading.partial.empty() &&
                                      reading.partial.back() != kEntryNode;
                             }) &&
         !frame.decoded.front().history.readings.empty();
}

// The optimiser merges identical calls on several lines into one call with line 0, and DWARF then
// gives the frame no file either. Takes the file from the function, and the line from the last
// block before the one with the call: lines of the call's own block may follow the call.
// `is_returning`: the frame is in the stack protector's check, after all lines of the block.
void place_by_path(bool is_returning, FramePaths& frame) {
  if (!frame.file.empty() || frame.decoded.size() != 1) return;
  const PathGraph& graph = *frame.decoded.front().graph;
  if (graph.scopes.empty()) return;
  frame.file = graph.scopes.front().file;
  const PathHistory& history = frame.decoded.front().history;
  if (frame.line != 0 || history.readings.size() != 1) return;
  const auto is_own = [](const PathGraph::Place& place) {
    return place.scope == 0 && place.line != 0;
  };
  const auto look_in = [&](std::span<const uint32_t> blocks) {
    for (size_t i = blocks.size(); i-- > 0 && frame.line == 0;) {
      const auto& places = graph.blocks[blocks[i]].places;
      const auto last = std::find_if(places.rbegin(), places.rend(), is_own);
      if (last != places.rend()) frame.line = last->line;
    }
  };
  const PathHistory::Reading& reading = history.readings.front();
  const auto& partial = reading.partial;
  const size_t end = is_returning || partial.empty() ? partial.size() : partial.size() - 1;
  look_in(std::span(partial).first(end));
  // The block may be the first of its path.
  for (size_t i = reading.completed; i-- > 0 && frame.line == 0;)
    look_in(history.completed[i].blocks);
  frame.is_line_before = frame.line != 0 && !is_returning;
  if (!frame.innermost_file.empty()) return;
  frame.innermost_file = frame.file;
  frame.innermost_line = frame.line;
}

constexpr std::string_view kInlined = "it was inlined before path tracing";

// Functions that were inlined before path tracing: where their lines are.
void name_functions_around(std::vector<FramePaths>& frames) {
  const FramePaths* around = nullptr;
  for (size_t i = frames.size(); i-- > 0;) {
    FramePaths& frame = frames[i];
    if (frame.inlined && frame.untraced == kInlined && around != nullptr) {
      frame.untraced += around->decoded.empty()
                            ? ", and the function around it has no paths: "
                            : ": its lines are in the paths of the function around it, ";
      frame.untraced += around->function;
    } else {
      around = &frame;
    }
  }
}

// Joins the frames of stacks with the graphs of their functions.
class FrameDecoder {
 public:
  FrameDecoder(const PathGraphs& graphs, const std::map<std::string, ModulePaths>& modules)
      : graphs_(graphs), modules_(modules) {}

  // `inner`: the functions without records of their own that are inlined at this place.
  FramePaths decode_frame(const StackFrame& frame, std::span<const StackFrame> inner) const {
    FramePaths paths;
    paths.linkage_name = linkage_name_of(frame);
    const bool is_part = !frame.inlined && !paths.linkage_name.empty() &&
                         frame.symbol.starts_with(paths.linkage_name + ".");
    paths.symbol = is_part ? frame.symbol : paths.linkage_name;
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
    paths.may_lack_caller = frame.may_lack_caller && !frame.inlined;
    paths.place = place_of(frame);
    const auto& graphs = graphs_of(frame);
    if (!has_record(frame) && decode_without_record(frame, inner, graphs, paths)) return paths;
    const auto record = read_record(frame, parts_of(graphs));
    if (!record || graphs.empty()) {
      // Which variables a record consists of is known from the metadata.
      const bool lacks_metadata = record.has_value() || (graphs.empty() && has_record(frame));
      paths.untraced = lacks_metadata ? "its path metadata are missing" : record.error();
      if (!has_record(frame) && (graphs.empty() || frame.inlined))
        paths.untraced = why_not_traced(frame);
      return paths;
    }
    if (const std::string why = why_not_its_ring(*record, graphs); !why.empty()) {
      paths.untraced = why;
      return paths;
    }
    if (auto exact = decode_by_position(frame, *record)) {
      paths.decoded.push_back(*std::move(exact));
      return paths;
    }
    const std::vector<uint32_t> lines = lines_of(frame, inner);
    for (const Graph& graph : graphs)
      paths.decoded.push_back(decode_by_line(graph, *record, frame.interrupted, lines));
    keep_fitting(paths.decoded);
    return paths;
  }

 private:
  // Of copies, the name of the function that they are copies of, which has no debug information if
  // the compiler wrote it anew.
  [[nodiscard]] std::string linkage_name_of(const StackFrame& frame) const {
    if (const ModulePaths* module = module_of(frame)) {
      const auto source = module->sources.find(frame.symbol);
      if (source != module->sources.end()) return source->second;
    }
    return frame.linkage_name.empty() ? frame.symbol : frame.linkage_name;
  }

  // Decodes a frame of a function that needs no variables. Returns false if it is of none.
  bool decode_without_record(const StackFrame& frame, std::span<const StackFrame> inner,
                             const std::vector<Graph>& graphs, FramePaths& paths) const {
    std::vector<Graph> possible;
    std::ranges::copy_if(graphs, std::back_inserter(possible),
                         [](const Graph& graph) { return !graph->has_record(); });
    if (possible.empty()) return false;
    auto exact = decode_by_position(frame, {});
    if (exact && !exact->graph->has_record()) {
      paths.decoded.push_back(*std::move(exact));
      return true;
    }
    // If it was inlined, its blocks are those of the function around it, unless positions say else.
    if (frame.inlined || exact) return false;
    for (const Graph& graph : possible)
      paths.decoded.push_back(decode_by_line(graph, {}, frame.interrupted, lines_of(frame, inner)));
    keep_fitting(paths.decoded);
    return true;
  }

  // The lines that tell the block of the frame, which positions do not.
  [[nodiscard]] std::vector<uint32_t> lines_of(const StackFrame& frame,
                                               std::span<const StackFrame> inner) const {
    std::vector<uint32_t> lines;
    if (lacks_position(frame)) return lines;
    if (frame.line != 0) lines.push_back(frame.line);
    for (const StackFrame& each : inner)
      if (each.line != 0) lines.push_back(each.line);
    return lines;
  }

  [[nodiscard]] const ModulePaths* module_of(const StackFrame& frame) const {
    const auto found = modules_.find(frame.module);
    return found == modules_.end() ? nullptr : &found->second;
  }

  // Whether the function has positions, but none holds here: the code is of several blocks, or of
  // none, as a reload that was moved between two. Its line may be another block's.
  [[nodiscard]] bool lacks_position(const StackFrame& frame) const {
    const ModulePaths* module = module_of(frame);
    if (module == nullptr || frame.function_begin == 0) return false;
    const PathPositions& positions = module->positions;
    return positions.has_function(frame.function_begin, frame.function_end) &&
           positions.find(frame.address, frame.function_begin, frame.function_end).place ==
               PathPositions::Place::unknown;
  }

  // Of another build, its numbers would say something else. Empty: the ring may be of one of them.
  static std::string why_not_its_ring(const PathRecord& record, const std::vector<Graph>& graphs) {
    const auto fits = [&](const Graph& graph) {
      return graph->ring_size == 0 || graph->ring_size == record.ring.size();
    };
    if (record.ring.empty() || std::ranges::any_of(graphs, fits)) return {};
    return fmt::format("its ring has {} numbers, and that of the program {}: it is another build",
                       record.ring.size(), graphs.front()->ring_size);
  }

  // None: the function has path tracing, or no positions.
  [[nodiscard]] std::optional<FramePaths::Place> place_of(const StackFrame& frame) const {
    const ModulePaths* module = module_of(frame);
    if (module == nullptr || frame.function_begin == 0 || frame.inlined) return std::nullopt;
    const PathPositions::Found found =
        module->positions.find(frame.address, frame.function_begin, frame.function_end);
    if (found.place == PathPositions::Place::unknown || module->graphs.contains(found.position.key))
      return std::nullopt;
    const bool is_before = found.place == PathPositions::Place::before_body;
    return FramePaths::Place{found.position.key, is_before ? 0 : found.position.block};
  }

  // What all functions of a name have.
  static RecordParts parts_of(const std::vector<Graph>& graphs) {
    const auto has_ring = [](const Graph& graph) { return graph->has_ring(); };
    const auto has_sum = [](const Graph& graph) { return !graph->prefixes || !graph->has_ring(); };
    return {.ring = graphs.empty() || std::ranges::any_of(graphs, has_ring),
            .sum = graphs.empty() || std::ranges::all_of(graphs, has_sum)};
  }

  // Variants of a function have a symbol of their own.
  [[nodiscard]] const std::vector<Graph>& graphs_of(const StackFrame& frame) const {
    const auto& by_symbol = graphs_.find(frame.symbol);
    return by_symbol.empty() ? graphs_.find(frame.linkage_name) : by_symbol;
  }

  [[nodiscard]] std::string why_not_traced(const StackFrame& frame) const {
    if (frame.inlined && modules_.contains(frame.module)) return std::string(kInlined);
    if (const ModulePaths* module = module_of(frame)) {
      for (const std::string& name : {frame.symbol, frame.linkage_name}) {
        const auto found = module->skipped.find(name);
        if (found != module->skipped.end()) return "path tracing excluded it: " + found->second;
      }
    }
    if (is_system_library(frame.module)) return "it is in a library of the system";
    if (!frame.missing_module.empty())
      return frame.missing_module + " was not found; use --program";
    if (frame.module.empty()) return "no program was found that has code there";
    // A stripped program has neither metadata nor lines.
    if (module_of(frame) == nullptr && frame.line == 0)
      return "it was built without path tracing, or stripped";
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

}  // namespace

std::vector<std::string> path_variable_names() {
  std::vector<std::string> names;
  for (const csi::VariableNames& each : kRecordNames)
    for (const char* name : {each.array, each.index, each.sum}) names.emplace_back(name);
  return names;
}

namespace {

// What a program says of the frame of its function; null: nothing, or not clearly.
const csi::PathFrameRecord* frame_record(const ModulePaths& paths, const StackFrame& frame) {
  if (frame.function_begin == 0) return nullptr;
  const PathPositions::Found at =
      paths.positions.find(frame.address, frame.function_begin, frame.function_end);
  const bool knows_key = at.place != PathPositions::Place::unknown;
  const csi::PathFrameRecord* found = nullptr;
  for (auto record = std::ranges::lower_bound(paths.frames, frame.function_begin, {},
                                              &csi::PathFrameRecord::address);
       record != paths.frames.end() && record->address < frame.function_end; ++record) {
    if (knows_key && record->key != at.position.key) continue;
    // A function that was inlined by the linker has its own variables in the frame.
    if (found != nullptr) return nullptr;
    found = &*record;
  }
  return found;
}

}  // namespace

std::vector<PlacedVariable> find_record(const StackFrame& frame,
                                        const std::map<std::string, ModulePaths>& modules) {
  const auto module = modules.find(frame.module);
  if (module == modules.end()) return {};
  const ModulePaths& paths = module->second;
  const csi::PathFrameRecord* const found = frame_record(paths, frame);
  if (found == nullptr) return {};
  const auto size = paths.ring_sizes.find(found->key);
  if (size == paths.ring_sizes.end()) return {};
  std::vector<PlacedVariable> variables;
  const auto add = [&](const char* name, const std::string& text, uint64_t elements) {
    const auto operand = csi::parse_frame_operand(text);
    if (operand)
      variables.push_back({.name = name,
                           .elements = elements,
                           .base = operand->base,
                           .offset = operand->offset,
                           .address = found->address});
  };
  if (size->second != 0) {
    add(csi::kVariableNames.array, found->array, size->second);
    add(csi::kVariableNames.index, found->index, 1);
  }
  add(csi::kVariableNames.sum, found->sum, 1);
  return variables;
}

void name_frames(ThreadStack& stack, const std::map<std::string, ModulePaths>& modules) {
  for (StackFrame& frame : stack.frames) {
    const auto module = modules.find(frame.module);
    if (!frame.symbol.empty() || !frame.linkage_name.empty() || module == modules.end()) continue;
    const csi::PathFrameRecord* const record = frame_record(module->second, frame);
    if (record == nullptr) continue;
    const auto graph = module->second.graphs.find(record->key);
    if (graph != module->second.graphs.end()) frame.symbol = graph->second->symbol;
  }
}

std::vector<FramePaths> decode_stack(const ThreadStack& stack, const PathGraphs& graphs,
                                     const std::map<std::string, ModulePaths>& modules,
                                     FrameFlags& flags) {
  const FrameDecoder decoder(graphs, modules);
  std::vector<FramePaths> decoded;
  // Where the functions begin that are inlined at the frame's place and have no record.
  size_t first_inner = 0;
  bool was_called = false;  // the machine's frame is in a call: its flags are cleared
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const StackFrame& frame = stack.frames[i];
    const bool same_place = i != 0 && stack.frames[i - 1].inlined;
    if (!same_place || has_record(stack.frames[i - 1]) || !decoded.back().decoded.empty())
      first_inner = i;
    decoded.push_back(
        decoder.decode_frame(frame, std::span(stack.frames).subspan(first_inner, i - first_inner)));
    decoded.back().number = i;
    place_by_path(i != 0 && stack.frames[i - 1].symbol == "__stack_chk_fail", decoded.back());
    if (!same_place) was_called = !frame.interrupted;
    const auto module = modules.find(frame.module);
    if (module != modules.end() && (was_called || has_left_entry(decoded.back())))
      decoded.back().lines = flags.lines_of(module->second.coverage, frame);
  }
  name_functions_around(decoded);
  return decoded;
}

}  // namespace telltale
