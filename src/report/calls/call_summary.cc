#include "report/calls/call_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/sort_rows.h"
#include "model/waiting.h"
#include "output/escape.h"
#include "report/calls/call_fields.h"

namespace telltale {

Result<CallReadings> CallReadings::read(const Recording& recording, const CallFilter& filter,
                                        const CallSummaryOptions& options, ProblemLog& problems) {
  const TimedCalls& calls = *recording.timed_calls();
  CallReadings read;
  read.options = options;
  read.source = &calls;
  read.names = std::make_shared<const StyledNames>(calls.functions(), options.names);
  read.profile = calls.profile({filter, options.workers, /*exact=*/false}, problems);
  ProblemLog same_again;  // the second pass would report the same problems again
  const Result<CallTreePartial> partial =
      calls.call_tree(filter, options.workers, {.by_thread = true, .max_depth = 1000}, same_again);
  if (!partial) return std::unexpected(partial.error());
  read.by_thread = partial->finish(calls.streams());
  read.together = partial->without_threads().finish(calls.streams());
  for (const CallTree::Root& root : read.together.roots)
    read.busy += read.together.nodes[root.node].total;
  read.info = info_of_selection(recording, filter, options.workers);
  return read;
}

namespace reports {
namespace {

using field::bytes;
using field::count;
using field::fraction;
using field::ns;
using field::rows;
using field::text;

constexpr Field kSelfShare =
    fraction("self_share", "Self time of all time in calls.").titled("SELF %");
constexpr std::array kHottestFunctions = {
    kSelfShare,
    ns("self_ns", "Time in the function and not in its callees."),
    ns("total_ns", "Time during which the function was on the stack."),
    count("calls", "Calls that ended."),
    count("unfinished", "Calls open at the end of the recording.").titled("OPEN"),
    ns("median_ns", "Median of the calls that ended; 0 if there is none, as in the next."),
    ns("max_ns", "Longest of the calls that ended."),
    kFunction,
};
constexpr std::array kHottestStacks = {
    kSelfShare,
    ns("self_ns", "Time of the last frame's own code."),
    count("calls", "Calls along the path."),
    text("stack", "Frames from the outermost, separated by ' > '."),
};
constexpr std::array kBusiestThreads = {
    kPid,
    kProcessNumber,
    kProcessName,
    kTid,
    kThreadName,
    fraction("busy_share", "Time in calls of the recording's span.").titled("OF SPAN"),
    ns("busy_ns", "Time in outermost calls.").titled("IN CALLS"),
    count("calls", "Calls of the thread."),
};
// The headings of figures are remarks that people see if the figure is not 0.
constexpr std::array kMembers = {
    text("format", "Format of the recording."),
    text("version", "Version of the format, as the file says it."),
    count("records", "Records of all kinds."),
    ns("span_ns", "Time from the first event to the last."),
    count("calls", "Calls."),
    count("events", "Events that the program wrote itself.").titled("custom and typed events"),
    count("unwound", "Calls without an exit of their own.")
        .titled("calls without an exit of their own (exceptions, longjmp)"),
    count("unfinished", "Calls open at the end.").titled("calls still open at the end"),
    count("orphan_exits", "Exits without an entry.").titled("exits without an entry"),
    count("flattened", "Calls below the maximum depth, merged into their ancestor.")
        .titled("calls below the maximum depth"),
    count("damaged_places", "Damaged places of the input.")
        .titled("damaged places (see telltale info)"),
    bytes("lost_bytes", "Bytes of the input that could not be read.")
        .titled("bytes of the input lost"),
    rows("functions", kHottestFunctions, "The functions with most self time.")
        .titled("Functions by self time"),
    rows("stacks", kHottestStacks, "The stacks with most self time.").titled("Hottest stacks"),
    rows("threads", kBusiestThreads, "The threads with most time in calls.")
        .titled("Busiest threads"),
};
struct Remark {
  std::string_view key;
  std::string_view of_one;  // the heading if the figure is 1
};
constexpr std::array kRemarks = {
    Remark("events", "custom or typed event"),
    Remark("unwound", "call without an exit of its own (exception, longjmp)"),
    Remark("unfinished", "call still open at the end"),
    Remark("orphan_exits", "exit without an entry"),
    Remark("flattened", "call below the maximum depth"),
    Remark("damaged_places", "damaged place (see telltale info)"),
    Remark("lost_bytes", "byte of the input lost"),
};

// Fraction of a whole, 0 to 1; 0 if the whole is 0.
double share(Ticks part, Ticks whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The functions with the most self time.
Table hottest_functions(const CallReadings& in) {
  const Clock& clock = in.source->clock();
  std::vector<FunctionProfile> sorted = in.profile.functions;
  sort_rows(sorted, std::greater(), &FunctionProfile::self);
  if (sorted.size() > in.options.rows) sorted.resize(in.options.rows);
  TableSchema schema(kHottestFunctions);
  const bool any_open =
      std::ranges::any_of(sorted, [](const FunctionProfile& row) { return row.unfinished != 0; });
  if (in.options.for_people && !any_open) schema.leave_out({"unfinished"});
  Table table(schema);
  for (const FunctionProfile& row : sorted) {
    // People see no "0 ns" for what there is none of.
    const auto of_calls = [&](Ticks time) {
      return row.calls == 0 && in.options.for_people ? TableCell() : TableCell(clock.to_ns(time));
    };
    table.add_row({share(row.self, in.busy), clock.to_ns(row.self), clock.to_ns(row.total),
                   row.calls, row.unfinished, of_calls(row.median), of_calls(row.max),
                   in.names->describe(row.function).name});
  }
  return table;
}

// The frames from the outermost to a node's.
std::string stack_text(const CallReadings& in, size_t leaf) {
  const CallTree& tree = in.together;
  std::string stack;
  size_t frames = 0;
  for (size_t node = leaf; tree.nodes[node].depth != 0; node = tree.nodes[node].parent) {
    if (++frames > in.options.most_frames) {
      stack.insert(0, fmt::format("... {} more > ", tree.nodes[node].depth));
      break;
    }
    const std::string& name = in.names->describe(tree.nodes[node].function).name;
    stack.insert(0, frames == 1 ? name : name + " > ");
  }
  return stack;
}

// The paths with the most self time.
Table hottest_stacks(const CallReadings& in) {
  const CallTree& tree = in.together;
  std::vector<size_t> nodes;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].depth != 0) nodes.push_back(i);
  }
  const auto hotter = [&](size_t a, size_t b) { return tree.nodes[a].self > tree.nodes[b].self; };
  sort_rows(nodes, hotter);
  if (nodes.size() > in.options.rows) nodes.resize(in.options.rows);
  Table table(kHottestStacks);
  for (const size_t leaf : nodes) {
    const CallTree::Node& node = tree.nodes[leaf];
    table.add_row({share(node.self, in.busy), in.source->clock().to_ns(node.self), node.calls,
                   stack_text(in, leaf)});
  }
  return table;
}

// Calls and time on the stack by thread, the busiest first.
Table busiest_threads(const CallReadings& in) {
  const CallTree& tree = in.by_thread;
  std::vector<CallTree::Root> roots = tree.roots;
  sort_rows(roots, [&](const CallTree::Root& a, const CallTree::Root& b) {
    return tree.nodes[a.node].total > tree.nodes[b.node].total;
  });
  if (roots.size() > in.options.rows) roots.resize(in.options.rows);
  TableSchema schema = with_process_number(kBusiestThreads, roots, &CallTree::Root::thread);
  if (in.options.for_people) {
    const auto named = [&](const std::string CallTree::Root::* name) {
      return std::ranges::any_of(roots,
                                 [&](const CallTree::Root& root) { return !(root.*name).empty(); });
    };
    if (!named(&CallTree::Root::process_name)) schema.leave_out({"process_name"});
    if (!named(&CallTree::Root::thread_name)) schema.leave_out({"thread_name"});
  }
  Table table(schema);
  for (const CallTree::Root& root : roots) {
    const CallTree::Node& node = tree.nodes[root.node];
    uint64_t calls = 0;
    for (size_t i = root.node + 1; i < node.end; ++i)
      calls += comparable_calls(tree.nodes[i].function, tree.nodes[i].calls);
    table.add_row({root.thread.pid, process_number_cell(root.thread), name_cell(root.process_name),
                   root.thread.tid, name_cell(root.thread_name),
                   share(node.total, in.info.last_time - in.info.first_time),
                   in.source->clock().to_ns(node.total), calls});
  }
  return table;
}

void make_summary(const ReportInput& input, Section& section) {
  const CallReadings& in = *input.calls;
  section.add("format", in.info.format);
  section.add("version", in.info.version);
  section.add("records", in.info.records);
  section.add("span_ns", in.info.span_ns());
  section.add("calls", in.together.calls);
  section.add("events", in.info.custom_events);
  section.add("unwound", in.together.unwound);
  section.add("unfinished", in.together.unfinished);
  section.add("orphan_exits", in.together.orphan_exits);
  section.add("flattened", in.together.flattened);
  section.add("damaged_places", in.info.problems.damage_count());
  section.add("lost_bytes", in.info.problems.lost_bytes());
  section.add("functions", hottest_functions(in));
  section.add("stacks", hottest_stacks(in));
  section.add("threads", busiest_threads(in));
}

}  // namespace

constinit const Report kCallSummary{.name = "calls",
                                    .title = "Timed calls",
                                    .sentence = "A summary of timed calls.",
                                    .needs = Capability::timed_calls,
                                    .members = kMembers,
                                    .make = make_summary};

}  // namespace reports

void write_call_summary_text(const CallReadings& readings, const Section& summary,
                             BlockWriter& out) {
  const RecordingInfo& info = readings.info;
  for (const std::string& file : info.files) out.write(visible(file) + "\n");
  out.write(fmt::format(
      "{} version {}: {}, {} in {}, {}\n", info.format, info.version,
      counted(info.records, "record"), counted(readings.together.calls, "call"),
      counted(info.threads.size(), "thread"),
      show_duration(info.clock.to_ns_f(static_cast<double>(info.last_time - info.first_time)))));
  for (const Section::Figure& figure : summary.figures()) {
    const auto* const remark =
        std::ranges::find(reports::kRemarks, figure.field->key, &reports::Remark::key);
    const uint64_t* const number = std::get_if<uint64_t>(&figure.value);
    if (remark != reports::kRemarks.end() && number != nullptr && *number != 0)
      out.write(fmt::format("  {} {}\n", *number,
                            *number == 1 ? remark->of_one : std::string_view(figure.heading)));
  }
  for (const Section::NamedTable& named : summary.tables()) {
    out.write(fmt::format("\n{}\n", *named.field->title));
    named.table.write_text(out);
  }
}

}  // namespace telltale
