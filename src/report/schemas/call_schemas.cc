// Documents about recordings with timed calls, and what every recording has.
#include <array>

#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::bytes;
using field::change;
using field::count;
using field::fraction;
using field::list_of;
using field::map_of;
using field::ns;
using field::number_id;
using field::object;
using field::rows;
using field::signed_id;
using field::text;

constexpr Field kPid = signed_id("pid", "Process; 0 if the recording does not say.");
constexpr Field kTid = signed_id("tid", "Thread.");
constexpr Field kFunction = text("function", "Name of the function; #17 if only its id is known.");

// info
constexpr std::array kThreadFields = {kPid, kTid};
constexpr std::array kInfoMembers = {
    text("format", "Format of the recording."),
    text("version", "Version of the format, as the file says it."),
    list_of("files", ValueType::text, "The files, as they were named."),
    bytes("bytes", "Size of all files, decompressed."),
    count("records", "Records of all kinds."),
    map_of("records_by_kind", ValueType::unsigned_integer, Unit::count,
           "Records by kind; only kinds that occur."),
    map_of("properties", ValueType::text, Unit::none, "What else the header says, in words."),
    rows("threads", kThreadFields, "Threads that have records."),
    field::number("clock_hz", Unit::hertz, "Ticks per second of the recording's clock.")
        .sometimes(),
    ns("span_ns", "Time from the first event to the last.").sometimes(),
    count("problem_count", "All problems; the list has the first thousand."),
    bytes("lost_bytes", "Bytes that could not be read."),
};

// top
constexpr std::array kTopColumns = {
    kPid.sometimes(),
    kTid.sometimes(),
    count("calls", "Calls that ended: returned, ended by a tail call, or unwound."),
    ns("total_ns", "Time during which the function was on the thread's stack."),
    ns("self_ns", "Time in the function and not in its callees, over all calls."),
    ns("min_ns", "Shortest of the calls that ended."),
    ns("median_ns", "Median of the calls that ended."),
    ns("p90_ns", "90 % of the calls that ended were not longer."),
    ns("p99_ns", "99 % of the calls that ended were not longer."),
    ns("max_ns", "Longest of the calls that ended."),
    ns("sum_ns", "Sum of the calls that ended; recursion counts at every level."),
    count("unwound", "Calls without an exit of their own."),
    count("unfinished", "Calls open at the end of the recording."),
    count("orphan_exits", "Exits without an entry."),
    number_id("id", "The function's id in the recording."),
    kFunction,
    text("file", "Source file of the function.").or_null(),
    number_id("line", "Line in that file.").or_null(),
};
constexpr std::array kTopMembers = {
    rows("rows", kTopColumns,
         "A row for each function; with --by-thread for each function and thread.")};

// stacks: the first number and the suffix depend on the measure.
constexpr std::array kStackColumns = {
    kPid.sometimes(),
    kTid.sometimes(),
    number_id("depth", "Frames of the path."),
    count("calls", "Calls along the path.").sometimes(),
    count("alloc_objects", "Objects allocated along the path.").sometimes(),
    count("samples", "Samples along the path.").sometimes(),
    count("throws", "Exceptions thrown along the path.").sometimes(),
    count("contentions", "Contentions along the path.").sometimes(),
    count("inuse_objects", "Live objects that the path keeps.").sometimes(),
    ns("total_ns", "Time on the path and below it.").sometimes(),
    ns("self_ns", "Time of the path's last frame alone.").sometimes(),
    bytes("total_bytes", "Bytes of the path and what is below it.").sometimes(),
    bytes("self_bytes", "Bytes of the path's last frame alone.").sometimes(),
    count("total_count", "Number for the path and what is below it.").sometimes(),
    count("self_count", "Number for the path's last frame alone.").sometimes(),
    text("stack",
         "Frames from the outermost, separated by semicolons, escaped as in folded stacks."),
};
constexpr std::array kStacksMembers = {
    rows("rows", kStackColumns, "A row for each path of calls.")};

// graph
constexpr std::array kGraphFunctions = {
    number_id("id", "The function's id in the recording."),
    kFunction,
    count("calls", "Calls of the function."),
    ns("total_ns", "Time during which the function was on the stack."),
    ns("self_ns", "Time in the function and not in its callees."),
};
constexpr std::array kGraphEdges = {
    number_id("caller_id", "Id of the function that calls."),
    number_id("callee_id", "Id of the function that is called."),
    text("caller", "Name of the function that calls."),
    text("callee", "Name of the function that is called."),
    count("calls", "Calls along this edge."),
    ns("total_ns", "Time of the calls along this edge that are not inside another one."),
};
constexpr std::array kGraphMembers = {
    rows("functions", kGraphFunctions, "The nodes."),
    rows("edges", kGraphEdges, "Who calls whom."),
    ns("total_ns", "Time in outermost calls."),
    count("pruned_functions", "Functions that --min-percent left out."),
    count("pruned_edges", "Edges that --min-percent left out."),
};

// diff
constexpr std::array kDiffSide = {
    text("file", "The recording, as it was named."),
    count("calls", "Its calls."),
    ns("total_ns", "Time in its outermost calls."),
};
constexpr Field kCallsBefore = count("calls_before", "Calls in the first recording.");
constexpr Field kCallsAfter = count("calls_after", "Calls in the second recording.");
constexpr Field kTotalBefore = ns("total_ns_before", "Total time in the first recording.");
constexpr Field kTotalAfter = ns("total_ns_after", "Total time in the second recording.");
constexpr Field kSelfBefore = ns("self_ns_before", "Self time in the first recording.");
constexpr Field kSelfAfter = ns("self_ns_after", "Self time in the second recording.");
constexpr Field kCallsChange =
    change("calls_difference", Unit::count, "Calls after less calls before.");
constexpr Field kTotalChange =
    change("total_ns_difference", Unit::ns, "Total time after less before.");
constexpr Field kSelfChange =
    change("self_ns_difference", Unit::ns, "Self time after less before.");
constexpr Field kFate = text("fate", "new, vanished, or empty if both recordings have it.");
constexpr std::array kDiffFunctions = {kCallsBefore, kCallsAfter, kTotalBefore, kTotalAfter,
                                       kSelfBefore,  kSelfAfter,  kCallsChange, kTotalChange,
                                       kSelfChange,  kFate,       kFunction};
constexpr std::array kDiffPaths = {kCallsBefore,
                                   kCallsAfter,
                                   kTotalBefore,
                                   kTotalAfter,
                                   kSelfBefore,
                                   kSelfAfter,
                                   kCallsChange,
                                   kTotalChange,
                                   kSelfChange,
                                   kFate,
                                   text("path", "Frames from the outermost.")};
constexpr std::array kDiffExceeded = {
    text("measure", "calls, total or self."),
    text("name", "The function or path."),
    count("before", "The measure before; times in ns."),
    count("after", "The measure after."),
};
constexpr std::array kDiffMembers = {
    object("before", kDiffSide, "The recording before."),
    object("after", kDiffSide, "The recording after."),
    rows("functions", kDiffFunctions, "Functions, the largest difference of self time first."),
    rows("paths", kDiffPaths, "Paths of calls, the largest difference of total time first."),
    rows("exceeded", kDiffExceeded, "What grew by more than --gate allows."),
};

// report of calls
constexpr std::array kHottestFunctions = {
    fraction("self_share", "Self time of all time in calls."),
    ns("self_ns", "Time in the function and not in its callees."),
    ns("total_ns", "Time during which the function was on the stack."),
    count("calls", "Calls that ended."),
    ns("median_ns", "Median of the calls that ended."),
    ns("max_ns", "Longest of the calls that ended."),
    kFunction,
};
constexpr std::array kHottestStacks = {
    fraction("self_share", "Self time of all time in calls."),
    ns("self_ns", "Time of the last frame's own code."),
    count("calls", "Calls along the path."),
    text("stack", "Frames from the outermost, separated by ' > '."),
};
constexpr std::array kBusiestThreads = {
    kPid,
    kTid,
    fraction("busy_share", "Time in calls of the recording's span."),
    ns("busy_ns", "Time in outermost calls."),
    count("calls", "Calls of the thread."),
};
constexpr std::array kReportCallsMembers = {
    text("format", "Format of the recording."),
    text("version", "Version of the format, as the file says it."),
    count("records", "Records of all kinds."),
    ns("span_ns", "Time from the first event to the last."),
    count("calls", "Calls."),
    count("events", "Events that the program wrote itself."),
    count("unwound", "Calls without an exit of their own."),
    count("unfinished", "Calls open at the end."),
    count("orphan_exits", "Exits without an entry."),
    count("flattened", "Calls deeper than stacks are told apart."),
    count("damaged_places", "Damaged places of the input."),
    bytes("lost_bytes", "Bytes of the input that could not be read."),
    rows("functions", kHottestFunctions, "The functions with most self time."),
    rows("stacks", kHottestStacks, "The stacks with most self time."),
    rows("threads", kBusiestThreads, "The threads with most time in calls."),
};

}  // namespace

constinit const DocumentSchema kInfo{"info", 1, "What a recording is.", true, kInfoMembers};
constinit const DocumentSchema kTop{"top", 1, "The profile of functions.", true, kTopMembers};
constinit const DocumentSchema kStacks{"stacks", 1, "What each path of calls took.", true,
                                       kStacksMembers};
constinit const DocumentSchema kGraph{"graph", 1, "Who calls whom.", true, kGraphMembers};
constinit const DocumentSchema kDiff{"diff", 1, "Two recordings, aligned by name.", false,
                                     kDiffMembers};
constinit const DocumentSchema kReportCalls{"report-calls", 1, "A summary of timed calls.", true,
                                            kReportCallsMembers};

}  // namespace telltale::schemas
