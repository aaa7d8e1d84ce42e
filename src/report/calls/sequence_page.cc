#include "report/calls/sequence_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/counted.h"
#include "output/flame/page.h"
#include "output/flame/page_text.h"
#include "output/json_writer.h"

namespace telltale {
namespace {

// A browser shows these without delay, and the file stays below 20 MB.
constexpr size_t kMostRows = 200'000;

std::string side_name(const SequenceSide& side) {
  std::string name = fmt::format("{}, thread {}", side.file, side.thread.thread.tid);
  if (!side.thread.thread_name.empty()) name += fmt::format(" ({})", side.thread.thread_name);
  return name;
}

uint64_t number_of(const CallSequence& sequence, size_t index) {
  return index == SequenceEdit::kNowhere ? 0 : sequence.calls[index].number;
}

std::string order_data(const SequenceReport& report, std::span<const SequenceEdit> edits,
                       PageRoom& room) {
  std::string text;
  JsonWriter json(text);
  const SequenceAlignment& found = report.alignment;
  json.begin_object();
  json.member("a", room.text(side_name(report.a))).member("b", room.text(side_name(report.b)));
  json.member("same", found.same).member("only_a", found.only_a).member("only_b", found.only_b);
  json.member("moved", found.moved);
  std::map<uint32_t, size_t> numbers;
  std::vector<uint32_t> names;
  json.key("edits").begin_array();
  for (const SequenceEdit& edit : edits) {
    const uint32_t name = first_call(report, edit).name;
    const auto [known, is_new] = numbers.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    json.begin_array().value(static_cast<uint64_t>(edit.kind)).value(uint64_t{edit.depth});
    json.value(uint64_t{edit.count}).value(edit.calls);
    json.value(number_of(report.a.sequence, edit.a)).value(number_of(report.b.sequence, edit.b));
    json.value(known->second).end_array();
  }
  json.end_array().key("functions").begin_array();
  for (const uint32_t name : names) json.value(room.text(report.numbers.name(name)));
  json.end_array().end_object();
  return json_for_script(text);
}

}  // namespace

Result<void> write_sequence_page(const SequenceReport& report, const ProblemLog& problems,
                                 OutputFile& out) {
  const SequenceAlignment& found = report.alignment;
  std::vector<SequenceEdit> edits = merged_edits(report);
  PageHead head;
  head.title = "Calls in their order";
  head.facts = {{"A", side_name(report.a)},
                {"B", side_name(report.b)},
                {"calls of A", fmt::format("{}", report.a.sequence.calls.size())},
                {"calls of B", fmt::format("{}", report.b.sequence.calls.size())},
                {"the same", fmt::format("{}", found.same)},
                {"only in A", fmt::format("{}", found.only_a)},
                {"only in B", fmt::format("{}", found.only_b)},
                {"moved", fmt::format("{}", found.moved)}};
  if (found.approximate != 0)
    head.facts.emplace_back("approximate", fmt::format("{} with more than 1,000 differences",
                                                       counted(found.approximate, "place")));
  if (found.unaligned != 0)
    head.facts.emplace_back("places nested too deeply to align",
                            fmt::format("{}", found.unaligned));
  if (edits.size() > kMostRows) {
    head.facts.emplace_back("losses", fmt::format("{} not shown; --time chooses others",
                                                  counted(edits.size() - kMostRows, "place")));
    edits.resize(kMostRows);
  }
  if (problems.count() != 0) {
    head.facts.emplace_back("problems", fmt::format("{}; {} lost", problems.count(),
                                                    counted(problems.lost_bytes(), "byte")));
  }
  head.summary = {"the same",    "only in A", "only in B", "moved",
                  "approximate", "losses",    "problems"};
  PageRoom room;
  const std::array<PageData, 1> data = {
      {{"order", [&](OutputFile& file) { return file.write(order_data(report, edits, room)); }}}};
  const std::array<PageTab, 1> tabs = {{{"order", "order", "Order", "order"}}};
  return write_page(head, data, tabs, room, out);
}

}  // namespace telltale
