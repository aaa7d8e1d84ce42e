#include "report/calls/path_table.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "output/escape.h"
#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::bytes;
using field::count;
using field::ns;
using field::number_id;
using field::text;
using reports::kPid;
using reports::kTid;

// One of those that count, one total and one self: the measure decides which.
constexpr std::array kPathColumns = {
    kPid.sometimes(),
    reports::kProcessNumber,
    kTid.sometimes(),
    number_id("depth", "Frames of the path."),
    count("calls", "Calls along the path.").sometimes(),
    count("alloc_objects", "Objects allocated along the path.").sometimes(),
    count("samples", "Samples along the path.").sometimes(),
    count("throws", "Exceptions thrown along the path.").sometimes(),
    count("contentions", "Contentions along the path.").sometimes(),
    count("inuse_objects", "Live objects that the path keeps.").sometimes(),
    ns("total_ns", "Time on the path and below it.").sometimes(),
    ns("self_ns", "Time of the path's last frame alone.").sometimes(),
    bytes("total_bytes", "Bytes of the path and what is below it.").sometimes(),
    bytes("self_bytes", "Bytes of the path's last frame alone.").sometimes(),
    count("total_count", "Number for the path and what is below it.").sometimes(),
    count("self_count", "Number for the path's last frame alone.").sometimes(),
    text("stack",
         "Frames from the outermost, separated by semicolons, escaped as in folded stacks."),
};
constexpr std::array kPathMembers = {
    field::rows("rows", kPathColumns, "A row for each path of calls.")};

// The declared columns, without all that count or measure but these three.
TableSchema columns_of(const CallTree& tree, size_t counted, size_t total, size_t self,
                       bool by_thread) {
  TableSchema schema(kPathColumns);
  if (by_thread) {
    schema = reports::with_process_number(std::move(schema), tree.roots, &CallTree::Root::thread);
  } else {
    schema.leave_out({"pid", "process_number", "tid"});
  }
  const size_t end = schema.column("stack");
  for (size_t i = schema.column("depth") + 1; i < end; ++i)
    if (i != counted && i != total && i != self) schema.leave_out({kPathColumns[i].key});
  return schema;
}

}  // namespace

Table path_table(const CallTree& tree, const ExportContext& context, bool by_thread) {
  const TableSchema all(kPathColumns);
  const size_t counted = all.column(context.units.counted);
  const size_t total = all.column(fmt::format("total_{}", context.units.suffix));
  const size_t self = all.column(fmt::format("self_{}", context.units.suffix));
  Table table(columns_of(tree, counted, total, self, by_thread));
  std::array<TableCell, kPathColumns.size()> cells;
  std::string path;
  std::vector<size_t> ends;  // of the path's text, by depth
  size_t root = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallTree::Node& node = tree.nodes[i];
    if (node.depth == 0) {
      if (i != 0) ++root;
      ends.assign(1, 0);
      continue;
    }
    ends.resize(node.depth);
    path.resize(ends.back());
    if (!path.empty()) path += ';';
    append_folded(path, context.functions.describe(node.function).name);
    ends.push_back(path.size());
    const ThreadKey& thread = tree.roots[root].thread;
    cells[0] = thread.pid;
    cells[1] = reports::process_number_cell(thread);
    cells[2] = thread.tid;
    cells[3] = uint64_t{node.depth};
    cells[counted] = node.calls;
    cells[total] = context.clock.to_ns(node.total);
    cells[self] = context.clock.to_ns(node.self);
    cells.back() = path;
    table.add(cells);
  }
  return table;
}

constinit const DocumentSchema schemas::kStacks{"stacks", 1, "What each path of calls took.", true,
                                                kPathMembers};

}  // namespace telltale
