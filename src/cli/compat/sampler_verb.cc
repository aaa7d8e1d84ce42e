// `telltale sampler TOOL`: the tools that Sampler's published text names.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/command.h"
#include "cli/verbs/verbs.h"

namespace telltale::cli {

std::span<const std::string> sampler_tools() {
  static const std::array<std::string, 9> kTools = {
      "extract-section",   "extract-report",    "resolveSamples",
      "resolveTimestamps", "resolve-backtrace", "resolve-cfg",
      "decimate-samples",  "precompute",        "find-sampler-info"};
  return kTools;
}

void add_sampler_verb(Command app, int& /*status*/) {
  Command verb = app.add_verb(
      "sampler",
      "run one of the tools of Sampler's published text; they are also in libexec/telltale");
  const auto tool = std::make_shared<std::string>();
  const auto arguments = std::make_shared<std::vector<std::string>>();
  const std::span<const std::string> tools = sampler_tools();
  // The command line has been rewritten to the tool's own if TOOL is one (command_line.cc).
  verb.add_option("TOOL", *tool, "the tool; telltale help TOOL explains it")
      .type_name("TOOL")
      .required()
      .one_of({tools.begin(), tools.end()});
  verb.add_option("ARGUMENT", *arguments, "the tool's options and arguments").type_name("ARGUMENT");
  verb.end_options_at_positionals();
  verb.callback([tool, arguments] {});
}

}  // namespace telltale::cli
