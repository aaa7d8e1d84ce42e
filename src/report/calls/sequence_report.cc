#include "report/calls/sequence_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/counted.h"
#include "model/thread_text.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "output/table/screen.h"
#include "output/table/table.h"
#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::count;
using field::number_id;
using field::text;
using EditKind = SequenceEdit::Kind;

constexpr std::array kThreadSide = {text("file", "The recording, as it was named."),
                                    reports::kPid,
                                    reports::kProcessNumber,
                                    reports::kTid,
                                    reports::kThreadName,
                                    count("calls", "Calls of the thread.")};
constexpr std::array kEdits = {
    text("kind",
         "same, changed (what is inside differs: the next rows, one deeper), removed, added, moved "
         "(from here in A) or arrived (here in B)."),
    number_id("depth", "Number of calls around it that the options select."),
    count("count", "Calls of this level, one after the other."),
    count("calls", "These, and all inside them; of changed: 1."),
    number_id("call_a", "Number of the first in its thread of A, as for replay --call.").or_null(),
    number_id("call_b", "The same in B.").or_null(),
    text("function", "Full name of the first."),
};
constexpr std::array kSequenceMembers = {
    field::object("a", kThreadSide, "The thread before."),
    field::object("b", kThreadSide, "The thread after."),
    count("same", "Calls that both have, in the same order and nesting."),
    count("only_a", "Calls that only A has."),
    count("only_b", "Calls that only B has."),
    count("moved", "Calls of subtrees that are in another place."),
    count("approximate",
          "Searches given up after 1,000 differences: fewer calls than possible may be the same."),
    count("unaligned", "Places nested too deeply to be aligned."),
    field::rows("edits", kEdits, "Differences and what is the same between them, in order."),
};

constexpr std::array<std::string_view, 6> kKindNames = {"same",  "changed", "removed",
                                                        "added", "moved",   "arrived"};
std::string_view edit_name(EditKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

TableCell number_cell(const CallSequence& sequence, size_t index) {
  return index == SequenceEdit::kNowhere ? TableCell() : TableCell(sequence.calls[index].number);
}

Table edit_table(const SequenceReport& report) {
  Table table(kEdits);
  for (const SequenceEdit& edit : report.alignment.edits) {
    table.add_row({std::string(edit_name(edit.kind)), uint64_t{edit.depth}, uint64_t{edit.count},
                   edit.calls, number_cell(report.a.sequence, edit.a),
                   number_cell(report.b.sequence, edit.b),
                   report.numbers.name(first_call(report, edit).name)});
  }
  return table;
}

// Whether an edit can be shown as one more of the edit before.
bool repeats(const SequenceReport& report, const SequenceEdit& before, const SequenceEdit& edit) {
  return edit.kind == before.kind && edit.depth == before.depth &&
         (edit.kind == EditKind::removed || edit.kind == EditKind::added) &&
         first_call(report, edit).name == first_call(report, before).name;
}

class EditLines {
 public:
  EditLines(const SequenceReport& report, size_t limit) : report_(report), limit_(limit) {}

  std::string text() {
    side("A", report_.a);
    side("B", report_.b);
    const SequenceAlignment& found = report_.alignment;
    std::string found_words =
        fmt::format("{} the same, in the same order; {} only in A, {} only in B",
                    counted(found.same, "call"), found.only_a, found.only_b);
    if (found.moved != 0) found_words += fmt::format(", {} moved", found.moved);
    out_ += folded(found_words, 0, 2) + "\n";
    if (found.approximate != 0) {
      out_ +=
          fmt::format("approximate: {} more than 1,000 differences, more calls may be the same\n",
                      found.approximate == 1 ? "a place has"
                                             : fmt::format("{} places have", found.approximate));
    }
    if (found.unaligned != 0)
      out_ += fmt::format("{} nested too deeply to align\n", counted(found.unaligned, "place"));
    if (found.only_a + found.only_b + found.moved == 0) return std::move(out_);
    out_ += fmt::format("\n  {:>10}  {:>10}  CALL\n", "CALL IN A", "CALL IN B");
    const std::vector<SequenceEdit> edits = merged_edits(report_);
    for (size_t i = 0; i < edits.size(); ++i) {
      if (limit_ != 0 && i == limit_) {
        out_ += fmt::format("{} more; --limit 0 shows all\n", counted(edits.size() - i, "place"));
        break;
      }
      line(edits[i]);
    }
    return std::move(out_);
  }

 private:
  void side(std::string_view name, const SequenceSide& side) {
    out_ += fmt::format("{} {}: thread {}", name, visible(side.file),
                        short_thread_text(side.thread.thread));
    if (!side.thread.thread_name.empty())
      out_ += fmt::format(" ({})", visible(side.thread.thread_name));
    out_ += fmt::format(", {}{}\n", side.sequence.whole ? "" : "the first ",
                        counted(side.sequence.calls.size(), "call"));
  }

  void line(const SequenceEdit& edit) {
    constexpr std::string_view kMarks = "  -+<>";
    const auto number = [](const CallSequence& sequence, size_t index) {
      return index == SequenceEdit::kNowhere ? std::string()
                                             : std::to_string(sequence.calls[index].number);
    };
    out_ += fmt::format("{} {:>10}  {:>10}  {}", kMarks[static_cast<size_t>(edit.kind)],
                        number(report_.a.sequence, edit.a), number(report_.b.sequence, edit.b),
                        indentation(edit.depth));
    const std::string name = visible(report_.numbers.name(first_call(report_, edit).name));
    const uint64_t inside = edit.calls - std::min<uint64_t>(edit.calls, edit.count);
    switch (edit.kind) {
      case EditKind::same:
        out_ += fmt::format("... {} as before", counted(edit.calls, "call"));
        break;
      case EditKind::changed:
        out_ += name;
        break;
      default:
        out_ += name;
        if (edit.count > 1) out_ += fmt::format(" x {}", edit.count);
        if (inside != 0) out_ += fmt::format(" ({} inside)", counted(inside, "call"));
        if (edit.kind == EditKind::moved)
          out_ += ", moved to here in B: call " + number(report_.b.sequence, edit.b);
        if (edit.kind == EditKind::arrived)
          out_ += ", moved from call " + number(report_.a.sequence, edit.a) + " of A";
    }
    out_ += "\n";
  }

  static std::string indentation(uint32_t depth) {
    constexpr uint32_t kMost = 30;
    if (depth <= kMost) return std::string(size_t{2} * depth, ' ');
    return std::string(size_t{2} * kMost, ' ') + fmt::format("[depth {}] ", depth + 1);
  }

  const SequenceReport& report_;
  size_t limit_;
  std::string out_;
};

}  // namespace

const CallSequence::Call& first_call(const SequenceReport& report, const SequenceEdit& edit) {
  const bool of_b = edit.kind == EditKind::added || edit.kind == EditKind::arrived;
  return of_b ? report.b.sequence.calls[edit.b] : report.a.sequence.calls[edit.a];
}

std::vector<SequenceEdit> merged_edits(const SequenceReport& report) {
  std::vector<SequenceEdit> merged;
  const SequenceEdit* before = nullptr;
  for (const SequenceEdit& edit : report.alignment.edits) {
    if (before != nullptr && repeats(report, *before, edit)) {
      ++merged.back().count;
      merged.back().calls += edit.calls;
    } else {
      merged.push_back(edit);
    }
    before = &edit;
  }
  return merged;
}

std::string sequence_text(const SequenceReport& report, size_t limit) {
  return EditLines(report, limit).text();
}

std::string sequence_document(const SequenceReport& report, const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 2);
  DocumentWriter document(json, schemas::kDiffOrder, {});
  const auto side = [&](const char* key, const SequenceSide& of) {
    document.object(key, [&](ObjectWriter& object) {
      const ThreadKey& thread = of.thread.thread;
      object.add("file", of.file).add("pid", thread.pid);
      if (thread.process != 0) object.add("process_number", uint64_t{thread.process});
      object.add("tid", thread.tid);
      object.text_or_null("thread_name", of.thread.thread_name);
      object.add("calls", uint64_t{of.sequence.calls.size()});
    });
  };
  side("a", report.a);
  side("b", report.b);
  const SequenceAlignment& found = report.alignment;
  document.add("same", found.same).add("only_a", found.only_a).add("only_b", found.only_b);
  document.add("moved", found.moved).add("approximate", found.approximate);
  document.add("unaligned", found.unaligned);
  document.table("edits", edit_table(report));
  document.finish(problems);
  return out;
}

std::string sequence_csv(const SequenceReport& report) { return edit_table(report).to_csv(); }

constinit const DocumentSchema schemas::kDiffOrder{
    "diff-order", 1, "The calls of two threads, aligned in order.", false, kSequenceMembers};

}  // namespace telltale
