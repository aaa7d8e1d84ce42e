#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/csi/path_metadata.h"

namespace telltale::csi {

// The grammar of every record of path metadata, written once: fields(codec, record) lists the
// fields of a record in the order of the text. A codec provides number, flag, word, text_if_any,
// text and numbers, as formats/sampler/record_fields.h says; a word needs no escaping.

template <typename Codec>
void fields(Codec& c, const PathFunction& r) {
  c.text("function", r.name);
  c.number("blocks", r.block_count);
  c.number("edges", r.edge_count);
}

struct BlockOfPaths {
  PathBlock block;
  std::span<const int64_t> tokens;
};
template <typename Codec>
void fields(Codec& c, const BlockOfPaths& r) {
  c.number("block", r.block.id);
  c.word("kind", r.block.kind == BlockKind::entry  ? "entry"
                 : r.block.kind == BlockKind::exit ? "exit"
                                                   : "plain");
  c.numbers("lines", r.tokens);
}

struct EdgeOfPaths {
  PathEdge edge;
  uint64_t from = 0;  // ids of the blocks
  uint64_t to = 0;
};
template <typename Codec>
void fields(Codec& c, const EdgeOfPaths& r) {
  c.number("from", r.from);
  c.number("to", r.to);
  c.flag("back", r.edge.back);
  c.number("increment", r.edge.increment);
  c.number("weight", r.edge.weight);
  c.text_if_any("comment", r.edge.comment);
}

}  // namespace telltale::csi
