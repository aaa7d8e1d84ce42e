#include "output/dump/csi_dump.h"

#include <fmt/format.h>

#include "formats/csi/path_metadata.h"

namespace telltale::csi {
namespace {

std::string_view kind_name(BlockKind kind) {
  switch (kind) {
    case BlockKind::entry:
      return "entry";
    case BlockKind::exit:
      return "exit";
    case BlockKind::plain:
      break;
  }
  return "plain";
}

}  // namespace

Result<void> dump_path_metadata(Bytes file, const std::string& name, DumpStyle style,
                                const ByteSink& sink, ProblemLog& problems) {
  ProblemLog found;
  const PathMetadata metadata = PathMetadata::read(file, name, 0, found);
  BlockWriter out(sink);
  for (const PathFunction& function : metadata.functions()) {
    DumpLine(style, function.offset, "Function", out.block())
        .text("function", function.name)
        .number("blocks", function.block_count)
        .number("edges", function.edge_count);
    const auto blocks = metadata.blocks(function);
    for (const PathBlock& block : blocks) {
      DumpLine line(style, function.offset, "Block", out.block());
      line.number("block", block.id).word("kind", kind_name(block.kind));
      if (block.token_count != 0)
        line.raw("lines", fmt::format("[{}]", fmt::join(metadata.tokens(block), ",")));
    }
    for (const PathEdge& edge : metadata.edges(function)) {
      DumpLine line(style, function.offset, "Edge", out.block());
      line.number("from", blocks[edge.from].id)
          .number("to", blocks[edge.to].id)
          .flag("back", edge.back)
          .number("increment", edge.increment)
          .number("weight", edge.weight);
      if (!edge.comment.empty()) line.text("comment", edge.comment);
    }
    out.flush_if_full();
  }
  for (const Problem& problem : found.kept()) dump_problem(problem, style, out);
  problems.merge(found);
  return out.finish();
}

}  // namespace telltale::csi
