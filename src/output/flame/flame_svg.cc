#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "output/escape.h"
#include "output/flame/flame_graph.h"
#include "output/table/table.h"

namespace telltale {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 10;
constexpr double kRow = 17;
constexpr double kTop = 46;
constexpr double kCharacter = 6.7;   // of the font below
constexpr double kNarrowest = 0.1;   // pixels
constexpr size_t kShownRows = 4000;  // deeper boxes are omitted and counted

constexpr std::string_view kStyle =
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1b1b1b}"
    "rect{stroke:#fff;stroke-width:.5}.h{font:bold 15px system-ui,sans-serif}"
    ".n{font:12px system-ui,sans-serif;fill:#555}";

// FNV-1a (64 bit): the same colour for the same name, in every file.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

std::string colour_of(const FunctionInfo& info) {
  const uint64_t hash = hash_of(info.name);
  return fmt::format("hsl({},{}%,{}%)", hash % 360, 55 + hash / 360 % 20, 68 + hash / 7200 % 12);
}

// As many characters of `text` as fit into `width` pixels; empty if too few fit.
std::string fitted(std::string_view text, double width) {
  const auto room = static_cast<size_t>(std::max(0.0, (width - 4) / kCharacter));
  if (room < 3) return {};
  if (count_characters(text) <= room) return std::string(text);
  std::string cut;
  for (size_t i = 0; i + 1 < room; ++i) {
    const size_t bytes = first_character(text).bytes;
    cut += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return cut + "\xE2\x80\xA6";
}

class Drawing {
 public:
  Drawing(const FlameGraph& graph, const Clock& clock, const FunctionNames& names, OutputFile& out)
      : graph_(graph), tree_(graph.trees.front().tree), clock_(clock), names_(names), out_(out) {}

  Result<void> write() {
    begin();
    // Position of the next callee at each open depth.
    std::vector<double> next = {kMargin};
    const double scale =
        (kWidth - 2 * kMargin) / std::max(1.0, static_cast<double>(tree_.nodes.front().total));
    for (const FlameTree::Node& node : tree_.nodes) {
      next.resize(node.depth + size_t{1});
      const double x = next.back();
      const double width = static_cast<double>(node.total) * scale;
      next.back() += width;
      next.push_back(x);
      if (width < kNarrowest || node.depth >= kShownRows) {
        ++left_out_;
      } else {
        box(node, x, width);
      }
      if (text_.size() > (size_t{1} << 16)) flush();
    }
    text_ += "</g>\n";
    end();
    flush();
    return state_;
  }

 private:
  void begin() {
    uint32_t deepest = 0;
    for (const FlameTree::Node& node : tree_.nodes) deepest = std::max(deepest, node.depth);
    const double rows = std::min<double>(deepest + 1, kShownRows);
    bottom_ = kTop + rows * kRow;
    text_ += fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "version=\"1.1\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\">\n<style>{2}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"{3}\" "
        "y=\"20\">",
        kWidth, bottom_ + 28, kStyle, kMargin);
    append_xml(text_, visible(graph_.title));
    text_ += fmt::format("</text>\n<text class=\"n\" x=\"{}\" y=\"37\">", kMargin);
    append_xml(text_, visible(graph_.trees.front().title));
    for (const auto& [name, value] : graph_.facts) {
      if (name == "file") continue;
      append_xml(text_, visible("; " + name + " " + value));
    }
    text_ += "</text>\n<g>\n";
  }

  void box(const FlameTree::Node& node, double x, double width) {
    const bool is_root = node.depth == 0;
    const double y = kTop + node.depth * kRow;
    static const FunctionInfo kNone;
    const FunctionInfo& info = is_root ? kNone : names_.describe(node.function);
    const std::string label = visible(is_root ? graph_.trees.front().title : info.name);
    const double all = std::max(1.0, static_cast<double>(tree_.nodes.front().total));
    text_ += "<g><title>";
    append_xml(text_, label);
    text_ += fmt::format(": {} {}, total {} ({:.2f} %), self {}",
                         is_root ? node.calls_inside : node.calls, graph_.units.counted,
                         graph_.units.show(clock_.to_ns_f(static_cast<double>(node.total))),
                         100 * static_cast<double>(node.total) / all,
                         graph_.units.show(clock_.to_ns_f(static_cast<double>(node.self))));
    if (!info.file.empty()) {
      append_xml(text_, visible(", " + info.file));
      if (info.line != 0) text_ += fmt::format(":{}", info.line);
    }
    text_ += fmt::format(
        "</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"/>", x, y,
        width, kRow - 1, is_root ? "#ddd" : colour_of(info));
    if (const std::string text = fitted(label, width); !text.empty()) {
      text_ += fmt::format("<text x=\"{:.2f}\" y=\"{}\">", x + 2, y + 12);
      append_xml(text_, text);
      text_ += "</text>";
    }
    text_ += "</g>\n";
  }

  void end() {
    const uint64_t hidden = left_out_ + tree_.pruned_nodes;
    text_ += fmt::format("<text class=\"n\" x=\"{}\" y=\"{}\">{} boxes", kMargin, bottom_ + 17,
                         tree_.nodes.size() - left_out_);
    if (hidden != 0) text_ += fmt::format("; {} too narrow to draw are omitted", hidden);
    text_ += "</text>\n</svg>\n";
  }

  void flush() {
    if (state_) state_ = out_.write(text_);
    text_.clear();
  }

  const FlameGraph& graph_;
  const FlameTree& tree_;
  const Clock& clock_;
  const FunctionNames& names_;
  OutputFile& out_;
  std::string text_;
  Result<void> state_;
  double bottom_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace

Result<void> write_flame_svg(const FlameGraph& graph, const Clock& clock,
                             const FunctionNames& names, OutputFile& out) {
  return Drawing(graph, clock, names, out).write();
}

}  // namespace telltale
