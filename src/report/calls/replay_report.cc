#include "report/calls/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/joined.h"
#include "model/thread_text.h"
#include "output/escape.h"
#include "output/export.h"
#include "output/table/json_document.h"
#include "output/table/screen.h"
#include "output/table/show_units.h"
#include "output/table/table.h"
#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::ns;
using field::number_id;
using field::rows;
using field::text;
using reports::kPid;
using reports::kProcessNumber;
using reports::kTid;
using Kind = ReplayStep::Kind;

constexpr std::array kSteps = {
    text("kind",
         "already_open (a call that began before the first shown time), enter, leave, orphan_exit "
         "(an exit whose entry is not in the recording), event or loss."),
    kPid,
    kProcessNumber,
    kTid,
    ns("time_ns", "When, since the start of the recording; of already_open: when it began.")
        .or_null(),
    number_id("depth", "Number of calls around it that the options select."),
    number_id("call", "The call's number in its thread, from 1.").or_null(),
    text("function", "Name of the function; #17 if only its id is known.").or_null(),
    ns("duration_ns", "Of leave: time since the call's enter.").or_null(),
    text("ended", "Of leave: normal, tail or unwound.").or_null(),
    text("arguments", "Recorded arguments of the call, separated by blanks.").or_null(),
    text("event", "Of event: what the program recorded; of loss: why events are missing.")
        .or_null(),
    text("estimated", "time, if the time is an estimate because the clock was not read.").or_null(),
};
constexpr std::array kOpen = {
    kPid,
    kProcessNumber,
    kTid,
    text("thread_name", "Name of the thread.").or_null(),
    number_id("depth", "Number of calls around it that the options select."),
    number_id("call", "The call's number in its thread, from 1."),
    text("function", "Name of the function; #17 if only its id is known."),
    ns("since_ns", "When the call began, since the start of the recording."),
    ns("open_ns", "Time from then to the thread's last event."),
    text("fault", "The signal by which the thread ended the process.").or_null(),
};
constexpr std::array kReplayMembers = {
    rows("steps", kSteps, "What happened, in order."),
    rows("open_at_end", kOpen,
         "Calls open at the end of the recording, outermost first, thread by thread."),
};
constexpr size_t kMostIndentation = 60;  // columns

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::already_open:
      return "already_open";
    case Kind::enter:
      return "enter";
    case Kind::leave:
      return "leave";
    case Kind::orphan_exit:
      return "orphan_exit";
    case Kind::event:
      return "event";
    case Kind::loss:
      return "loss";
  }
  return "";
}

bool is_of_call(Kind kind) { return kind != Kind::event && kind != Kind::loss; }

std::string thread_words(const EventStream& stream) {
  std::string words = "thread " + thread_text(stream.thread);
  if (!stream.thread_name.empty()) words += " (" + visible(stream.thread_name) + ")";
  return words;
}

// Lines for people.
class TextLines {
 public:
  TextLines(const TimedCalls& calls, const FunctionNames& names, bool merge, BlockWriter& out)
      : calls_(calls), names_(names), merge_(merge), out_(out) {
    if (!merge) return;
    for (const EventStream& stream : calls.streams())
      thread_width_ = std::max(thread_width_, short_thread_text(stream.thread).size());
  }

  void add(const ReplayStep& step) {
    if (!any_ && merge_)
      out_.write(fmt::format("{:>16}  {:>8}  {:<{}}  CALL\n", "TIME (ms)", "DURATION", "THREAD",
                             thread_width_));
    if (!merge_ && (!any_ || step.stream != stream_)) {
      flush();
      out_.write(fmt::format("{}{}\n{:>16}  {:>8}  CALL\n", any_ ? "\n" : "",
                             thread_words(calls_.streams()[step.stream]), "TIME (ms)", "DURATION"));
    }
    any_ = true;
    stream_ = step.stream;
    const bool is_leaf = step.kind == Kind::leave && pending_ && pending_->call == step.call &&
                         pending_->stream == step.stream;
    if (is_leaf) {
      write(*pending_, show_duration(ns(step.duration)),
            call_words(*pending_) + (step.ended == CloseKind::returned ? ";" : ";  " + end(step)));
      pending_.reset();
      return;
    }
    flush();
    switch (step.kind) {
      case Kind::enter:
        pending_ = step;
        break;
      case Kind::already_open:
        write(step, "open", call_words(step) + " {");
        break;
      case Kind::leave:
        write(step, show_duration(ns(step.duration)),
              "} " + name(step) + (step.ended == CloseKind::returned ? "" : "  " + end(step)));
        break;
      case Kind::orphan_exit:
        write(step, "", "} " + name(step) + "  (entered before the recording began)");
        break;
      case Kind::event:
        write(step, "", "* " + visible(event_text(step)));
        break;
      case Kind::loss:
        write(step, "", "! events are missing: " + visible(step.text));
        break;
    }
  }

  void flush() {
    if (!pending_) return;
    write(*pending_, "", call_words(*pending_) + " {");
    pending_.reset();
  }

  void add_open(size_t stream, Ticks latest, const std::vector<OpenAtEnd>& open) {
    if (open.empty()) return;
    if (!std::exchange(any_open_, true))
      out_.write(fmt::format("{}Open at the end of the recording\n", any_ ? "\n" : ""));
    const EventStream& thread = calls_.streams()[stream];
    out_.write(
        fmt::format("{}, last event at {:.6f} ms{}\n", thread_words(thread), ms(latest),
                    thread.fault.empty() ? "" : "; it ended the process by " + thread.fault));
    for (size_t depth = 0; depth < open.size(); ++depth) {
      out_.write(fmt::format("{:16.6f}  {:>8}  {}{}\n", ms(open[depth].entered),
                             show_duration(ns(latest - open[depth].entered)), indentation(depth),
                             visible(names_.describe(open[depth].function).name)));
    }
  }

 private:
  [[nodiscard]] double ns(Ticks ticks) const {
    return calls_.clock().to_ns_f(static_cast<double>(ticks));
  }
  [[nodiscard]] double ms(Ticks time) const {
    return static_cast<double>(calls_.clock().to_ns(time - calls_.first_time())) / 1e6;
  }
  [[nodiscard]] std::string name(const ReplayStep& step) const {
    return visible(names_.describe(step.function).name);
  }
  [[nodiscard]] std::string call_words(const ReplayStep& step) const {
    std::string words = name(step);
    for (const uint64_t value : step.arguments) words += fmt::format(" {:#x}", value);
    return words;
  }
  static std::string end(const ReplayStep& step) {
    return step.ended == CloseKind::tail ? "(tail call)" : "(left by an exception or longjmp)";
  }
  static std::string indentation(size_t depth) {
    if (2 * depth <= kMostIndentation) return std::string(2 * depth, ' ');
    return std::string(kMostIndentation, ' ') + fmt::format("[depth {}] ", depth + 1);
  }
  void write(const ReplayStep& step, std::string_view duration, std::string_view words) {
    out_.block() += fmt::format("{}{:{}.6f}  {:>8}  ", step.estimated ? "~" : "", ms(step.time),
                                step.estimated ? 15 : 16, duration);
    if (merge_)
      out_.block() += fmt::format(
          "{:<{}}  ", short_thread_text(calls_.streams()[step.stream].thread), thread_width_);
    const std::string begin = indentation(step.depth);
    out_.block() += begin;
    const size_t used = 28 + (merge_ ? thread_width_ + 2 : 0) + begin.size();
    constexpr size_t kUsefulWords = 20;
    out_.block() += screen().is_terminal()
                        ? elided(words, std::max(screen().width, used + kUsefulWords) - used)
                        : std::string(words);
    out_.write("\n");
  }

  const TimedCalls& calls_;
  const FunctionNames& names_;
  bool merge_;
  BlockWriter& out_;
  size_t thread_width_ = 6;
  std::optional<ReplayStep> pending_;  // a call that may become a separate line
  size_t stream_ = 0;
  bool any_ = false;
  bool any_open_ = false;
};

// Steps as rows of kSteps.
class StepRows {
 public:
  StepRows(const TimedCalls& calls, const FunctionNames& names) : calls_(calls), names_(names) {}

  std::span<const TableCell> cells(const ReplayStep& step) {
    const EventStream& stream = calls_.streams()[step.stream];
    const bool of_call = is_of_call(step.kind);
    const bool is_leave = step.kind == Kind::leave;
    const auto if_any = [](bool condition, auto&& value) {
      return condition ? TableCell(std::forward<decltype(value)>(value)) : TableCell();
    };
    cells_ = {std::string(kind_name(step.kind)),
              stream.thread.pid,
              reports::process_number_cell(stream.thread),
              stream.thread.tid,
              calls_.clock().to_ns(step.time - calls_.first_time()),
              uint64_t{step.depth},
              if_any(step.call != 0, step.call),
              if_any(of_call, names_.describe(step.function).name),
              if_any(is_leave, calls_.clock().to_ns(step.duration)),
              if_any(is_leave, std::string(close_name(step.ended))),
              if_any(!step.arguments.empty(), joined(step.arguments, " ")),
              if_any(!of_call, step.kind == Kind::event ? event_text(step) : step.text),
              if_any(step.estimated, std::string("time"))};
    return cells_;
  }

 private:
  const TimedCalls& calls_;
  const FunctionNames& names_;
  std::array<TableCell, kSteps.size()> cells_;
};

// Calls use(step) for at most `options.limit` steps and at_end(thread); returns the number of
// steps.
template <typename Use, typename AtEnd>
uint64_t play(const TimedCalls& calls, const ReplayOptions& options, ProblemLog& problems, Use use,
              AtEnd at_end) {
  uint64_t steps = 0;
  replay(
      calls, options.selection, options.merge,
      [&](const ReplayStep& step) {
        if (++steps <= options.limit || options.limit == 0) use(step);
        return steps != options.limit || options.reads_all;
      },
      [&](const auto& thread) {
        if (thread.reached_end() && !options.selection.call) at_end(thread);
      },
      problems);
  return steps;
}

}  // namespace

ReplayCount count_replay_steps(const TimedCalls& calls, const ReplayOptions& options) {
  ReplayCount count;
  std::priority_queue<Ticks, std::vector<Ticks>, std::greater<>> newest;
  ProblemLog reported_by_the_answer;
  const ReplayOptions all = {.selection = options.selection, .merge = options.merge};
  play(
      calls, all, reported_by_the_answer,
      [&](const ReplayStep& step) {
        if (step.kind == Kind::already_open) return;
        ++count.steps;
        newest.push(step.time);
        if (newest.size() > options.limit) newest.pop();
      },
      [](const auto&) {});
  if (!newest.empty()) count.newest_from = newest.top();
  return count;
}

std::string event_text(const ReplayStep& step) {
  std::string words;
  if (step.category == "typed") words = fmt::format("type {}", step.type);
  std::string payload = step.text;
  if (!is_printable_utf8(payload)) {
    payload.clear();
    append_hex(payload, step.text);
  }
  if (!words.empty() && !payload.empty()) words += ": ";
  return words + payload;
}

uint64_t write_replay_text(const TimedCalls& calls, const FunctionNames& names,
                           const ReplayOptions& options, ProblemLog& problems, BlockWriter& out) {
  TextLines lines(calls, names, options.merge, out);
  bool is_last_step_written = false;
  const uint64_t steps = play(
      calls, options, problems, [&](const ReplayStep& step) { lines.add(step); },
      [&](const auto& thread) {
        if (!std::exchange(is_last_step_written, true)) lines.flush();
        lines.add_open(thread.stream, thread.latest(), thread.open_at_end());
      });
  lines.flush();
  return steps;
}

uint64_t write_replay_json(const TimedCalls& calls, const FunctionNames& names,
                           const ReplayOptions& options, std::string_view format,
                           ProblemLog& problems, BlockWriter& out) {
  JsonWriter json(out.block(), 2);
  begin_document(json, schemas::kReplay, format);
  json.key("steps");
  const TableSchema schema = reports::with_process_number(kSteps, calls.streams());
  JsonSink sink(schema, json, &out);
  StepRows step_rows(calls, names);
  Table open(reports::with_process_number(kOpen, calls.streams()));
  const uint64_t steps = play(
      calls, options, problems, [&](const ReplayStep& step) { sink.add(step_rows.cells(step)); },
      [&](const auto& thread) {
        const EventStream& stream = calls.streams()[thread.stream];
        uint64_t depth = 0;
        for (const OpenAtEnd& call : thread.open_at_end()) {
          open.add_row({stream.thread.pid, reports::process_number_cell(stream.thread),
                        stream.thread.tid,
                        stream.thread_name.empty() ? TableCell() : TableCell(stream.thread_name),
                        depth++, call.call, names.describe(call.function).name,
                        calls.clock().to_ns(call.entered - calls.first_time()),
                        calls.clock().to_ns(thread.latest() - call.entered),
                        stream.fault.empty() ? TableCell() : TableCell(stream.fault)});
        }
      });
  sink.end();
  json.key("open_at_end");
  open.write_json_rows(json, &out);
  end_document(json, problems);
  out.flush_if_full();
  return steps;
}

uint64_t write_replay_csv(const TimedCalls& calls, const FunctionNames& names,
                          const ReplayOptions& options, ProblemLog& problems, BlockWriter& out) {
  const TableSchema schema = reports::with_process_number(kSteps, calls.streams());
  CsvSink sink(schema, out);
  StepRows step_rows(calls, names);
  return play(
      calls, options, problems, [&](const ReplayStep& step) { sink.add(step_rows.cells(step)); },
      [](const auto&) {});
}

constinit const DocumentSchema schemas::kReplay{
    "replay", 1, "What happened, in order, and the calls open at the end.", true, kReplayMembers};

}  // namespace telltale
