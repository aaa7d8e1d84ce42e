#include "formats/sampler/cfg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "base/append_format.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/site_info.h"
#include "formats/sampler/tag.h"

namespace telltale::sampler {
namespace {

constexpr std::string_view kUnitStart = "*\t";
constexpr std::string_view kUnknown = "???";

std::optional<uint32_t> parse_number(std::string_view text) {
  const std::optional<uint64_t> number = parse_unsigned(text);
  if (!number || *number > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

// Calls use(field) for each field that a tab ends; false if characters follow the last tab.
template <typename Use>
bool for_each_field(std::string_view line, Use use) {
  while (!line.empty()) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos || !use(line.substr(0, tab))) return false;
    line.remove_prefix(tab + 1);
  }
  return true;
}

}  // namespace

class CfgInfo::Reader {
 public:
  Reader(CfgInfo& info, const std::string& file, uint64_t file_offset, ProblemLog& problems)
      : info_(info),
        text_(info.text_),
        file_(file),
        file_offset_(file_offset),
        problems_(problems) {}

  void read() {
    while (at_ < text_.size()) {
      if (!read_unit()) skip_to_unit();
    }
  }

 private:
  // The next line; empty, with a complaint, if the text ends before its line feed.
  std::optional<std::string_view> take_line(std::string_view what) {
    const size_t end = text_.find('\n', at_);
    line_at_ = at_;
    if (end == std::string_view::npos) {
      complain(Problem::Kind::torn_tail, fmt::format("the text ends before the {}", what),
               text_.size() - at_);
      at_ = text_.size();
      return std::nullopt;
    }
    at_ = end + 1;
    return text_.substr(line_at_, end - line_at_);
  }

  void complain(Problem::Kind kind, std::string message, uint64_t lost) {
    problems_.add({kind, file_offset_ + line_at_, file_, "graph", std::move(message), lost});
  }
  // The offset of the last line taken.
  bool reject(std::string_view message) {
    rejected_ = std::string(message);
    return false;
  }

  // False: at_ is after the text that could not be parsed.
  bool read_unit() {
    CfgUnit unit;
    unit.offset = at_;
    unit.first_function = static_cast<uint32_t>(info_.functions_.size());
    const auto start = take_line("version");
    if (!start) return true;
    if (!start->starts_with(kUnitStart)) return reject("a unit begins with *, tab and version");
    unit.version = start->substr(kUnitStart.size());
    const auto source = take_line("unit's source file");
    const auto signature = source ? take_line("unit's signature") : std::nullopt;
    if (!signature) return true;
    if (!is_unit_signature(*signature)) return reject("a signature has 32 hexadecimal digits");
    unit.source = *source;
    unit.signature = *signature;
    unit.whole = false;
    info_.units_.push_back(unit);
    return read_functions();
  }

  bool read_functions() {
    while (true) {
      const auto line = take_line("end of the unit");
      if (!line) return true;
      if (line->empty()) {
        info_.units_.back().whole = true;
        return true;
      }
      if (!read_function(*line)) return false;
      if (at_ == text_.size() && open_function_) return true;
    }
  }

  bool read_function(std::string_view line) {
    CfgFunction function;
    function.offset = line_at_;
    function.first_node = static_cast<uint32_t>(info_.nodes_.size());
    function.is_static = line.starts_with("-\t");
    if (!function.is_static && !line.starts_with("+\t"))
      return reject("a function begins with + or -");
    line.remove_prefix(2);
    const size_t name_end = line.find('\t');
    const size_t file_end = line.rfind('\t');
    if (name_end == std::string_view::npos || file_end == name_end)
      return reject("a function has name, file and line");
    function.name = line.substr(0, name_end);
    function.file = line.substr(name_end + 1, file_end - name_end - 1);
    const std::optional<uint32_t> number = parse_number(line.substr(file_end + 1));
    if (!number) return reject("a function's line is a number");
    function.line = *number;
    open_function_ = true;
    while (true) {
      const auto node = take_line("end of the function");
      if (!node) return true;
      if (node->empty()) break;
      if (!read_node(*node)) return false;
      if (torn_node_) return true;
      ++function.node_count;
    }
    open_function_ = false;
    info_.functions_.push_back(function);
    ++info_.units_.back().function_count;
    return true;
  }

  bool read_node(std::string_view line) {
    CfgNode node;
    const size_t tab = line.rfind('\t');
    const auto number =
        tab == std::string_view::npos ? std::nullopt : parse_number(line.substr(tab + 1));
    if (!number) return reject("a node has file and line");
    node.file = line.substr(0, tab);
    node.line = *number;
    const auto successors = take_line("node's successors");
    torn_node_ = !successors;
    if (torn_node_) return true;
    node.first_successor = static_cast<uint32_t>(info_.successors_.size());
    const bool numbers = for_each_field(*successors, [&](std::string_view field) {
      const std::optional<uint32_t> successor = parse_number(field);
      if (successor) info_.successors_.push_back(*successor);
      return successor.has_value();
    });
    if (!numbers) return reject("successors are numbers, each followed by a tab");
    node.successor_count = static_cast<uint32_t>(info_.successors_.size()) - node.first_successor;
    const auto callees = take_line("node's callees");
    torn_node_ = !callees;
    if (torn_node_) return true;
    node.first_callee = static_cast<uint32_t>(info_.callees_.size());
    node.unknown_callees = *callees == kUnknown;
    const bool names =
        node.unknown_callees || for_each_field(*callees, [&](std::string_view field) {
          info_.callees_.push_back(field);
          return true;
        });
    if (!names) return reject("callees are names, each followed by a tab, or ???");
    node.callee_count = static_cast<uint32_t>(info_.callees_.size()) - node.first_callee;
    info_.nodes_.push_back(node);
    return true;
  }

  void skip_to_unit() {
    const size_t rejected_at = line_at_;
    while (at_ < text_.size() && !text_.substr(at_).starts_with(kUnitStart))
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    line_at_ = rejected_at;
    open_function_ = false;
    complain(Problem::Kind::corruption, rejected_ + "; skipped to the next unit",
             at_ - rejected_at);
  }

  CfgInfo& info_;
  std::string_view text_;
  const std::string& file_;
  uint64_t file_offset_;
  ProblemLog& problems_;
  size_t at_ = 0;
  size_t line_at_ = 0;
  bool open_function_ = false;
  bool torn_node_ = false;
  std::string rejected_;
};

CfgInfo CfgInfo::read(Bytes bytes, const std::string& file, uint64_t file_offset,
                      ProblemLog& problems) {
  CfgInfo info;
  // Numbers of functions and nodes are 32 bits; each takes more than one byte of text.
  const size_t limit = std::numeric_limits<uint32_t>::max();
  const Bytes read = bytes.first(std::min(bytes.size(), limit));
  if (read.size() != bytes.size()) {
    problems.add({Problem::Kind::loss, file_offset + limit, file, "graph",
                  "more than 4 GiB; the rest is not read", bytes.size() - limit});
  }
  info.text_ = {reinterpret_cast<const char*>(read.data()), read.size()};
  if (info.text_.find('\0') != std::string_view::npos) {
    info.own_text_ = std::make_unique<std::string>(without_zero_bytes(read));
    info.text_ = *info.own_text_;
  }
  Reader(info, file, file_offset, problems).read();
  return info;
}

void append_cfg_unit(std::string& out, const CfgInfo& info, const CfgUnit& unit) {
  append_format(out, "*\t{}\n{}\n{}\n", unit.version, unit.source, unit.signature);
  for (const CfgFunction& function : info.functions(unit)) {
    append_format(out, "{}\t{}\t{}\t{}\n", function.is_static ? '-' : '+', function.name,
                  function.file, function.line);
    for (const CfgNode& node : info.nodes(function)) {
      append_format(out, "{}\t{}\n", node.file, node.line);
      for (const uint32_t successor : info.successors(node)) append_format(out, "{}\t", successor);
      out += '\n';
      for (const std::string_view callee : info.callees(node)) append_format(out, "{}\t", callee);
      out += node.unknown_callees ? "???\n" : "\n";
    }
    out += '\n';
  }
  out += '\n';
}

}  // namespace telltale::sampler
