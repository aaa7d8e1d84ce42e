#include "report/paths/coverage_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "output/flame/page.h"
#include "output/flame/page_text.h"
#include "output/json_writer.h"
#include "report/paths/page_sources.h"

namespace telltale {
namespace {

constexpr size_t kMostFunctions = 100'000;
constexpr size_t kMostLines = 500'000;

// Rows of functions, and for each source file what its lines did: [line, "yes", "no" or "maybe"].
std::string coverage_data(std::span<const FunctionCoverage> functions, SourceLines& source_lines,
                          PageRoom& room) {
  std::string text;
  JsonWriter json(text);
  PageSources sources(source_lines);
  std::map<std::pair<size_t, uint32_t>, Ran> lines;
  json.begin_object().key("functions").begin_array();
  const size_t shown = room.rows(functions.size(), kMostFunctions, "function");
  for (const FunctionCoverage& function : functions.first(shown)) {
    const std::array<uint64_t, 3> counts = count_lines(function);
    for (const auto& [place, ran] : function.lines)
      add_copy(lines, {sources.use(place.first, "", place.second), place.second}, ran);
    const uint32_t first = function.lines.empty() ? 0 : function.lines.begin()->first.second;
    const uint32_t line = function.line != 0 ? function.line : first;
    json.begin_object().member("function", room.text(function.function));
    json.member("ran", name_of(function.ran))
        .member("source", sources.use(function.file, "", line));
    json.member("line", line).member("mechanisms", function.mechanisms);
    json.member("yes", counts[static_cast<size_t>(Ran::yes)]);
    json.member("no", counts[static_cast<size_t>(Ran::no)]);
    json.member("maybe", counts[static_cast<size_t>(Ran::maybe)]).end_object();
  }
  json.end_array().key("lines").begin_array();
  size_t left = room.rows(lines.size(), kMostLines, "line");
  for (const auto& [place, ran] : lines) {
    if (left-- == 0) break;
    json.begin_array().value(place.first).value(place.second).value(name_of(ran)).end_array();
  }
  json.end_array().key("sources");
  sources.write(json, room);
  json.end_object();
  return json_for_script(text);
}

}  // namespace

Result<void> write_coverage_page(const std::vector<FunctionCoverage>& functions,
                                 const std::string& name, const ProblemLog& problems,
                                 SourceLines& sources, OutputFile& out) {
  PageHead head;
  head.title = "What ran";
  const auto with = [&](Ran ran) {
    return fmt::format("{}", std::ranges::count(functions, ran, &FunctionCoverage::ran));
  };
  head.facts = {{"file", name},
                {"functions", fmt::format("{}", functions.size())},
                {"that ran", with(Ran::yes)},
                {"that did not run", with(Ran::no)},
                {"that may have run", with(Ran::maybe)}};
  if (problems.count() != 0)
    head.facts.emplace_back("problems", fmt::format("{}", problems.count()));
  head.summary = {"functions", "that ran", "that did not run", "problems"};
  PageRoom room;
  const std::array<PageData, 1> data = {
      {{"coverage",
        [&](OutputFile& file) { return file.write(coverage_data(functions, sources, room)); }}}};
  const std::array<PageTab, 1> tabs = {{{"coverage", "coverage", "Coverage", "coverage"}}};
  return write_page(head, data, tabs, room, out);
}

}  // namespace telltale
