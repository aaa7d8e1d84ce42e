#include "output/embedded_page.h"
#include "output/flame_data.h"
#include "output/flame_graph.h"

namespace telltale {

Result<void> write_flame_html(const FlameGraph& graph, const Clock& clock,
                              const FunctionNames& names, OutputFile& out) {
  const EmbeddedPage page = flame_page();
  if (const Result<void> written = out.write(page.before_data); !written) return written;
  if (const Result<void> written = write_flame_data(graph, clock, names, FlameText::for_page, out);
      !written)
    return written;
  return out.write(page.after_data);
}

}  // namespace telltale
