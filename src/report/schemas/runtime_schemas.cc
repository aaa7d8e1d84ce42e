// Documents about recordings with runtime events: a member a report. docs/analysis/mono.md,
// heap.md, runtime-timeline.md and weighted-stacks.md define the figures.
#include "report/schemas/runtime_schemas.h"

#include <array>

#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::address;
using field::bytes;
using field::change;
using field::count;
using field::fraction;
using field::ns;
using field::number;
using field::number_id;
using field::object;
using field::rows;
using field::scalar;
using field::signed_id;
using field::text;

constexpr Field ms(std::string_view key, std::string_view sentence) {
  return Field{key, ValueType::unsigned_integer, Unit::ms, sentence}.sometimes();
}
constexpr Field us(std::string_view key, std::string_view sentence) {
  return Field{key, ValueType::unsigned_integer, Unit::us, sentence}.sometimes();
}

constexpr Field kStack = text("stack", "Frames from the outermost, separated by ' > '.");
constexpr Field kType = text("type", "Name of the type.");
constexpr Field kClass = address("class", "Address of the class.");
constexpr Field kAt = change("at_ns", Unit::ns, "When, since the recording's first event.");
constexpr Field kShot = number_id("shot", "Number of the heap shot, from 0 in order of time.");
constexpr Field kSection = text("section", "Section of the counter.");
constexpr Field kName = text("name", "Name of the counter.");

constexpr std::array kHeader = {
    text("profiler_version", "Version of the profiler."),
    number_id("data_version", "Version of the format."),
    bytes("pointer_bytes", "Size of a pointer."),
    text("arguments", "Arguments of the profiler.").sometimes(),
    text("architecture", "Architecture.").sometimes(),
    text("operating_system", "Operating system.").sometimes(),
    ns("timer_overhead_ns", "Mean time to read the clock."),
    Field{"startup_ms", ValueType::unsigned_integer, Unit::ms, "Start of the program, since 1970."},
    text("startup", "The same as a date in UTC.").sometimes(),
    number_id("pid", "Process.").sometimes(),
    number_id("port", "Port that takes commands.").sometimes(),
};
constexpr std::array kJit = {
    count("methods", "Methods compiled in the window."),
    change("bytes", Unit::bytes, "Sum of their code sizes."),
    count("unknown_sizes", "Methods of unknown size.").sometimes(),
    count("recompilations", "Compilations beyond each method's first.").sometimes(),
    count("helpers", "Code that the runtime generated for itself."),
    bytes("helper_bytes", "Sum of its sizes."),
};
constexpr std::array kGenerations = {
    number_id("generation", "Generation."),
    count("collections", "Collections that began."),
    ns("max_ns", "Longest collection.").sometimes(),
    ns("total_ns", "All collections.").sometimes(),
    ns("average_ns", "Mean of those that ended.").or_null().sometimes(),
    us("max_us", "With --like-mprof: longest collection."),
    us("total_us", "With --like-mprof: all collections."),
    us("average_us", "With --like-mprof: mean of all.").or_null(),
};
constexpr std::array kHandles = {
    text("kind", "weak, weaktrack, normal or pinned."),
    count("created", "Handles created."),
    count("destroyed", "Handles destroyed."),
    count("most", "Most that were alive at once."),
};
constexpr std::array kHandleTraces = {
    text("kind", "weak, weaktrack, normal or pinned."),
    text("change", "created or destroyed."),
    count("handles", "Handles."),
    kStack,
};
constexpr std::array kGc = {
    count("resizes", "Changes of the heap's size."),
    bytes("max_heap_bytes", "Largest heap."),
    count("moved_objects", "Objects moved."),
    rows("generations", kGenerations, "A row for each generation that was collected."),
    rows("handles", kHandles, "A row for each kind of handle in use."),
    rows("traces", kHandleTraces, "Handles by stack.").sometimes(),
};
constexpr std::array kSampleLines = {
    count("hits", "Samples in it."),
    fraction("share", "Of all hits."),
    text("kind", "method, symbol, binary or unknown."),
    kName,
};
constexpr std::array kSample = {
    text("type", "What was sampled.").sometimes(),
    count("samples", "Hits.").sometimes(),
    count("unmanaged", "Hits outside of methods.").sometimes(),
    count("managed", "Hits in methods.").sometimes(),
    count("unresolved", "Unmanaged hits without a symbol.").sometimes(),
    rows("lines", kSampleLines, "The most hits first.").sometimes(),
};
constexpr std::array kAllocTypes = {
    bytes("bytes", "Bytes allocated."),
    count("objects", "Objects allocated."),
    bytes("average", "Bytes an object, rounded down."),
    kType,
    kClass,
};
constexpr std::array kAllocTraces = {kType, kClass, bytes("bytes", "Bytes allocated."), kStack};
constexpr std::array kAlloc = {
    bytes("bytes", "Bytes allocated."),
    count("objects", "Objects allocated."),
    rows("types", kAllocTypes, "A row for each class."),
    rows("traces", kAllocTraces, "Allocations by stack.").sometimes(),
};
constexpr std::array kMethods = {
    ns("total_ns", "Time during which the method was on the stack.").sometimes(),
    ns("self_ns", "Time in the method and not in its callees.").sometimes(),
    ms("total_ms", "With --like-mprof: total time; recursion counts at every level."),
    ms("self_ms", "With --like-mprof: self time."),
    count("calls", "Calls."),
    count("unwound", "Calls without an exit of their own.").sometimes(),
    count("unfinished", "Calls open at the end.").sometimes(),
    text("method", "Name of the method."),
};
constexpr std::array kCallTraces = {text("method", "Name of the method."), count("calls", "Calls."),
                                    kStack};
constexpr std::array kUnmatched = {
    count("position", "Depth below the innermost call."),
    text("method", "Name of the method."),
};
constexpr std::array kCall = {
    count("calls", "Calls."),
    count("orphan_exits", "Exits without an entry.").sometimes(),
    count("unmatched_exits", "With --like-mprof: exits that do not match.").sometimes(),
    rows("methods", kMethods, "A row for each method."),
    rows("traces", kCallTraces, "Calls by callers.").sometimes(),
    rows("unmatched", kUnmatched, "With --like-mprof: exits that do not match.").sometimes(),
};
constexpr std::array kModules = {
    address("id", "Where the runtime has it."),
    change("loaded_ns", Unit::ns, "When it was loaded."),
    change("unloaded_ns", Unit::ns, "When it was unloaded.").or_null(),
    text("name", "Its name."),
};
constexpr std::array kMetadata = {
    count("images", "Images loaded."),
    count("assemblies", "Assemblies loaded."),
    rows("image_list", kModules, "With --verbose: the images.").sometimes(),
    rows("assembly_list", kModules, "With --verbose: the assemblies.").sometimes(),
};
constexpr std::array kThrows = {count("throws", "Exceptions thrown."), kStack};
constexpr std::array kException = {
    count("throws", "Exceptions thrown."),
    count("catch", "Catch clauses run."),
    count("filter", "Filter clauses run."),
    count("finally", "Finally clauses run."),
    count("fault", "Fault clauses run."),
    rows("traces", kThrows, "Exceptions by stack.").sometimes(),
};
constexpr std::array kLocks = {
    address("object", "Address of the lock."),
    count("contentions", "Contentions."),
    count("acquired", "Waits that got the lock."),
    count("failed", "Waits that did not."),
    ns("wait_ns", "Sum of the waits."),
    ns("max_ns", "Longest wait."),
    number("average_ns", Unit::ns, "Waits divided by contentions.").or_null(),
};
constexpr std::array kLockTraces = {address("object", "Address of the lock."),
                                    count("contentions", "Contentions."), kStack};
constexpr std::array kMonitor = {
    count("contentions", "Contentions."),
    count("acquired", "Locks acquired after a contention."),
    count("failures", "Failures to acquire."),
    rows("locks", kLocks, "A row for each lock."),
    rows("traces", kLockTraces, "Contentions by stack.").sometimes(),
};
constexpr Field kLastName = text("name", "Its last name.");
constexpr Field kAllNames = text("names", "All its names, separated by commas.");
constexpr std::array kThreads = {address("id", "Thread."), count("starts", "Starts."),
                                 count("ends", "Ends."), kLastName, kAllNames};
constexpr std::array kThread = {rows("threads", kThreads, "Threads that wrote events.")};
constexpr std::array kDomains = {address("id", "Domain."), count("loads", "Loads."),
                                 count("unloads", "Unloads."), kLastName, kAllNames};
constexpr std::array kDomain = {rows("domains", kDomains, "Application domains.")};
constexpr std::array kContexts = {address("id", "Context."), address("domain", "Its domain."),
                                  count("loads", "Loads."), count("unloads", "Unloads.")};
constexpr std::array kContext = {rows("contexts", kContexts, "Remoting contexts.")};
constexpr std::array kShots = {
    kShot,
    kAt,
    bytes("bytes", "Bytes of its objects."),
    count("objects", "Objects."),
    count("classes", "Different classes."),
    count("roots", "Roots; known with --traces.").or_null(),
};
constexpr std::array kUnfinishedShots = {kShot, kAt, bytes("bytes", "Bytes of its objects."),
                                         count("objects", "Objects.")};
constexpr std::array kShotClasses = {
    kShot,
    bytes("bytes", "Bytes of the objects."),
    count("objects", "Objects."),
    bytes("average", "Bytes an object, rounded down."),
    change("delta_bytes", Unit::bytes, "Change since the previous shot.").or_null(),
    change("delta_objects", Unit::count, "Change since the previous shot.").or_null(),
    kType,
    kClass,
};
constexpr std::array kReferences = {
    kShot,
    kType,
    kClass,
    count("references", "References to objects of the class."),
    count("pinning", "Of these from pinning roots.").or_null(),
    text("from", "Type that refers to them, or (roots)."),
    address("from_class", "Its class.").or_null(),
};
constexpr std::array kHeapshot = {
    rows("shots", kShots, "Whole heap shots.").sometimes(),
    rows("unfinished", kUnfinishedShots, "Shots without an end, left out.").sometimes(),
    rows("classes", kShotClasses, "Classes of each shot.").sometimes(),
    rows("references", kReferences, "With --traces: who refers to what.").sometimes(),
};
constexpr std::array kCounters = {
    kAt.sometimes(),
    kSection,
    kName,
    text("type", "Type of its values.").sometimes(),
    text("unit", "Unit of its values.").sometimes(),
    text("variance", "How it changes.").sometimes(),
    scalar("value", "The value.").or_null(),
    text("shown", "The value as mprof-report writes it."),
};
constexpr std::array kCountersReport = {
    rows("counters", kCounters, "Last values; with --verbose, all.")};
constexpr Field kMethodCount = count("methods", "Methods.");
constexpr Field kFully = count("fully", "Methods covered whole.");
constexpr Field kPartially = count("partially", "Methods covered in part.");
constexpr Field kAssembly = text("assembly", "Assembly.");
constexpr std::array kCoveredAssemblies = {kAssembly, kMethodCount, kFully, kPartially};
constexpr std::array kCoveredTypes = {kAssembly, kType, kMethodCount, kFully, kPartially};
constexpr std::array kCoveredMethods = {
    kAssembly,
    kType,
    text("method", "Method with its signature."),
    count("statements", "Statements."),
    count("covered", "Statements that ran."),
    text("file", "Source file."),
};
constexpr std::array kCoverage = {
    rows("assemblies", kCoveredAssemblies, "By assembly."),
    rows("types", kCoveredTypes, "By type."),
    rows("methods", kCoveredMethods, "By method."),
};
constexpr std::array kEvents = {
    count("count", "Events."),
    bytes("bytes", "Their bytes."),
    bytes("least", "Bytes of the shortest."),
    bytes("most", "Bytes of the longest."),
    address("first_byte", "First byte of the event, in hexadecimal digits."),
    text("event", "Kind of event."),
    text("variant", "Which variant of it."),
};
constexpr std::array kStats = {
    count("buffers", "Buffers of the file."),
    bytes("header_bytes", "Bytes of their headers."),
    rows("events", kEvents, "Events by kind."),
};

// Reports that mprof-report does not have.
constexpr Field percentile(std::string_view key, std::string_view sentence) {
  return ns(key, sentence).sometimes();
}
constexpr std::array kPauseGenerations = {
    number_id("generation", "The oldest generation that was collected."),
    count("pauses", "Pauses."),
    ns("total_ns", "All pauses."),
    ns("p50_ns", "Median."),
    ns("p90_ns", "90 % are not longer."),
    ns("p99_ns", "99 % are not longer."),
    ns("max_ns", "Longest."),
};
constexpr std::array kPauseTimeline = {
    kAt,
    ns("pause_ns", "Length of the pause.").or_null(),
    ns("to_stop_ns", "Until all threads stood still.").or_null(),
    ns("stopped_ns", "While all threads stood still.").or_null(),
    ns("to_restart_ns", "Until all threads ran again.").or_null(),
    number_id("generation", "The oldest generation that was collected."),
    count("collections", "Collections in the pause."),
    number_id("shutdown", "1: the stop at the end of the program."),
    text("thread", "The thread that stopped the world."),
};
constexpr std::array kPauses = {
    count("pauses", "Pauses."),
    ns("shutdown_ns", "Stops at the end of the program.").or_null().sometimes(),
    percentile("total_pause_ns", "Sum of the pauses."),
    percentile("p50_pause_ns", "Median of the pauses."),
    percentile("p90_pause_ns", "90 % of the pauses are not longer."),
    percentile("p99_pause_ns", "99 % of the pauses are not longer."),
    percentile("max_pause_ns", "Longest pause."),
    percentile("total_to_stop_ns", "Sum of the times to stop."),
    percentile("p50_to_stop_ns", "Median of the times to stop."),
    percentile("p90_to_stop_ns", "90 % of the times to stop are not longer."),
    percentile("p99_to_stop_ns", "99 % of the times to stop are not longer."),
    percentile("max_to_stop_ns", "Longest time to stop."),
    rows("by_generation", kPauseGenerations, "By the oldest generation that was collected."),
    rows("timeline", kPauseTimeline, "In order of time."),
};
constexpr std::array kGrowthOverTime = {
    kShot,
    kAt,
    count("objects", "Objects."),
    bytes("bytes", "Bytes."),
    change("bytes_change", Unit::bytes, "Change since the shot before.").or_null(),
};
constexpr std::array kGrowthLeftOut = {kShot, kAt, count("objects", "Objects."),
                                       bytes("bytes", "Bytes."),
                                       text("why", "unfinished or at exit.")};
constexpr std::array kGrowthTypes = {
    change("bytes_change", Unit::bytes, "Growth from the first shot to the last."),
    change("objects_change", Unit::count, "Growth from the first shot to the last."),
    bytes("first_bytes", "Bytes in the first shot."),
    bytes("last_bytes", "Bytes in the last shot."),
    count("first_objects", "Objects in the first shot."),
    count("last_objects", "Objects in the last shot."),
    count("steps_up", "Shots with more bytes than the one before."),
    count("steps_down", "Shots with less."),
    number_id("steady", "1: it grows steadily."),
    kType,
};
constexpr std::array kGrowthSeries = {kShot, kAt, count("objects", "Objects."),
                                      bytes("bytes", "Bytes."), kType};
constexpr std::array kGrowth = {
    count("shots", "Heap shots of the running program."),
    count("steady", "Types that grow steadily."),
    rows("over_time", kGrowthOverTime, "The shots."),
    rows("left_out", kGrowthLeftOut, "Shots that are left out."),
    rows("types", kGrowthTypes, "Types, the most growth first."),
    rows("series", kGrowthSeries, "Types by shot.").sometimes(),
};
constexpr std::array kRetained = {
    bytes("bytes", "Bytes of all its objects."),
    count("objects", "All its objects."),
    bytes("chain_bytes", "Bytes that the chain keeps alive."),
    count("chain_objects", "Objects that the chain keeps alive."),
    count("length", "References of the chain.").or_null(),
    kType,
    text("chain", "From a root to the type, separated by ' > '.").or_null(),
};
constexpr std::array kRetention = {
    number_id("shots", "1: there is a heap shot."),
    text("left_out", "Later shots that are left out, and why.").sometimes(),
    number_id("shot", "Number of the heap shot.").sometimes(),
    ns("at_ns", "When it was taken.").sometimes(),
    count("objects", "Its objects.").sometimes(),
    count("references", "References between them.").sometimes(),
    count("roots", "Its roots.").sometimes(),
    count("unreached_objects", "Objects that no root leads to.").sometimes(),
    bytes("unreached_bytes", "Bytes of these.").sometimes(),
    count("dangling", "References to no object of the shot.").sometimes(),
    rows("types", kRetained, "A row for each type.").sometimes(),
};
template <size_t N>
constexpr std::array<Field, N + 1> with_last(const std::array<Field, N>& fields, Field last) {
  std::array<Field, N + 1> all{};
  for (size_t i = 0; i < N; ++i) all[i] = fields[i];
  all[N] = last;
  return all;
}
constexpr std::array kWaits = {
    ns("blocked_ns", "Time spent waiting."),
    count("waits", "Waits."),
    count("acquired", "Waits that got the lock."),
    count("failed", "Waits that did not."),
    ns("median_ns", "Median of the waits."),
    ns("max_ns", "Longest wait."),
    count("locks", "Different locks."),
    count("threads", "Different threads."),
};
constexpr auto kWaitSites = with_last(kWaits, text("site", "Method that waits."));
constexpr auto kWaitStacks = with_last(kWaits, kStack);
constexpr std::array kContention = {
    count("waits", "Waits."),
    count("unfinished", "Waits that were not over at the end."),
    percentile("total_blocked_ns", "Sum of the waits."),
    percentile("p50_blocked_ns", "Median of the waits."),
    percentile("p90_blocked_ns", "90 % of the waits are not longer."),
    percentile("p99_blocked_ns", "99 % of the waits are not longer."),
    percentile("max_blocked_ns", "Longest wait."),
    rows("sites", kWaitSites, "By the method that waits."),
    rows("stacks", kWaitStacks, "By stack."),
};
constexpr std::array kHot = {
    count("throws", "Exceptions thrown."),
    fraction("share", "Of all exceptions."),
    text("type", "Type of the exception.").or_null(),
};
constexpr auto kHotSites = with_last(kHot, text("site", "Method that throws."));
constexpr auto kHotStacks = with_last(kHot, kStack);
constexpr std::array kHotspots = {
    count("throws", "Exceptions thrown."),
    rows("sites", kHotSites, "By the method that throws."),
    rows("stacks", kHotStacks, "By stack."),
};
constexpr std::array kThreadTimes = {
    signed_id("pid", "Process; 0 if the recording does not say."),
    signed_id("tid", "Thread."),
    text("name", "Name of the thread."),
    ns("started_ns", "When it started.").or_null(),
    ns("ended_ns", "When it ended.").or_null(),
    ns("first_ns", "Its first event.").or_null(),
    ns("last_ns", "Its last event.").or_null(),
    count("calls", "Calls."),
    count("allocations", "Allocations."),
    bytes("allocated_bytes", "Bytes allocated."),
    count("throws", "Exceptions thrown."),
    count("waits", "Waits for locks."),
    ns("waited_ns", "Time of these waits."),
};
constexpr std::array kTimelines = {rows("threads", kThreadTimes, "A row for each thread.")};
constexpr std::array kCounterSeries = {
    count("values", "Values in the window."),
    scalar("first", "First value.").or_null(),
    scalar("min", "Smallest value.").or_null(),
    scalar("max", "Largest value.").or_null(),
    scalar("last", "Last value.").or_null(),
    kSection,
    kName,
};
constexpr std::array kCounterValues = {kAt, scalar("value", "The value.").or_null(), kSection,
                                       kName};
constexpr std::array kSeries = {
    rows("counters", kCounterSeries, "A row for each counter."),
    rows("values", kCounterValues, "Every value.").sometimes(),
};

constexpr Field report(std::string_view name, std::span<const Field> members,
                       std::string_view sentence) {
  return object(name, members, sentence).sometimes();
}
constexpr std::array kReports = {
    report("header", kHeader, "What the file's header says."),
    report("jit", kJit, "Compiled methods."),
    report("gc", kGc, "Garbage collections, and handles."),
    report("sample", kSample, "Where statistical samples hit."),
    report("alloc", kAlloc, "Allocations by class."),
    report("call", kCall, "Time and calls by method."),
    report("metadata", kMetadata, "Loaded images and assemblies."),
    report("exception", kException, "Exceptions, and clauses that ran."),
    report("monitor", kMonitor, "Contention by lock."),
    report("thread", kThread, "Threads."),
    report("domain", kDomain, "Application domains."),
    report("context", kContext, "Remoting contexts."),
    report("heapshot", kHeapshot, "What was alive, by class."),
    report("counters", kCountersReport, "Counters of the runtime."),
    report("coverage", kCoverage, "Code coverage."),
    report("stats", kStats, "What the recording is made of."),
    report("pauses", kPauses, "Pauses for garbage collection."),
    report("growth", kGrowth, "Growth of the heap between heap shots."),
    report("retention", kRetention, "What keeps objects alive in the last heap shot."),
    report("contention", kContention, "Waiting for locks, by call site."),
    report("hotspots", kHotspots, "Where exceptions are thrown."),
    report("timelines", kTimelines, "Threads over time."),
    report("series", kSeries, "Counters over time."),
};

constexpr std::array kObjectEvents = {
    number_id("object", "Number of the object, from 0."),
    text("event", "created, moved, came, referenced, handle or gone."),
    kAt,
    address("address", "Where the object is."),
    address("other", "Where it moved to or came from, or what refers to it.").or_null(),
    number_id("handle", "The handle.").or_null(),
    bytes("bytes", "Its size.").or_null(),
    kType.or_null(),
    kStack.sometimes(),
};
constexpr std::array kObjects = {
    count("objects", "Objects that were found."),
    rows("events", kObjectEvents, "What happened to them, in file order."),
};
constexpr std::array kObjectMembers = {
    object("objects", kObjects, "Objects of --track and --find.")};

}  // namespace

std::span<const Field> runtime_reports() { return kReports; }

constinit const DocumentSchema kReportRuntime{"report-runtime", 1, "Reports on a managed runtime.",
                                              true, kReports};
constinit const DocumentSchema kReportObjects{
    "report-objects", 1, "What happened to single objects.", true, kObjectMembers};

}  // namespace telltale::schemas
