// `telltale extract-cfg`: the control flow graphs of a program that telltale-cc --trace built.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bytes/input_file.h"
#include "cli/options/message.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "output/escape.h"
#include "report/paths/control_flow_export.h"

namespace telltale::cli {
namespace {

struct CfgOptions {
  std::string file;
  std::string format = "graphml";
  std::string function;
  OutputOption output;
};

int run(const CfgOptions& options) {
  if (const auto free = check_output(options.output, std::vector{options.file}); !free)
    return report_error(free.error());
  const Result<InputFile> input = InputFile::open(options.file);
  if (!input) return report_error(input.error());
  ProblemLog problems;
  Result<std::vector<ControlFlowGraph>> graphs =
      read_control_flow(input->bytes(), input->name(), problems);
  if (!graphs) return report_error(graphs.error());
  for (const Problem& problem : problems.kept())
    print_message("telltale: {}\n", visible(to_string(problem)));
  if (!options.function.empty()) {
    std::erase_if(*graphs, [&](const ControlFlowGraph& graph) {
      return graph.symbol != options.function && graph.copy_of != options.function;
    });
  }
  if (graphs->empty()) {
    print_message("telltale: {} has no control flow graph{} of telltale-cc --trace\n",
                  visible(options.file),
                  options.function.empty() ? "" : " of " + visible(options.function));
    return kUnreadable;
  }
  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  const auto sink = [&out](std::string_view block) { return out->write(block); };
  Result<void> done =
      options.format == "dot" ? write_dot(*graphs, sink) : write_graphml(*graphs, sink);
  if (done) done = out->finish();
  return done ? static_cast<int>(kDone) : report_error(done.error());
}

}  // namespace

void add_extract_cfg_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "extract-cfg", "export the control flow graphs of a program built with telltale-cc --trace");
  const auto options = std::make_shared<CfgOptions>();
  verb.add_option("FILE", options->file, "program, shared library, object file or archive")
      .required();
  verb.add_option("--to", options->format, "graphml or dot")
      .one_of({"graphml", "dot"})
      .show_default();
  verb.add_option("--function", options->function,
                  "only the function with this linker's name, and its copies")
      .type_name("SYMBOL");
  add_output_option(verb, options->output).show_default();
  choose_form_by_name(verb, {{".graphml", "--to", "graphml"}, {kDotExtensions, "--to", "dot"}});
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
