#include "report/calls/flame_document.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/function_map.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "report/calls/call_fields.h"

namespace telltale {
namespace {

using field::list_of;
using field::number_id;
using field::object;
using field::rows;
using field::text;

constexpr std::array kFlameUnits = {
    text("counted", "What `calls` counts: calls, samples, alloc_objects, ..."),
    text("measured", "What total and self measure: time, alloc_space, ..."),
    text("suffix", "The ending of the keys of total and self: ns, bytes or count."),
};
// Of a key whose ending says its unit, one is there.
constexpr std::array kPruned = {
    number_id("nodes", "Paths that are left out."),
    field::ns("self_ns", "Time in them, not in callees.").sometimes(),
    field::bytes("self_bytes", "Bytes in them, not in callees.").sometimes(),
    field::count("self_count", "The measured count in them, not in callees.").sometimes(),
    field::fraction("share", "Share of the widest of them in the total."),
};
constexpr Field numbers(std::string_view key, Unit unit, std::string_view sentence) {
  Field column = list_of(key, ValueType::unsigned_integer, sentence);
  column.unit = unit;
  return column;
}
constexpr Field kBoxCalls =
    numbers("calls", Unit::count, "Of each box: calls along its path that ended.");
constexpr Field kInside =
    numbers("inside", Unit::count, "Of each box: calls of it and of all boxes in it.");
constexpr Field kTotalNs =
    numbers("total_ns", Unit::ns, "Of each box: time with its callees.").sometimes();
constexpr Field kTotalBytes =
    numbers("total_bytes", Unit::bytes, "Of each box: bytes with its callees.").sometimes();
constexpr Field kTotalCount =
    numbers("total_count", Unit::count, "Of each box: measured count with its callees.")
        .sometimes();
constexpr Field kSelfNs =
    numbers("self_ns", Unit::ns, "Of each box: time without its callees.").sometimes();
constexpr Field kSelfBytes =
    numbers("self_bytes", Unit::bytes, "Of each box: bytes without its callees.").sometimes();
constexpr Field kSelfCount =
    numbers("self_count", Unit::count, "Of each box: measured count without its callees.")
        .sometimes();
constexpr std::array kBoxNumbers = {kBoxCalls,   kInside, kTotalNs,   kTotalBytes,
                                    kTotalCount, kSelfNs, kSelfBytes, kSelfCount};
constexpr Field kTreeTitle = text("title", "all threads, or the thread's number.");
constexpr Field kPrunedField = object("pruned", kPruned, "Paths that are too narrow.");
constexpr Field kDepth =
    numbers("depth", Unit::none, "Of each box, depth first: callers above it; 0 for the root.");
constexpr Field kFunctionOfBox =
    list_of("function", ValueType::integer,
            "Of each box: place of its function in `functions`, from 0; -1 for the root.");
constexpr std::array kTree = {kTreeTitle,  kPrunedField, kDepth,     kFunctionOfBox,
                              kBoxCalls,   kInside,      kTotalNs,   kTotalBytes,
                              kTotalCount, kSelfNs,      kSelfBytes, kSelfCount};
constexpr std::array kComparedTree = {
    kTreeTitle,
    kPrunedField,
    kDepth,
    kFunctionOfBox,
    kBoxCalls,
    kInside,
    kTotalNs,
    kTotalBytes,
    kTotalCount,
    kSelfNs,
    kSelfBytes,
    kSelfCount,
    object("before", kBoxNumbers, "The same boxes in the first recording.")};
constexpr std::array kFlameFunctions = {
    reports::kFunction,
    text("file", "Its source file; empty if unknown."),
    number_id("line", "Its line; 0 if unknown."),
    text("module", "The program or library; empty if unknown."),
};
constexpr std::array kComparedFiles = {
    text("before", "The first recording."),
    text("after", "The second recording."),
};
constexpr Field kPageTitle = text("title", "Title of the page.");
constexpr std::array kFlameFact = {
    text("name", "What the fact is about: span, threads, ..."),
    text("value", "The fact, for people."),
};
constexpr Field kFacts = rows("facts", kFlameFact, "What the page tells about the recording.");
constexpr Field kUnitsField = object("units", kFlameUnits, "What is counted and measured.");
constexpr Field kFunctionsField = rows("functions", kFlameFunctions, "Functions of all trees.");
constexpr std::array kFlameMembers = {
    kPageTitle, kFacts, kUnitsField,
    rows("trees", kTree, "Trees, each with lists of equal length."), kFunctionsField};
constexpr std::array kFlameDiffMembers = {
    kPageTitle,
    kFacts,
    kUnitsField,
    object("compared", kComparedFiles, "What is compared."),
    rows("trees", kComparedTree, "Trees, each with lists of equal length."),
    kFunctionsField};

// Boxes are columns, so that a hundred thousand of them are parsed quickly.
class FlameDocument {
 public:
  FlameDocument(const FlameGraph& graph, const Clock& clock, const FunctionNames& names,
                OutputFile& out)
      : graph_(graph), clock_(clock), names_(names), out_(out) {}

  Result<void> write(std::string_view format, const ProblemLog& problems) {
    begin_document(json_, graph_.compared ? schemas::kFlameDiff : schemas::kFlame,
                   graph_.compared ? "" : format);
    json_.member("title", graph_.title).key("facts").begin_array();
    for (const auto& [name, value] : graph_.facts)
      json_.begin_object().member("name", name).member("value", value).end_object();
    json_.end_array().key("units").begin_object();
    json_.member("counted", graph_.units.counted).member("measured", graph_.units.measured_name());
    json_.member("suffix", graph_.units.suffix).end_object();
    if (graph_.compared) {
      json_.key("compared").begin_object().member("before", graph_.compared->before);
      json_.member("after", graph_.compared->after).end_object();
    }
    json_.key("trees").begin_array();
    for (const FlameGraph::Tree& tree : graph_.trees) {
      write_tree(tree);
      if (const Result<void> written = flush(); !written) return written;
    }
    json_.end_array().key("functions").begin_array();
    for (const FunctionId function : functions_) {
      const FunctionInfo info = names_.describe(function);
      json_.begin_object().member("function", info.name).member("file", info.file);
      json_.member("line", info.line).member("module", info.module).end_object();
    }
    json_.end_array();
    end_document(json_, problems);
    text_ += '\n';
    return flush();
  }

 private:
  void write_tree(const FlameGraph::Tree& named) {
    const FlameTree& tree = named.tree;
    json_.begin_object().member("title", named.title).key("pruned").begin_object();
    json_.member("nodes", tree.pruned_nodes).member(key("self"), clock_.to_ns(tree.pruned_self));
    json_.member("share", tree.widest_pruned).end_object();
    column(tree.nodes, "depth", [](const FlameTree::Node& node) { return node.depth; });
    json_.key("function").begin_array();
    for (const FlameTree::Node& node : tree.nodes)
      json_.value(&node == tree.nodes.data() ? int64_t{-1} : number(node.function));
    json_.end_array();
    write_numbers(tree.nodes);
    if (graph_.compared) {
      json_.key("before").begin_object();
      write_numbers(tree.before);
      json_.end_object();
    }
    json_.end_object();
  }

  // FlameTree::Node or ::Numbers as columns.
  template <typename Numbers>
  void write_numbers(const std::vector<Numbers>& boxes) {
    column(boxes, "calls", [](const Numbers& box) { return box.calls; });
    column(boxes, "inside", [](const Numbers& box) { return box.calls_inside; });
    column(boxes, key("total"), [this](const Numbers& box) { return clock_.to_ns(box.total); });
    column(boxes, key("self"), [this](const Numbers& box) { return clock_.to_ns(box.self); });
  }

  template <typename Box, typename Get>
  void column(const std::vector<Box>& boxes, std::string_view name, Get get) {
    json_.key(name).begin_array();
    for (const Box& box : boxes) json_.value(get(box));
    json_.end_array();
  }

  [[nodiscard]] std::string key(std::string_view name) const {
    return std::string(name).append("_").append(graph_.units.suffix);
  }

  // The function's place in `functions`.
  int64_t number(FunctionId function) {
    size_t& known = numbers_[function];
    if (known == 0) {
      functions_.push_back(function);
      known = functions_.size();
    }
    return static_cast<int64_t>(known) - 1;
  }

  Result<void> flush() {
    const Result<void> written = out_.write(text_);
    text_.clear();
    return written;
  }

  const FlameGraph& graph_;
  const Clock& clock_;
  const FunctionNames& names_;
  OutputFile& out_;
  std::string text_;
  JsonWriter json_{text_, 2};
  FunctionMap<size_t> numbers_;  // place in functions_, from 1
  std::vector<FunctionId> functions_;
};

}  // namespace

namespace schemas {
constinit const DocumentSchema kFlame{"flame", 1, "The content of a flame graph's page, as lists.",
                                      true, kFlameMembers};
constinit const DocumentSchema kFlameDiff{"flame-diff", 1, "The same of two recordings.", false,
                                          kFlameDiffMembers};
}  // namespace schemas

Result<void> write_flame_document(const FlameGraph& graph, const Clock& clock,
                                  const FunctionNames& names, std::string_view format,
                                  const ProblemLog& problems, OutputFile& out) {
  return FlameDocument(graph, clock, names, out).write(format, problems);
}

}  // namespace telltale
