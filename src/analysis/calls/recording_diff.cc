#include "analysis/calls/recording_diff.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "model/waiting.h"

namespace telltale {
namespace {

using Measures = RecordingDiff::Measures;
using PathRow = RecordingDiff::PathRow;

void add(Measures& to, uint64_t calls, uint64_t total_ns, uint64_t self_ns) {
  to.calls += calls;
  to.total_ns += total_ns;
  to.self_ns += self_ns;
}

// Adds one recording's functions to rows by name; functions with the same name are merged.
void add_functions(std::map<std::string, RecordingDiff::Row>& rows, const DiffSide& side,
                   const FunctionNames& shown, Measures RecordingDiff::Row::* which) {
  for (const FunctionProfile& function : side.profile.functions) {
    RecordingDiff::Row& row = rows[side.names.describe(function.function).name];
    row.name = shown.describe(function.function).name;
    add(row.*which, comparable_calls(function.function, function.calls),
        side.clock.to_ns(function.total), side.clock.to_ns(function.self));
  }
}

// Finds or makes the row of a path.
class PathIndex {
 public:
  explicit PathIndex(std::vector<PathRow>& rows) : rows_(rows) {}

  size_t row(size_t caller, const std::string& name, const std::string& shown) {
    const auto [found, is_new] = index_.try_emplace({caller, name}, rows_.size());
    if (is_new) {
      PathRow row;
      row.name = shown;
      row.caller = caller;
      row.depth = caller == PathRow::kNoRow ? 1 : rows_[caller].depth + 1;
      rows_.push_back(std::move(row));
    }
    return found->second;
  }

 private:
  std::vector<PathRow>& rows_;
  std::map<std::pair<size_t, std::string>, size_t> index_;
};

void add_paths(PathIndex& index, std::vector<PathRow>& rows, const DiffSide& side,
               const FunctionNames& shown, Measures RecordingDiff::Row::* which, Measures& whole) {
  std::vector<size_t> row_of_node(side.tree.nodes.size(), PathRow::kNoRow);
  for (size_t i = 0; i < side.tree.nodes.size(); ++i) {  // callers precede their callees
    const CallTree::Node& node = side.tree.nodes[i];
    if (node.depth == 0) {
      whole.total_ns += side.clock.to_ns(node.total);
      continue;
    }
    const size_t row = index.row(row_of_node[node.parent], side.names.describe(node.function).name,
                                 shown.describe(node.function).name);
    row_of_node[i] = row;
    const uint64_t calls = comparable_calls(node.function, node.calls);
    add(rows[row].*which, calls, side.clock.to_ns(node.total), side.clock.to_ns(node.self));
    whole.calls += calls;
    whole.self_ns += side.clock.to_ns(node.self);
  }
}

}  // namespace

RecordingDiff make_recording_diff(const DiffSide& before, const DiffSide& after, NameStyle style) {
  const StyledNames names_before(before.names, style);
  const StyledNames names_after(after.names, style);
  RecordingDiff diff;
  std::map<std::string, RecordingDiff::Row> functions;
  add_functions(functions, before, names_before, &RecordingDiff::Row::before);
  add_functions(functions, after, names_after, &RecordingDiff::Row::after);
  for (auto& [name, row] : functions) diff.functions.push_back(std::move(row));
  PathIndex index(diff.paths);
  add_paths(index, diff.paths, before, names_before, &RecordingDiff::Row::before, diff.before);
  add_paths(index, diff.paths, after, names_after, &RecordingDiff::Row::after, diff.after);
  return diff;
}

std::string path_text(const RecordingDiff& diff, size_t path, size_t max_frames) {
  std::vector<size_t> frames;  // innermost first
  size_t row = path;
  for (; row != PathRow::kNoRow && frames.size() < max_frames; row = diff.paths[row].caller) {
    frames.push_back(row);
  }
  std::string text;
  if (row != PathRow::kNoRow) text = fmt::format("... {} more > ", diff.paths[row].depth);
  for (size_t i = frames.size(); i-- != 0;) {
    text += diff.paths[frames[i]].name;
    if (i != 0) text += " > ";
  }
  return text;
}

}  // namespace telltale
