#include "output/dump/csi_dump.h"

#include <array>

#include "formats/csi/record_fields.h"
#include "output/dump/dump_line.h"

namespace telltale::csi {
namespace {

constexpr auto kFields = std::to_array<Field>({
    field::text("function", "Linkage name of the function."),
    field::count("blocks", "Blocks of the function."),
    field::count("edges", "Edges of the function."),
    field::number_id("block", "Id of the block."),
    field::text("Block.kind", "entry, exit or plain."),
    field::list_of(
        "lines", ValueType::integer,
        "Lines of the block, in the order of its instructions; 0: a place without a line, "
        "-1: the store of a path."),
    field::number_id("from", "Id of the block that the edge leaves."),
    field::number_id("to", "Id of the block that the edge enters."),
    field::truth("back", "Whether a path ends here, and the next one begins."),
    field::number_id("increment", "What is added to the path's sum; of a back edge: the new sum."),
    field::number_id("weight", "Of a back edge: the first number of the paths that begin there."),
    field::text("comment", "What follows on the line."),
});

template <typename Record>
void print(DumpOutput& out, uint64_t offset, std::string_view name, const Record& record) {
  DumpLine line(out, offset, name);
  fields(line, record);
}

void print_function(const PathMetadata& metadata, const PathFunction& function, DumpOutput& out) {
  print(out, function.offset, "Function", function);
  const auto blocks = metadata.blocks(function);
  for (const PathBlock& block : blocks)
    print(out, function.offset, "Block", BlockOfPaths{block, metadata.tokens(block)});
  for (const PathEdge& edge : metadata.edges(function))
    print(out, function.offset, "Edge",
          EdgeOfPaths{edge, blocks[edge.from].id, blocks[edge.to].id});
}

}  // namespace

Result<void> dump_path_metadata(Bytes file, const std::string& name, DumpStyle style,
                                const ByteSink& sink, ProblemLog& problems) {
  ProblemLog found;
  const PathMetadata metadata = PathMetadata::read(file, name, 0, found);
  DumpOutput out(style, sink);
  for (const PathFunction& function : metadata.functions()) print_function(metadata, function, out);
  dump_problems(found, out, problems);
  return out.finish();
}

std::vector<RecordTable> path_records() {
  return record_tables(kFields, [](DumpOutput& out) {
    print(out, 0, "Function", PathFunction());
    print(out, 0, "Block", BlockOfPaths());
    print(out, 0, "Edge", EdgeOfPaths());
    dump_problem({}, out);
  });
}

}  // namespace telltale::csi
