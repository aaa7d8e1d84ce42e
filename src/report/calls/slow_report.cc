#include "report/calls/slow_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "base/counted.h"
#include "base/sort_rows.h"
#include "model/thread_text.h"
#include "output/escape.h"
#include "output/export.h"
#include "output/table/screen.h"
#include "output/table/show_units.h"
#include "output/table/table.h"
#include "report/calls/call_fields.h"
#include "report/calls/replay_report.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::count;
using field::fraction;
using field::ns;
using field::number_id;
using field::rows;
using field::text;
using reports::kFunction;
using reports::kPid;
using reports::kProcessNumber;
using reports::kTid;

constexpr std::array kSlowFunctions = {
    count("calls", "Calls that ended."),
    count("unfinished", "Calls open at the end of the recording.").titled("OPEN"),
    ns("min_ns", "Shortest of the calls that ended.").or_null(),
    ns("median_ns", "Median of the calls that ended.").or_null(),
    ns("p90_ns", "90 % of the calls that ended were not longer.").or_null(),
    ns("p99_ns", "99 % of the calls that ended were not longer.").or_null(),
    ns("max_ns", "Longest of the calls that ended.").or_null(),
    kFunction,
};
constexpr Field kRank = number_id("rank", "Rank of the slow call, from 1.");
constexpr std::array kCalls = {
    kRank,
    ns("duration_ns", "How long the call took."),
    ns("self_ns", "Of that, time outside of its recorded callees."),
    ns("typical_ns", "Duration of the typical call of this function: the median."),
    ns("start_ns", "When it began, since the start of the recording."),
    kPid,
    kProcessNumber,
    kTid,
    number_id("call", "The call's number in its thread, from 1: replay --call shows it."),
    text("ended", "normal, tail or unwound."),
    text("arguments", "Recorded arguments, separated by blanks.").or_null(),
    kFunction,
};
constexpr std::array kCallees = {
    kRank,
    ns("total_ns", "Time in this callee during the slow call.").titled("TIME"),
    count("calls", "Calls of it."),
    ns("typical_ns", "Time in this callee during the typical call.").titled("TYPICAL"),
    count("typical_calls", "Calls of it there.").titled("CALLS"),
    text("callee", "Function that the call called directly; null: its own code.")
        .titled("WHERE")
        .or_null(),
};
constexpr std::array kEvents = {
    kRank,
    ns("at_ns", "Time since the call began."),
    text("event", "What the program recorded during the call."),
};
constexpr std::array kMeanwhile = {
    kRank,
    kPid,
    kProcessNumber,
    kTid,
    ns("self_ns", "Time of the slow call during which the thread was in this function's own code."),
    text("function", "Function; null: the thread was in no recorded call.").or_null(),
};
constexpr std::array kSlowMembers = {
    rows("functions", kSlowFunctions, "The functions, and how long their calls took."),
    rows("calls", kCalls, "The slowest calls, the longest first."),
    rows("callees", kCallees, "Where the time of each went, compared with a typical call."),
    rows("events", kEvents, "Events during each."),
    rows("meanwhile", kMeanwhile, "What other threads did during each."),
};
constexpr std::array kBuckets = {
    ns("from_ns", "Shortest duration of the row."),
    ns("to_ns", "All durations of the row are shorter."),
    count("calls", "Calls that took so long."),
    fraction("share", "Of all calls that ended.").titled("CALLS %"),
    ns("total_ns", "Their time."),
    fraction("total_share", "Of the time of all calls that ended.").titled("TIME %"),
};
constexpr Field kBar = text("bar", "Calls, as the length of a line.").titled("");
constexpr std::array kShownBuckets = {kBuckets[0], kBuckets[1], kBuckets[2], kBuckets[3],
                                      kBuckets[4], kBuckets[5], kBar};
constexpr std::array kHistogramMembers = {
    rows("functions", kSlowFunctions, "The functions, and how long their calls took."),
    rows("buckets", kBuckets, "Calls by their duration, in powers of two."),
};
constexpr size_t kShownCallees = 8;
constexpr size_t kShownEvents = 10;
constexpr size_t kShownThreads = 8;

double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

Table functions_table(const TimedCalls& calls, const FunctionNames& names,
                      const std::vector<FunctionDurations>& functions) {
  Table table(kSlowFunctions);
  for (const FunctionDurations& one : functions) {
    const auto shown = [&](Ticks duration) {
      return one.ended == 0 ? TableCell() : TableCell(calls.clock().to_ns(duration));
    };
    table.add_row({one.ended, one.open, shown(one.min), shown(one.median), shown(one.p90),
                   shown(one.p99), shown(one.max), names.describe(one.function).name});
  }
  return table;
}

const CallDetails& typical_of(const SlowCalls& slow, const CallDetails& call) {
  return *std::ranges::find(slow.typical, call.which.function,
                            [](const CallDetails& one) { return one.which.function; });
}

Ticks self_of(const CallDetails& call) {
  Ticks inside = 0;
  for (const auto& [function, callee] : call.callees) inside += callee.total;
  return call.which.duration - std::min(inside, call.which.duration);
}

// A callee in a slow call and in a typical one; the call's own code has no name.
struct ComparedCallee {
  const FunctionInfo* function = nullptr;
  CallDetails::Callee here;
  CallDetails::Callee typical;
};

// Those whose times differ most first.
std::vector<ComparedCallee> compare_callees(const FunctionNames& names, const CallDetails& call,
                                            const CallDetails& typical) {
  std::map<FunctionId, ComparedCallee> by_function;
  for (const auto& [function, callee] : call.callees) by_function[function].here = callee;
  for (const auto& [function, callee] : typical.callees) by_function[function].typical = callee;
  std::vector<ComparedCallee> compared = {{nullptr, {0, self_of(call)}, {0, self_of(typical)}}};
  for (auto& [function, callee] : by_function) {
    callee.function = &names.describe(function);
    compared.push_back(callee);
  }
  sort_rows(compared, std::greater(), [](const ComparedCallee& one) {
    return std::max(one.here.total, one.typical.total) -
           std::min(one.here.total, one.typical.total);
  });
  return compared;
}

ReplayStep as_step(const CallDetails::Event& event) {
  ReplayStep step;
  step.kind = ReplayStep::Kind::event;
  step.category = event.category;
  step.type = event.type;
  step.text = event.payload;
  return step;
}

std::string thread_and_name(const EventStream& stream) {
  std::string words = "thread " + short_thread_text(stream.thread);
  if (!stream.thread_name.empty()) words += " (" + visible(stream.thread_name) + ")";
  return words;
}

// "1,234" times; small factors with a decimal.
std::string factor(double times) {
  return times < 10 ? fmt::format("{:.1f}", times) : fmt::format("{:.0f}", times);
}

class SlowText {
 public:
  SlowText(const TimedCalls& calls, const FunctionNames& names, const SlowCalls& slow,
           BlockWriter& out)
      : calls_(calls), names_(names), slow_(slow), out_(out) {}

  void write_call(size_t rank, const CallDetails& call, std::string_view command) {
    const CallDetails& typical = typical_of(slow_, call);
    const EventStream& stream = calls_.streams()[call.which.stream];
    std::string line = fmt::format("{}. {}", rank, duration(call.which.duration));
    if (typical.which.duration != 0 && call.which.duration > typical.which.duration) {
      line += fmt::format(", {} times the typical call",
                          factor(static_cast<double>(call.which.duration) /
                                 static_cast<double>(typical.which.duration)));
    }
    line += ": " + visible(names_.describe(call.which.function).name);
    for (const uint64_t value : call.arguments) line += fmt::format(" {:#x}", value);
    if (call.which.ended == CloseKind::unwound) line += " (left by an exception or longjmp)";
    out_.write("\n" + folded(line, 0, 3) + "\n");
    const std::string place = fmt::format(
        "   in {} at {:.6f} ms;", thread_and_name(stream),
        static_cast<double>(calls_.clock().to_ns(call.which.entered - calls_.first_time())) / 1e6);
    const std::string replay =
        fmt::format("{} --thread {} --call {}", command, thread_argument(call), call.which.call);
    // The command is to be copied: it stays in one line.
    const bool fits = !screen().is_terminal() || place.size() + 1 + replay.size() <= screen().width;
    out_.write(place + (fits ? " " : "\n   ") + replay + "\n");
    write_callees(call, typical);
    write_events(call);
    write_meanwhile(call);
  }

 private:
  // For --thread: the tid, if it is that of one thread.
  [[nodiscard]] std::string thread_argument(const CallDetails& call) const {
    const ThreadKey& thread = calls_.streams()[call.which.stream].thread;
    const auto same = std::ranges::count(calls_.streams(), thread.tid,
                                         [](const EventStream& one) { return one.thread.tid; });
    return same == 1 ? std::to_string(thread.tid) : thread_text(thread);
  }

  [[nodiscard]] std::string duration(Ticks ticks) const {
    return show_duration(calls_.clock().to_ns_f(static_cast<double>(ticks)));
  }

  void write_callees(const CallDetails& call, const CallDetails& typical) {
    static constexpr std::array kShownColumns = {kCallees[1], kCallees[2], kCallees[3], kCallees[4],
                                                 kCallees[5]};
    Table table(kShownColumns);
    std::vector<ComparedCallee> compared = compare_callees(names_, call, typical);
    const size_t all = compared.size();
    compared.resize(std::min(all, kShownCallees));
    for (const ComparedCallee& one : compared) {
      const auto number = [&](uint64_t of) {
        return one.function == nullptr ? TableCell() : TableCell(of);
      };
      table.add_row({calls_.clock().to_ns(one.here.total), number(one.here.calls),
                     calls_.clock().to_ns(one.typical.total), number(one.typical.calls),
                     one.function == nullptr ? std::string("(its own code)") : one.function->name});
    }
    table.write_text(out_, "   ");
    if (all > compared.size())
      out_.write(fmt::format("   and {} more callees\n", all - compared.size()));
  }

  void write_events(const CallDetails& call) {
    for (size_t i = 0; i < std::min(call.events.size(), kShownEvents); ++i) {
      const CallDetails::Event& event = call.events[i];
      out_.write(fmt::format("   event after {}: {}\n", duration(event.time - call.which.entered),
                             visible(event_text(as_step(event)))));
    }
    if (call.event_count > kShownEvents)
      out_.write(
          fmt::format("   and {}\n", counted(call.event_count - kShownEvents, "more event")));
  }

  void write_meanwhile(const CallDetails& call) {
    size_t shown = 0;
    for (const CallDetails::OtherThread& other : call.meanwhile) {
      if (++shown > kShownThreads) break;
      std::vector<std::pair<Ticks, std::string>> parts;
      if (other.outside != 0) parts.emplace_back(other.outside, "in no recorded call");
      for (const auto& [function, self] : other.self)
        parts.emplace_back(self, visible(names_.describe(function).name));
      sort_rows(parts, std::greater(), &std::pair<Ticks, std::string>::first);
      std::string words;
      constexpr size_t kParts = 3;
      for (size_t i = 0; i < std::min(parts.size(), kParts); ++i) {
        words += fmt::format("{}{:.0f} % {}", i == 0 ? "" : ", ",
                             100 * share(static_cast<double>(parts[i].first),
                                         static_cast<double>(call.which.duration)),
                             parts[i].second);
      }
      out_.write(fmt::format("   meanwhile {}: {}\n",
                             thread_and_name(calls_.streams()[other.stream]), words));
    }
    if (call.meanwhile.size() > kShownThreads)
      out_.write(fmt::format("   and {}\n",
                             counted(call.meanwhile.size() - kShownThreads, "more thread")));
  }

  const TimedCalls& calls_;
  const FunctionNames& names_;
  const SlowCalls& slow_;
  BlockWriter& out_;
};

std::vector<std::vector<TableCell>> bucket_rows(const std::vector<DurationBucket>& buckets) {
  uint64_t all_calls = 0;
  uint64_t all_ns = 0;
  for (const DurationBucket& bucket : buckets) {
    all_calls += bucket.calls;
    all_ns += bucket.total_ns;
  }
  std::vector<std::vector<TableCell>> cells;
  for (const DurationBucket& bucket : buckets) {
    cells.push_back({bucket.from_ns, bucket.to_ns, bucket.calls,
                     share(static_cast<double>(bucket.calls), static_cast<double>(all_calls)),
                     bucket.total_ns,
                     share(static_cast<double>(bucket.total_ns), static_cast<double>(all_ns))});
  }
  return cells;
}

}  // namespace

SlowCalls find_slow_calls(const TimedCalls& calls, const CallFilter& filter,
                          std::vector<FunctionDurations> functions,
                          const std::vector<RecordedCall>& longest) {
  std::vector<FunctionDurations> of_longest;
  std::ranges::copy_if(functions, std::back_inserter(of_longest), [&](const auto& one) {
    return std::ranges::find(longest, one.function, &RecordedCall::function) != longest.end();
  });
  ProblemLog same_again;  // collecting the functions has reported them
  TypicalCalls typical(of_longest);
  const auto is_of_longest = [&](FunctionId function) {
    return std::ranges::binary_search(of_longest, function, {}, &FunctionDurations::function);
  };
  for_each_call(
      calls, filter, CallFilter().max_depth, is_of_longest,
      [&](const RecordedCall& call) { typical.add(call); }, same_again);
  SlowCalls slow;
  slow.functions = std::move(functions);
  slow.slowest = collect_details(calls, filter, longest, same_again);
  slow.typical = collect_details(calls, filter, typical.finish(), same_again);
  return slow;
}

Section slow_section(const TimedCalls& calls, const FunctionNames& names, const SlowCalls& slow) {
  const Clock& clock = calls.clock();
  Table slowest(reports::with_process_number(kCalls, calls.streams()));
  Table callees(kCallees);
  Table events(kEvents);
  Table meanwhile(reports::with_process_number(kMeanwhile, calls.streams()));
  uint64_t rank = 0;
  for (const CallDetails& call : slow.slowest) {
    ++rank;
    const CallDetails& typical = typical_of(slow, call);
    const EventStream& stream = calls.streams()[call.which.stream];
    std::string arguments;
    for (const uint64_t value : call.arguments)
      arguments += fmt::format("{}{}", arguments.empty() ? "" : " ", value);
    slowest.add_row({rank, clock.to_ns(call.which.duration), clock.to_ns(self_of(call)),
                     clock.to_ns(typical.which.duration),
                     clock.to_ns(call.which.entered - calls.first_time()), stream.thread.pid,
                     reports::process_number_cell(stream.thread), stream.thread.tid,
                     call.which.call, std::string(close_name(call.which.ended)),
                     arguments.empty() ? TableCell() : TableCell(arguments),
                     names.describe(call.which.function).name});
    for (const ComparedCallee& one : compare_callees(names, call, typical)) {
      callees.add_row({rank, clock.to_ns(one.here.total), one.here.calls,
                       clock.to_ns(one.typical.total), one.typical.calls,
                       one.function == nullptr ? TableCell() : TableCell(one.function->name)});
    }
    for (const CallDetails::Event& event : call.events)
      events.add_row(
          {rank, clock.to_ns(event.time - call.which.entered), event_text(as_step(event))});
    for (const CallDetails::OtherThread& other : call.meanwhile) {
      const ThreadKey& thread = calls.streams()[other.stream].thread;
      const TableCell number = reports::process_number_cell(thread);
      if (other.outside != 0)
        meanwhile.add_row(
            {rank, thread.pid, number, thread.tid, clock.to_ns(other.outside), TableCell()});
      for (const auto& [function, self] : other.self)
        meanwhile.add_row({rank, thread.pid, number, thread.tid, clock.to_ns(self),
                           names.describe(function).name});
    }
  }
  Section section("slow", "Slowest calls", kSlowMembers);
  section.add("functions", functions_table(calls, names, slow.functions));
  section.add("calls", std::move(slowest));
  section.add("callees", std::move(callees));
  section.add("events", std::move(events));
  section.add("meanwhile", std::move(meanwhile));
  return section;
}

void write_slow_text(const TimedCalls& calls, const FunctionNames& names, const SlowCalls& slow,
                     std::string_view command, BlockWriter& out) {
  functions_table(calls, names, slow.functions).write_text(out);
  SlowText text(calls, names, slow, out);
  for (size_t i = 0; i < slow.slowest.size(); ++i) text.write_call(i + 1, slow.slowest[i], command);
}

Section histogram_section(const TimedCalls& calls, const FunctionNames& names,
                          const CallHistogram& histogram) {
  Table table(kBuckets);
  for (const std::vector<TableCell>& cells : bucket_rows(histogram.buckets)) table.add_row(cells);
  Section section("histogram", "Durations", kHistogramMembers);
  section.add("functions", functions_table(calls, names, histogram.functions));
  section.add("buckets", std::move(table));
  return section;
}

void write_histogram_text(const TimedCalls& calls, const FunctionNames& names,
                          const CallHistogram& histogram, BlockWriter& out) {
  functions_table(calls, names, histogram.functions).write_text(out);
  if (histogram.buckets.empty()) return;
  uint64_t most = 1;
  for (const DurationBucket& bucket : histogram.buckets) most = std::max(most, bucket.calls);
  // On a narrow screen bars are shorter: they would be cut like names, and lie.
  constexpr uint64_t kWidest = 24;
  constexpr uint64_t kNarrowest = 4;
  constexpr uint64_t kOtherColumns = 36;  // characters
  const uint64_t width = screen().width;
  const uint64_t room = width > kOtherColumns ? width - kOtherColumns : 0;
  const uint64_t widest = width == 0 ? kWidest : std::clamp(room, kNarrowest, kWidest);
  Table table(kShownBuckets);
  std::vector<std::vector<TableCell>> rows = bucket_rows(histogram.buckets);
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t length = (histogram.buckets[i].calls * widest + most - 1) / most;
    rows[i].emplace_back(std::string(static_cast<size_t>(length), '#'));
    table.add_row(rows[i]);
  }
  out.write("\n");
  table.write_text(out);
}

constinit const DocumentSchema schemas::kSlow{
    "slow", 1, "The slowest calls of some functions, and a typical one.", true, kSlowMembers};
constinit const DocumentSchema schemas::kHistogram{
    "histogram", 1, "How long the calls of some functions took.", true, kHistogramMembers};

}  // namespace telltale
