#include "output/flame/flame_data.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/function_map.h"
#include "output/escape.h"

namespace telltale {
namespace {

// Nodes are stored as columns, so that a hundred thousand of them parse quickly:
//   {units: {counted, measured, suffix}, trees: [{title, pruned: {nodes, self_ns, share}, depth:
//   [], function: [], calls: [], inside: [], total_ns: [], self_ns: []}...], functions: [[name,
//   file, line, module]...]}   (_bytes or _count in place of _ns: units.suffix)
// The root's function is -1.
class FlameData {
 public:
  FlameData(const Clock& clock, const FunctionNames& names, PageRoom& room, OutputFile& out)
      : clock_(clock), names_(names), room_(room), out_(out) {}

  Result<void> write(const FlameGraph& graph) {
    text_ = "{";
    units_ = graph.units;
    text_ += "\"units\":{\"counted\":";
    string(units_.counted);
    text_ += ",\"measured\":";
    string(units_.measured_name());
    text_ += ",\"suffix\":";
    string(units_.suffix);
    text_ += '}';
    if (graph.compared) {
      text_ += ",\"compared\":{\"before\":";
      string(graph.compared->before);
      text_ += ",\"after\":";
      string(graph.compared->after);
      text_ += '}';
    }
    text_ += ",\"trees\":[";
    bool first = true;
    for (const FlameGraph::Tree& tree : graph.trees) {
      if (!first) text_ += ',';
      first = false;
      if (const Result<void> written = write_tree(tree); !written) return written;
    }
    text_ += "],\"functions\":[";
    for (const FunctionId function : functions_) {
      if (function != functions_.front()) text_ += ',';
      write_function(names_.describe(function));
      if (const Result<void> written = flush(); !written) return written;
    }
    text_ += "]}";
    return flush();
  }

 private:
  Result<void> write_tree(const FlameGraph::Tree& named) {
    const FlameTree& tree = named.tree;
    text_ += "{\"title\":";
    string(named.title);
    text_ += ",\"pruned\":{\"nodes\":" + std::to_string(tree.pruned_nodes) + "," + key("self") +
             ":" + std::to_string(clock_.to_ns(tree.pruned_self)) +
             ",\"share\":" + std::to_string(tree.widest_pruned) + "}";
    column(tree.nodes, "depth", [](const FlameTree::Node& node) { return node.depth; });
    text_ += ",\"function\":[-1";
    for (size_t i = 1; i < tree.nodes.size(); ++i)
      text_ += "," + std::to_string(number(tree.nodes[i].function));
    text_ += ']';
    write_numbers(tree.nodes);
    if (!tree.before.empty()) {
      text_ += ",\"before\":{";
      write_numbers(tree.before);
      text_ += '}';
    }
    text_ += '}';
    return flush();
  }

  // FlameTree::Node or ::Numbers as columns.
  template <typename Numbers>
  void write_numbers(const std::vector<Numbers>& rows) {
    const std::string suffix(units_.suffix);
    column(rows, "calls", [](const Numbers& row) { return row.calls; });
    column(rows, "inside", [](const Numbers& row) { return row.calls_inside; });
    column(rows, "total_" + suffix, [this](const Numbers& row) { return clock_.to_ns(row.total); });
    column(rows, "self_" + suffix, [this](const Numbers& row) { return clock_.to_ns(row.self); });
  }

  [[nodiscard]] std::string key(std::string_view name) const {
    return "\"" + std::string(name) + "_" + std::string(units_.suffix) + "\"";
  }

  template <typename Row, typename Get>
  void column(const std::vector<Row>& rows, std::string_view name, Get get) {
    text_ += text_.back() == '{' ? "\"" : ",\"";
    text_ += name;
    text_ += "\":[";
    for (const Row& row : rows) {
      text_ += std::to_string(get(row));
      text_ += ',';
    }
    text_.back() = ']';
  }

  void write_function(const FunctionInfo& info) {
    text_ += '[';
    string(info.name);
    text_ += ',';
    string(info.file);
    text_ += "," + std::to_string(info.line) + ",";
    string(info.module);
    text_ += ']';
  }

  // The page shows it verbatim, so text that hides or reorders is made visible here.
  void string(std::string_view text) {
    text_ += '"';
    append_json_for_script(text_, room_.text(text));
    text_ += '"';
  }

  size_t number(FunctionId function) {
    size_t& known = numbers_[function];
    if (known == 0) {
      functions_.push_back(function);
      known = functions_.size();
    }
    return known - 1;
  }

  Result<void> flush() {
    const Result<void> written = out_.write(text_);
    text_.clear();
    return written;
  }

  const Clock& clock_;
  const FunctionNames& names_;
  PageRoom& room_;
  TreeUnits units_;
  OutputFile& out_;
  std::string text_;
  FunctionMap<size_t> numbers_;  // place in functions_, from 1
  std::vector<FunctionId> functions_;
};

}  // namespace

Result<void> write_calls_data(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, PageRoom& room, OutputFile& out) {
  return FlameData(clock, names, room, out).write(graph);
}

}  // namespace telltale
