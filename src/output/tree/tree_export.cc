#include "output/tree/tree_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/calls/call_graph.h"
#include "base/counted.h"
#include "base/sort_rows.h"
#include "model/thread_text.h"
#include "model/waiting.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/table.h"

namespace telltale {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;

std::string thread_title(const CallTree::Root& root) {
  std::string title = fmt::format("thread {}", root.thread.tid);
  if (!root.thread_name.empty()) title += " " + root.thread_name;
  if (!root.process_name.empty())
    title += fmt::format(" of {} {}", root.process_name, process_text(root.thread));
  return title;
}

Result<void> flush(std::string& text, OutputFile& out) {
  const Result<void> written = out.write(text);
  text.clear();
  return written;
}

// Functions in order of first use.
class Numbers {
 public:
  size_t operator()(FunctionId function) {
    const auto [place, fresh] = numbers_.try_emplace(function, order_.size());
    if (fresh) order_.push_back(function);
    return place->second;
  }
  [[nodiscard]] const std::vector<FunctionId>& order() const { return order_; }

 private:
  std::map<FunctionId, size_t> numbers_;
  std::vector<FunctionId> order_;
};

std::string position(const FunctionInfo& info) {
  return info.file.empty() ? std::string("???") : visible(info.file);
}

}  // namespace

std::string estimate_remark(const CallTree& tree) {
  if (tree.estimated == 0) return "";
  return fmt::format("{} starts and ends of calls have estimated times (a sparse clock, or --net)",
                     tree.estimated);
}

Result<void> write_folded(const CallTree& tree, const ExportContext& context, OutputFile& out,
                          StackMeasure measure, bool name_lone_thread) {
  const auto value = [&](const CallTree::Node& node) {
    if (measure == StackMeasure::calls) return comparable_calls(node.function, node.calls);
    return context.clock.to_ns(measure == StackMeasure::self ? node.self : node.total);
  };
  const bool by_thread = tree.roots.size() > 1 || name_lone_thread;
  std::string path;
  std::vector<size_t> ends;  // of the path's text, by depth
  std::string text;
  size_t root = 0;
  for (const CallTree::Node& node : tree.nodes) {
    if (node.depth == 0) {
      path.clear();
      if (by_thread) append_folded(path, thread_title(tree.roots[root]));
      ++root;
      ends.assign(1, path.size());
      continue;
    }
    ends.resize(node.depth);
    path.resize(ends.back());
    if (!path.empty()) path += ';';
    append_folded(path, context.functions.describe(node.function).name);
    ends.push_back(path.size());
    const uint64_t amount = value(node);
    if (amount != 0) text += path + ' ' + std::to_string(amount) + '\n';
    if (text.size() < kFlushBytes) continue;
    if (const Result<void> written = flush(text, out); !written) return written;
  }
  return flush(text, out);
}

// A root's nodes, callers before their callees, of one caller's callees the widest first.
std::vector<size_t> widest_first(const CallTree& tree, const CallTree::Root& root) {
  std::vector<size_t> order;
  std::vector<size_t> to_place = {root.node};  // the next on top
  std::vector<size_t> callees;
  while (!to_place.empty()) {
    const size_t node = to_place.back();
    to_place.pop_back();
    order.push_back(node);
    callees.clear();
    for (size_t i = node + 1; i < tree.nodes[node].end; i = tree.nodes[i].end) callees.push_back(i);
    std::ranges::reverse(callees);  // the last of equals ends up on top of the first
    sort_rows(callees, {}, [&](size_t i) { return tree.nodes[i].total; });
    to_place.insert(to_place.end(), callees.begin(), callees.end());
  }
  return order;
}

Result<void> write_speedscope(const CallTree& tree, const ExportContext& context, OutputFile& out) {
  std::string text;
  JsonWriter json(text);
  Numbers frames;
  json.begin_object();
  json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("exporter", "telltale").member("activeProfileIndex", 0);
  if (tree.estimated != 0) json.member("name", estimate_remark(tree));
  json.key("profiles").begin_array();
  for (const CallTree::Root& root : tree.roots) {
    json.begin_object().member("type", "sampled").member("name", thread_title(root));
    json.member("unit", context.units.unit == "count" ? "none" : context.units.unit);
    json.member("startValue", 0).key("samples").begin_array();
    std::vector<size_t> path;
    std::vector<uint64_t> weights;
    uint64_t total = 0;
    for (const size_t i : widest_first(tree, root)) {
      const CallTree::Node& node = tree.nodes[i];
      if (node.depth == 0) continue;
      path.resize(node.depth - 1);
      path.push_back(frames(node.function));
      const uint64_t ns = context.clock.to_ns(node.self);
      if (ns == 0) continue;
      weights.push_back(ns);
      total += ns;
      json.begin_array();
      for (const size_t frame : path) json.value(frame);
      json.end_array();
      if (text.size() < kFlushBytes) continue;
      if (const Result<void> written = flush(text, out); !written) return written;
    }
    json.end_array().key("weights").begin_array();
    for (const uint64_t weight : weights) json.value(weight);
    json.end_array().member("endValue", total).end_object();
  }
  json.end_array().key("shared").begin_object().key("frames").begin_array();
  for (const FunctionId function : frames.order()) {
    const FunctionInfo& info = context.functions.describe(function);
    json.begin_object().member("name", info.name);
    if (!info.file.empty()) json.member("file", info.file);
    if (info.line != 0) json.member("line", info.line);
    json.end_object();
  }
  json.end_array().end_object().end_object();
  text += '\n';
  return flush(text, out);
}

Result<void> write_callgrind(const CallTree& tree, const ExportContext& context, OutputFile& out) {
  const CallGraph graph = make_call_graph(tree);
  const auto ns = [&context](Ticks ticks) { return context.clock.to_ns(ticks); };
  std::string text = "# callgrind format\nversion: 1\ncreator: telltale\npositions: line\n";
  if (context.units.measured == "wall") {
    text += "event: Ns : wall-clock nanoseconds\nevents: Ns\n";
  } else {
    text += fmt::format("event: {0} : {0}, {1}\nevents: {0}\n", context.units.measured,
                        context.units.unit);
  }
  if (tree.estimated != 0) text += "desc: Times: " + estimate_remark(tree) + "\n";
  uint64_t sum = 0;
  for (const CallGraph::Function& function : graph.functions) sum += ns(function.self);
  text += fmt::format("summary: {}\n", sum);
  // Writes each name once and refers to it by number afterwards.
  std::vector<bool> named(graph.functions.size());
  std::map<std::string, size_t> files;
  const auto file_reference = [&](const FunctionInfo& info) {
    const auto [place, fresh] = files.try_emplace(position(info), files.size() + 1);
    return fresh ? fmt::format("({}) {}", place->second, place->first)
                 : fmt::format("({})", place->second);
  };
  const auto reference = [&](size_t number, const FunctionInfo& info) {
    if (named[number]) return fmt::format("({})", number + 1);
    named[number] = true;
    return fmt::format("({}) {}", number + 1, visible(info.name));
  };
  size_t edge = 0;
  for (size_t number = 0; number < graph.functions.size(); ++number) {
    const CallGraph::Function& function = graph.functions[number];
    const FunctionInfo& info = context.functions.describe(function.function);
    text += "\nfl=" + file_reference(info) + "\nfn=" + reference(number, info) + "\n";
    text += fmt::format("{} {}\n", info.line, ns(function.self));
    for (; edge < graph.edges.size() && graph.edges[edge].caller == number; ++edge) {
      const CallGraph::Edge& call = graph.edges[edge];
      const FunctionInfo& callee =
          context.functions.describe(graph.functions[call.callee].function);
      text += "cfi=" + file_reference(callee) + "\ncfn=" + reference(call.callee, callee) + "\n";
      text +=
          fmt::format("calls={} {}\n{} {}\n", call.calls, callee.line, info.line, ns(call.total));
    }
  }
  text += fmt::format("\ntotals: {}\n", sum);
  return flush(text, out);
}

Result<void> write_dot(const CallTree& tree, const ExportContext& context, OutputFile& out,
                       double min_share) {
  CallGraph graph = make_call_graph(tree);
  const PrunedGraph pruned = prune_call_graph(graph, min_share);
  const double all = graph.total == 0 ? 1 : static_cast<double>(graph.total);
  const auto show = [&context](Ticks ticks) {
    return context.units.show(static_cast<double>(context.clock.to_ns(ticks)));
  };
  std::string text = "digraph calls {\n";
  std::string title = estimate_remark(tree);
  if (pruned.functions + pruned.edges != 0) {
    if (!title.empty()) title += "; ";
    title += fmt::format("omitted: {} and {} with less than {:.4g} % of the {} and of the {}",
                         counted(pruned.functions, "function"), counted(pruned.edges, "edge"),
                         100 * min_share, context.units.is_time() ? "time" : context.units.measured,
                         context.units.counted);
  }
  if (!title.empty()) text += "  label=\"" + title + "\";\n";
  text += "  node [shape=box, fontname=\"sans-serif\"];\n";
  for (size_t number = 0; number < graph.functions.size(); ++number) {
    const CallGraph::Function& function = graph.functions[number];
    const FunctionInfo& info = context.functions.describe(function.function);
    text += fmt::format("  f{} [label=", number);
    append_dot(text, info.name);
    text += fmt::format(
        ", tooltip=\"{0} {6}, self {1}, total {2}\", {6}=\"{0}\", self_{5}=\"{3}\", "
        "total_{5}=\"{4}\"",
        function.calls, show(function.self), show(function.total),
        context.clock.to_ns(function.self), context.clock.to_ns(function.total),
        context.units.suffix, context.units.counted);
    if (!info.file.empty()) {
      text += ", file=";
      append_dot(text, info.file);
      text += fmt::format(", line=\"{}\"", info.line);
    }
    text += "];\n";
  }
  for (const CallGraph::Edge& edge : graph.edges) {
    text += fmt::format("  f{} -> f{} [label=\"{}\", penwidth=\"{:.2f}\", total_{}=\"{}\"];\n",
                        edge.caller, edge.callee, edge.calls,
                        0.5 + 6 * static_cast<double>(edge.total) / all, context.units.suffix,
                        context.clock.to_ns(edge.total));
  }
  text += "}\n";
  return flush(text, out);
}

bool is_tree_export(ExportFormat format) {
  return format == ExportFormat::speedscope || format == ExportFormat::pprof ||
         format == ExportFormat::folded || format == ExportFormat::callgrind ||
         format == ExportFormat::dot;
}

Result<void> write_tree_export(const CallTree& tree, const ExportContext& context,
                               std::span<const LiveType> live, ExportFormat format,
                               OutputFile& out) {
  switch (format) {
    case ExportFormat::speedscope:
      return write_speedscope(tree, context, out);
    case ExportFormat::pprof:
      return write_pprof(tree, context, out, live);
    case ExportFormat::folded:
      return write_folded(tree, context, out);
    case ExportFormat::callgrind:
      return write_callgrind(tree, context, out);
    default:
      return write_dot(tree, context, out, kDrawnShare);
  }
}

}  // namespace telltale
