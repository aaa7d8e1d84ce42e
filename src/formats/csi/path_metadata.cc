#include "formats/csi/path_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/append_format.h"

namespace telltale::csi {
namespace {

constexpr std::string_view kFunctionStart = "#";
constexpr std::string_view kEdgesStart = "$";

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The line at the cursor without its line feed; empty at the end of the text, also if the last
// line has no line feed.
std::optional<std::string_view> take_line(Cursor& in) {
  const std::string_view rest = as_text(in.rest());
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  in.take(end + 1, "line");
  return rest.substr(0, end);
}

// Accepts only one spelling of numbers, so that the writer restores the text.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.starts_with('0') && text != "0") return std::nullopt;
  return number;
}

// Removes and returns the text before the separator; empty if there is no separator.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end + separator.size());
  return part;
}

}  // namespace

class PathMetadata::Reader {
 public:
  Reader(PathMetadata& metadata, Bytes bytes, const std::string& file, uint64_t file_offset,
         ProblemLog& problems)
      : metadata_(metadata),
        in_(bytes, std::endian::little, file_offset),
        line_(in_),
        file_(file),
        problems_(problems) {}

  void read() {
    while (!in_.at_end()) {
      const Sizes before = sizes();
      const uint64_t start = in_.offset();
      rejected_.clear();
      if (read_function()) continue;
      restore(before);
      if (rejected_.empty()) {
        complain(Problem::Kind::torn_tail, start, fmt::format("the text ends inside {}", part_),
                 in_.offset() + in_.left() - start);
        return;
      }
      // The rejected line may be the beginning of the next function.
      const uint64_t rejected_at = line_.offset();
      if (rejected_at != start) in_ = line_;
      skip_to_function();
      complain(Problem::Kind::corruption, rejected_at, rejected_ + "; the function is left out",
               in_.offset() - start);
    }
  }

 private:
  struct Sizes {
    size_t blocks, edges, tokens;
  };
  [[nodiscard]] Sizes sizes() const {
    return {metadata_.blocks_.size(), metadata_.edges_.size(), metadata_.tokens_.size()};
  }
  void restore(const Sizes& before) {
    metadata_.blocks_.resize(before.blocks);
    metadata_.edges_.resize(before.edges);
    metadata_.tokens_.resize(before.tokens);
  }

  void complain(Problem::Kind kind, uint64_t offset, std::string message, uint64_t lost) {
    problems_.add({kind, offset, file_, "function", std::move(message), lost});
  }
  bool reject(std::string_view why) {
    rejected_ = why;
    return false;
  }
  std::optional<std::string_view> line(std::string_view part) {
    part_ = part;
    line_ = in_;
    return take_line(in_);
  }

  // Whether a function begins here, even if the text ends before its first line feed.
  [[nodiscard]] bool at_function_start() const {
    const std::string_view rest = as_text(in_.rest());
    return rest.starts_with("#\n") || rest == kFunctionStart;
  }

  void skip_to_function() {
    while (true) {
      if (at_function_start()) return;
      if (!take_line(in_)) break;
    }
    in_.take(in_.left(), "rest");
  }

  // False: rejected_ says why; empty: the text ends.
  bool read_function() {
    PathFunction function;
    function.offset = in_.offset();
    function.first_block = static_cast<uint32_t>(metadata_.blocks_.size());
    function.first_edge = static_cast<uint32_t>(metadata_.edges_.size());
    const auto start = line("the line before a function's name");
    if (!start) return false;
    if (*start != kFunctionStart) return reject("a function begins with a line that is a #");
    const auto name = line("a function's name");
    if (!name) return false;
    if (name->empty() || *name == kFunctionStart) return reject("a function has a name");
    function.name = *name;
    if (!read_blocks() || !read_edges()) return false;
    function.block_count = static_cast<uint32_t>(metadata_.blocks_.size()) - function.first_block;
    function.edge_count = static_cast<uint32_t>(metadata_.edges_.size()) - function.first_edge;
    metadata_.functions_.push_back(function);
    return true;
  }

  bool read_blocks() {
    index_of_.clear();
    bool entry = false;
    bool exit = false;
    while (true) {
      const auto text = line("a function's blocks");
      if (!text) return false;
      if (*text == kEdgesStart) break;
      if (!read_block(*text)) return false;
      const BlockKind kind = metadata_.blocks_.back().kind;
      if ((kind == BlockKind::entry && std::exchange(entry, true)) ||
          (kind == BlockKind::exit && std::exchange(exit, true)))
        return reject("a function has one entry and one exit");
    }
    if (entry && exit) return true;
    return reject(entry ? "the function has no exit" : "the function has no entry");
  }

  bool read_block(std::string_view text) {
    const bool has_more = text.contains('|');
    const auto id = parse_number<uint64_t>(has_more ? *take_until(text, "|") : text);
    if (!id) return reject("a block begins with its number");
    PathBlock block;
    block.id = *id;
    block.first_token = static_cast<uint32_t>(metadata_.tokens_.size());
    if (!index_of_.try_emplace(*id, static_cast<uint32_t>(index_of_.size())).second)
      return reject(fmt::format("block {} occurs twice", *id));
    if (has_more && text == "EXIT") {
      block.kind = BlockKind::exit;
    } else {
      bool has_tokens = has_more;
      if (has_more && (text == "ENTRY" || text.starts_with("ENTRY|"))) {
        block.kind = BlockKind::entry;
        has_tokens = text.size() > 5;
        text.remove_prefix(std::min<size_t>(text.size(), 6));
      }
      block.says_null = has_tokens && text == "NULL";
      if (has_tokens && !block.says_null && !read_tokens(text)) return false;
      block.token_count = static_cast<uint32_t>(metadata_.tokens_.size()) - block.first_token;
    }
    metadata_.blocks_.push_back(block);
    return true;
  }

  bool read_tokens(std::string_view text) {
    while (true) {
      const size_t end = std::min(text.find('|'), text.size());
      const auto token = parse_number<int64_t>(text.substr(0, end));
      if (!token || *token < kPathStore)
        return reject("a block's lines are numbers, -1 or the word NULL");
      metadata_.tokens_.push_back(*token);
      if (end == text.size()) return true;
      text.remove_prefix(end + 1);
    }
  }

  bool read_edges() {
    while (!in_.at_end() && !at_function_start()) {
      const auto text = line("a function's edges");
      if (!text) return false;
      if (!read_edge(*text)) return false;
    }
    return true;
  }

  bool read_edge(std::string_view text) {
    PathEdge edge;
    const size_t comment = text.find('#');
    if (comment != std::string_view::npos) {
      // npos + 1 is 0: only blanks.
      const size_t end = text.substr(0, comment).find_last_not_of(" \t") + 1;
      edge.comment = text.substr(end);
      text = text.substr(0, end);
    }
    const size_t arrow = std::min(text.find('>'), text.size());
    edge.back = arrow != 0 && arrow != text.size() && text[arrow - 1] == '~';
    const auto from = take_until(text, edge.back ? "~>" : "->");
    const auto to = from ? take_until(text, "|") : std::nullopt;
    const auto increment = to ? take_until(text, "$") : std::nullopt;
    if (!increment) return reject("an edge is FROM->TO|INCREMENT$WEIGHT or FROM~>TO|...");
    const auto from_index = find_block(*from);
    const auto to_index = find_block(*to);
    if (!from_index || !to_index) return reject("an edge connects blocks of the function");
    edge.from = *from_index;
    edge.to = *to_index;
    const auto added = parse_number<uint64_t>(*increment);
    const auto weight = parse_number<uint64_t>(text);
    if (!added || !weight) return reject("an edge's increment and weight are numbers");
    edge.increment = *added;
    edge.weight = *weight;
    metadata_.edges_.push_back(edge);
    return true;
  }

  [[nodiscard]] std::optional<uint32_t> find_block(std::string_view id) const {
    const auto number = parse_number<uint64_t>(id);
    const auto found = number ? index_of_.find(*number) : index_of_.end();
    if (found == index_of_.end()) return std::nullopt;
    return found->second;
  }

  PathMetadata& metadata_;
  Cursor in_;
  Cursor line_;  // at the line that was asked for last
  const std::string& file_;
  ProblemLog& problems_;
  std::unordered_map<uint64_t, uint32_t> index_of_;  // of the function's blocks, by id
  std::string_view part_;                            // of the text that the last line is in
  std::string rejected_;
};

PathMetadata PathMetadata::read(Bytes bytes, const std::string& file, uint64_t file_offset,
                                ProblemLog& problems) {
  PathMetadata metadata;
  // Indexes are 32 bits; each block, edge and token takes more than one byte of text.
  const size_t limit = std::numeric_limits<uint32_t>::max();
  const Bytes read = bytes.first(std::min(bytes.size(), limit));
  if (read.size() != bytes.size()) {
    problems.add({Problem::Kind::loss, file_offset + limit, file, "function",
                  "more than 4 GiB; the rest is not read", bytes.size() - limit});
  }
  Reader(metadata, read, file, file_offset, problems).read();
  return metadata;
}

bool looks_like_path_metadata(Bytes bytes) {
  Cursor in(bytes);
  if (take_line(in) != kFunctionStart) return false;
  const auto name = take_line(in);
  if (!name || name->empty()) return false;
  // The first block.
  std::string_view rest = as_text(in.rest().first(std::min<size_t>(in.rest().size(), 32)));
  const auto id = take_until(rest, "|");
  return id && parse_number<uint64_t>(*id) &&
         (rest.starts_with("EXIT\n") || rest.starts_with("ENTRY"));
}

void append_path_function(std::string& out, const PathMetadata& metadata,
                          const PathFunction& function) {
  append_format(out, "#\n{}\n", function.name);
  const std::span<const PathBlock> blocks = metadata.blocks(function);
  for (const PathBlock& block : blocks) {
    append_format(out, "{}", block.id);
    if (block.kind == BlockKind::entry) out += "|ENTRY";
    if (block.kind == BlockKind::exit) out += "|EXIT";
    if (block.says_null) out += "|NULL";
    for (const int64_t token : metadata.tokens(block)) append_format(out, "|{}", token);
    out += '\n';
  }
  out += "$\n";
  for (const PathEdge& edge : metadata.edges(function)) {
    append_format(out, "{}{}{}|{}${}{}\n", blocks[edge.from].id, edge.back ? "~>" : "->",
                  blocks[edge.to].id, edge.increment, edge.weight, edge.comment);
  }
}

}  // namespace telltale::csi
