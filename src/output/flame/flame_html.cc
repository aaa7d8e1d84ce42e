#include <array>

#include "output/flame/flame_data.h"
#include "output/flame/flame_graph.h"
#include "output/flame/page.h"

namespace telltale {

Result<void> write_flame_html(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, OutputFile& out) {
  const PageHead head = {
      .title = graph.title + (graph.compared ? " \u2013 comparison" : " \u2013 flame graph"),
      .facts = graph.facts,
      .summary = {"span", graph.units.counted, "calls below the maximum depth", "losses",
                  "missing by design", "filter", "A span", "B span", "A losses", "B losses",
                  "A missing by design", "B missing by design"}};
  PageRoom room;
  const std::array<PageData, 1> data = {
      {{"calls",
        [&](OutputFile& file) { return write_calls_data(graph, clock, names, room, file); }}}};
  const std::array<PageTab, 3> tabs = {{{"flame", "flame", "Flame graph", "calls"},
                                        {"functions", "functions", "Functions", "calls"},
                                        {"callers", "callers", "Callers and callees", "calls"}}};
  return write_page(head, data, tabs, room, out);
}

}  // namespace telltale
