#include "report/paths/control_flow_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "base/joined.h"
#include "formats/csi/path_metadata.h"
#include "formats/csi/path_records.h"
#include "formats/csi/wire.h"
#include "import/csi/function_graphs.h"
#include "output/escape.h"
#include "program/demangle.h"
#include "program/static_sections.h"

namespace telltale {
namespace {

using Block = ControlFlowGraph::Block;
using Edge = ControlFlowGraph::Edge;

void add_line(std::vector<uint32_t>& lines, uint32_t line) {
  if (line != 0 && (lines.empty() || lines.back() != line)) lines.push_back(line);
}

ControlFlowGraph graph_of(const csi::CoverageRecord& record) {
  ControlFlowGraph graph{.symbol = record.symbol, .copy_of = {}, .file = record.file, .blocks = {}};
  for (const csi::CoverageRecord::Block& from : record.blocks) {
    Block block;
    block.name = graph.blocks.empty() ? "entry" : fmt::format("{}", graph.blocks.size());
    block.exits = from.returns;
    for (const uint32_t to : from.successors) block.edges.push_back({.to = to, .numbers = {}});
    graph.blocks.push_back(std::move(block));
  }
  for (const auto& [block, scope, line, calls] : record.lines) {
    if (block < graph.blocks.size()) add_line(graph.blocks[block].lines, line);
  }
  return graph;
}

// Adds what a mechanism says of the blocks of a graph; all mechanisms have the same blocks.
void add_probes(const csi::CoverageRecord& record, ControlFlowGraph& graph) {
  if (record.blocks.size() != graph.blocks.size()) return;
  const auto label = [&](Block& block, uint32_t probe) {
    if (probe != csi::CoverageRecord::kNoProbe)
      block.labels.push_back(fmt::format("{}{}", record.mechanism, probe));
  };
  for (size_t i = 0; i < record.blocks.size(); ++i) label(graph.blocks[i], record.blocks[i].probe);
  for (const csi::CoverageRecord::Call& call : record.calls) {
    label(graph.blocks[call.block], call.probe);
    graph.blocks[call.block].callees.push_back(call.callee);
  }
}

ControlFlowGraph graph_of(const csi::PathMetadata& metadata, const csi::PathFunction& function) {
  ControlFlowGraph graph{
      .symbol = std::string(function.name), .copy_of = {}, .file = {}, .blocks = {}};
  const auto blocks = metadata.blocks(function);
  constexpr uint32_t kExit = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> index_of(blocks.size(), kExit);
  const auto add = [&](size_t i) {
    index_of[i] = static_cast<uint32_t>(graph.blocks.size());
    Block& block = graph.blocks.emplace_back();
    const bool is_entry = blocks[i].kind == csi::BlockKind::entry;
    block.name = is_entry ? "entry" : fmt::format("{}", blocks[i].id);
    for (const int64_t token : metadata.tokens(blocks[i])) {
      if (token > 0 && token <= std::numeric_limits<uint32_t>::max())
        add_line(block.lines, static_cast<uint32_t>(token));
    }
  };
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].kind == csi::BlockKind::entry) add(i);
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].kind == csi::BlockKind::plain) add(i);
  for (const csi::PathEdge& edge : metadata.edges(function)) {
    const uint32_t from = index_of[edge.from];
    if (from == kExit) continue;
    if (index_of[edge.to] == kExit) {
      graph.blocks[from].exits = true;
    } else {
      graph.blocks[from].edges.push_back({.to = index_of[edge.to],
                                          .is_back = edge.back,
                                          .numbers = std::pair{edge.increment, edge.weight}});
    }
  }
  return graph;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string join(const std::vector<uint32_t>& lines) { return joined(lines, " "); }

std::string full_name(const std::string& name, const std::string& copy_of) {
  return copy_of.empty() ? name : fmt::format("{} (copy of {})", name, copy_of);
}

class GraphmlWriter {
 public:
  explicit GraphmlWriter(const ByteSink& sink) : out_(sink) {}

  Result<void> write(const std::vector<ControlFlowGraph>& graphs) {
    out_.write(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    for (const char* const key :
         {"label", "kind", "syntax", "basic-block", "file", "procedure", "copy-of", "lines",
          "call-id", "call-name", "alocs-used", "alocs-defd", "alocs-mayd", "csi-label"})
      declare("node", key, std::string_view(key) == "kind" ? "declaration" : "");
    declare("edge", "type", "flow");
    declare("edge", "when", "true");
    declare("edge", "scope", "intraprocedural");
    for (const char* const key : {"increment", "weight", "back"}) declare("edge", key, "");
    out_.write(
        "  <key id=\"nature\" for=\"graph\" attr.name=\"nature\" attr.type=\"string\"/>\n"
        "  <graph id=\"CFG\" edgedefault=\"directed\">\n    <data key=\"nature\">CFG</data>\n");
    // The first of several functions of one name is taken for the callee.
    for (size_t i = 0; i < graphs.size(); ++i) number_of_.emplace(graphs[i].symbol, i);
    for (size_t i = 0; i < graphs.size(); ++i) write_function(graphs[i], i);
    out_.write("  </graph>\n</graphml>\n");
    return out_.finish();
  }

 private:
  static constexpr size_t kEntry = 1;
  static constexpr size_t kExit = 2;
  static constexpr size_t kFirstBlock = 3;

  void declare(std::string_view element, std::string_view key, std::string_view standard) {
    out_.write(fmt::format("  <key id=\"{0}\" for=\"{1}\" attr.name=\"{0}\" attr.type=\"string\"",
                           key, element));
    out_.write(standard.empty() ? std::string("/>\n")
                                : fmt::format("><default>{}</default></key>\n", standard));
  }
  static std::string id(size_t function, size_t node) {
    return fmt::format("n:-{}:{}", function + 1, node);
  }
  void data(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    std::string text;
    append_xml(text, value);
    out_.write(fmt::format("<data key=\"{}\">{}</data>", key, text));
  }
  void begin_edge(const std::string& from, const std::string& to) {
    out_.write(fmt::format("    <edge source=\"{}\" target=\"{}\">", from, to));
  }
  void end_edge() { out_.write("</edge>\n"); }

  void node(const ControlFlowGraph& graph, const std::string& name, std::string_view label,
            std::string_view kind, std::string_view block_name, const std::string& lines,
            const Block* block) {
    out_.write(fmt::format("    <node id=\"{}\">", name));
    data("label", label);
    data("kind", kind);
    data("basic-block", block_name);
    data("file", graph.file);
    data("procedure", graph.symbol);
    data("copy-of", graph.copy_of);
    data("lines", "( " + (lines.empty() ? "0" : lines) + " )");
    if (block != nullptr) {
      data("call-name", join(block->callees));
      data("csi-label", join(block->labels));
    }
    out_.write("</node>\n");
  }

  void write_function(const ControlFlowGraph& graph, size_t number) {
    const std::string first = graph.blocks.empty() || graph.blocks.front().lines.empty()
                                  ? ""
                                  : fmt::format("{}", graph.blocks.front().lines.front());
    const std::string name = full_name(graph.symbol, graph.copy_of);
    node(graph, id(number, kEntry), "entry: " + name, "entry", "function_entry", first, nullptr);
    node(graph, id(number, kExit), "exit: " + name, "exit", "function_exit", "", nullptr);
    for (size_t i = 0; i < graph.blocks.size(); ++i) {
      const Block& block = graph.blocks[i];
      node(graph, id(number, kFirstBlock + i), block.name,
           block.callees.empty() ? "expression" : "call-site", block.name, join(block.lines),
           &block);
    }
    if (!graph.blocks.empty()) {
      begin_edge(id(number, kEntry), id(number, kFirstBlock));
      end_edge();
    }
    for (size_t i = 0; i < graph.blocks.size(); ++i) write_edges(graph.blocks[i], number, i);
  }

  void write_edges(const Block& block, size_t function, size_t index) {
    const std::string from = id(function, kFirstBlock + index);
    for (const Edge& edge : block.edges) {
      begin_edge(from, id(function, kFirstBlock + edge.to));
      if (edge.numbers) {
        data("increment", fmt::format("{}", edge.numbers->first));
        data("weight", fmt::format("{}", edge.numbers->second));
      }
      if (edge.is_back) data("back", "true");
      end_edge();
    }
    if (block.exits) {
      begin_edge(from, id(function, kExit));
      end_edge();
    }
    for (const std::string& callee : block.callees) {
      const auto found = number_of_.find(callee);
      if (found == number_of_.end()) continue;
      begin_edge(from, id(found->second, kEntry));
      data("type", "control");
      data("scope", "interprocedural");
      end_edge();
    }
  }

  BlockWriter out_;
  std::unordered_map<std::string, size_t> number_of_;
};

void write_dot_function(const ControlFlowGraph& graph, size_t number, BlockWriter& out) {
  const auto quoted = [](std::string_view text) {
    std::string dot;
    append_dot(dot, text);
    return dot;
  };
  out.write(fmt::format("  subgraph cluster_{} {{\n    label={};\n", number,
                        quoted(full_name(demangle(graph.symbol), demangle(graph.copy_of)))));
  for (size_t i = 0; i < graph.blocks.size(); ++i) {
    const Block& block = graph.blocks[i];
    std::string label = block.name;
    if (!block.lines.empty()) label += fmt::format(": {}", join(block.lines));
    if (!block.labels.empty()) label += fmt::format(" [{}]", join(block.labels));
    out.write(fmt::format("    n{}_{} [label={}{}];\n", number, i, quoted(label),
                          block.exits ? ", peripheries=2" : ""));
  }
  for (size_t i = 0; i < graph.blocks.size(); ++i) {
    for (const Edge& edge : graph.blocks[i].edges) {
      std::string style = edge.is_back ? "style=dashed" : "";
      if (edge.numbers && (edge.numbers->first != 0 || edge.is_back))
        style += fmt::format("{}label=\"{}\"", style.empty() ? "" : ", ", edge.numbers->first);
      out.write(fmt::format("    n{0}_{1} -> n{0}_{2} [{3}];\n", number, i, edge.to, style));
    }
  }
  out.write("  }\n");
}

}  // namespace

Result<std::vector<ControlFlowGraph>> read_control_flow(Bytes file, const std::string& path,
                                                        ProblemLog& problems) {
  const Result<StaticSections> records =
      read_static_sections(file, path, csi::kRecordSection, problems);
  if (!records) return std::unexpected(records.error());
  std::vector<ControlFlowGraph> graphs;
  std::map<std::pair<std::string, std::string>, size_t> known;  // by symbol and file
  std::unordered_set<std::string> symbols;
  std::unordered_set<uint64_t> seen;
  SourcesOfCopies sources;
  for (const StaticSection& section : records->sections) {
    const csi::PathRecords read =
        csi::PathRecords::read(section.bytes, section.order, path, section.offset, problems);
    sources.add(read);
    for (const csi::CoverageRecord& record : read.coverage) {
      if (record.blocks.empty() || !seen.insert(record.key).second) continue;
      const auto [at, is_new] = known.try_emplace({record.symbol, record.file}, graphs.size());
      if (is_new) graphs.push_back(graph_of(record));
      symbols.insert(record.symbol);
      add_probes(record, graphs[at->second]);
    }
  }
  const Result<StaticSections> texts =
      read_static_sections(file, path, csi::kPathSection, problems);
  if (!texts) return std::unexpected(texts.error());
  for (const StaticSection& section : texts->sections) {
    const csi::PathMetadata metadata =
        csi::PathMetadata::read(section.bytes, path, section.offset, problems);
    for (const csi::PathFunction& function : metadata.functions()) {
      if (!symbols.contains(std::string(function.name)))
        graphs.push_back(graph_of(metadata, function));
    }
  }
  for (ControlFlowGraph& graph : graphs) graph.copy_of = sources.source_of(graph.symbol);
  return graphs;
}

Result<void> write_graphml(const std::vector<ControlFlowGraph>& graphs, const ByteSink& sink) {
  return GraphmlWriter(sink).write(graphs);
}

Result<void> write_dot(const std::vector<ControlFlowGraph>& graphs, const ByteSink& sink) {
  BlockWriter out(sink);
  out.write("digraph CFG {\n  node [shape=box];\n");
  for (size_t i = 0; i < graphs.size(); ++i) write_dot_function(graphs[i], i, out);
  out.write("}\n");
  return out.finish();
}

}  // namespace telltale
