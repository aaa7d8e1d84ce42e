#include "report/runtime/mono_sections.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace telltale {

Ticks zero_time(const RuntimeEvents& source, const RuntimeReportOptions& options) {
  return options.like_mprof ? source.first_buffer_time() : source.calls().first_time();
}

std::string hex(uint64_t number) { return fmt::format("0x{:x}", number); }

MonoSections::MonoSections(Input input)
    : in_(std::move(input)),
      zero_(zero_time(in_.source, in_.options)),
      has_vtables_(in_.source.header().types_by_domain),
      by_count_(in_.options.alloc_sort == "count") {}

std::span<const std::string> MonoSections::names() {
  static const std::vector<std::string> kNames = {
      "header",  "jit",    "gc",     "sample",  "alloc",    "call",     "metadata", "exception",
      "monitor", "thread", "domain", "context", "heapshot", "counters", "coverage", "stats"};
  return kNames;
}

Section MonoSections::make(const std::string& name) {
  if (name == "header") return header();
  if (name == "jit") return jit();
  if (name == "gc") return gc();
  if (name == "sample") return sample();
  if (name == "alloc") return alloc();
  if (name == "call") return call();
  if (name == "metadata") return metadata();
  if (name == "exception") return exception();
  if (name == "monitor") return monitor();
  if (name == "thread") return thread();
  if (name == "domain") return domain();
  if (name == "context") return context();
  if (name == "heapshot") return heapshot();
  if (name == "counters") return counters();
  if (name == "stats") return stats();
  return coverage();
}

Section MonoSections::header() const {
  const RuntimeHeader header = in_.source.header();
  Section section{"header", "Recording", {}, {}};
  section.add("profiler_version", "Profiler version", header.profiler_version);
  section.add("data_version", "Data version", header.data_version);
  section.add("pointer_bytes", "Bytes of a pointer", header.pointer_bytes);
  if (const auto& environment = header.environment) {
    section.add("arguments", "Arguments", environment->arguments, Show::text);
    section.add("architecture", "Architecture", environment->architecture, Show::text);
    section.add("operating_system", "Operating system", environment->operating_system, Show::text);
  }
  section.add("timer_overhead_ns", "Mean timer overhead", header.timer_overhead_ns, Show::duration);
  section.add("startup_ms", "Program startup, ms since 1970", header.startup_ms);
  if (header.startup_ms != 0) {
    const auto seconds = static_cast<std::time_t>(
        std::min<uint64_t>(header.startup_ms / 1000, 253'402'300'799));  // the year 9999
    section.add("startup", "Program startup",
                fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds)), Show::text);
  }
  if (header.pid != 0) section.add("pid", "Program id", header.pid);
  if (header.port != 0) section.add("port", "Server listening on", uint64_t{header.port});
  return section;
}

Section MonoSections::jit() const {
  Section section{"jit", "JIT", {}, {}};
  uint64_t bytes = 0;
  uint64_t told_bytes = 0;
  uint64_t unknown = 0;
  uint64_t again = 0;
  const auto methods = in_.facts.code.methods();
  for (const CompiledCode::Method& method : methods) {
    bytes += method.knows_size() ? method.bytes : 0;
    told_bytes += method.bytes;
    unknown += static_cast<uint64_t>(!method.knows_size());
    again += method.compilations - 1;
  }
  section.add("methods", "Compiled methods", uint64_t{methods.size()});
  if (in_.options.like_mprof) {
    section.add("bytes", "Generated code, bytes", int64_t{static_cast<int32_t>(told_bytes)});
  } else {
    section.add("bytes", "Generated code, bytes", bytes);
    section.add("unknown_sizes", "Methods of unknown size", unknown);
    section.add("recompilations", "Compiled again", again);
  }
  section.add("helpers", "JIT helpers", in_.facts.code.helpers());
  section.add("helper_bytes", "JIT helpers' code, bytes", in_.facts.code.helper_bytes());
  return section;
}

Section MonoSections::gc() const {
  const GcCollections& gc = in_.facts.gc;
  const bool like = in_.options.like_mprof;
  Section section{"gc", "Garbage collection", {}, {}};
  section.add("resizes", "Heap resizes", gc.resizes());
  section.add("max_heap_bytes", "Largest heap, bytes", gc.max_heap_bytes());
  section.add("moved_objects", "Objects moved", gc.moved_objects());
  const auto time = [&](const char* key, const char* title) {
    return Table::Column{fmt::format("{}_{}", key, like ? "us" : "ns"), title,
                         like ? Show::plain : Show::duration};
  };
  Table generations({{"generation", "GENERATION"},
                     {"collections", "COLLECTIONS"},
                     time("max", like ? "MAX US" : "MAX"),
                     time("total", like ? "TOTAL US" : "TOTAL"),
                     time("average", like ? "AVERAGE US" : "AVERAGE")});
  const auto of_generations = gc.generations(
      in_.source.calls().streams(), like ? EndsTold::by_its_thread : EndsTold::by_any_thread);
  for (size_t i = 0; i < of_generations.size(); ++i) {
    const GcCollections::Generation& generation = of_generations[i];
    if (generation.collections == 0) continue;
    // mprof-report divides by those whose end it does not find, too.
    const uint64_t counted = like ? generation.collections : generation.finished;
    const uint64_t unit = like ? 1000 : 1;
    generations.add_row({uint64_t{i}, generation.collections, generation.max / unit,
                         generation.total / unit,
                         counted == 0 ? Cell() : Cell(generation.total / counted / unit)});
  }
  section.add("generations", "", std::move(generations));

  static constexpr std::array<const char*, GcHandles::kKinds> kKinds = {"weak", "weaktrack",
                                                                        "normal", "pinned"};
  Table handles({{"kind", "HANDLES", Show::text},
                 {"created", "CREATED"},
                 {"destroyed", "DESTROYED"},
                 {"most", "MOST AT ONCE"}});
  Table traces({{"kind", "HANDLES", Show::text},
                {"change", "CHANGE", Show::text},
                {"handles", "COUNT"},
                {"stack", "STACK", Show::text}});
  const auto kinds = in_.facts.handles.kinds();
  for (size_t i = 0; i < kinds.size() - (like ? 1 : 0); ++i) {  // mprof-report forgets the last
    if (kinds[i].created == 0 && kinds[i].destroyed == 0) continue;
    const std::string kind = kKinds[i];
    handles.add_row({kind, kinds[i].created, kinds[i].destroyed, kinds[i].most});
    if (!in_.stacks) continue;
    add_traces(traces, {kind, std::string("created")}, in_.stacks->handles_created[i], 0);
    add_traces(traces, {kind, std::string("destroyed")}, in_.stacks->handles_destroyed[i], 0);
  }
  section.add("handles", "", std::move(handles));
  if (in_.stacks) section.add("traces", "Handles by stack", std::move(traces));
  return section;
}

Section MonoSections::sample() const {
  Section section{"sample", "Samples", {}, {}};
  static constexpr std::array<const char*, 7> kTypes = {"cycles",
                                                        "cycles",
                                                        "instructions retired",
                                                        "cache misses",
                                                        "cache references",
                                                        "executed branches",
                                                        "unpredicted branches"};
  const NativeSamples& samples = in_.facts.samples;
  if (samples.empty()) return section;
  const uint64_t kind = samples.first_kind();
  const NativeSamples::Resolved resolved = samples.resolve(in_.facts.all_code.methods());
  section.add("type", "Sample type", kind < kTypes.size() ? kTypes[kind] : "unknown", Show::text);
  section.add("samples", "Samples", resolved.samples());
  section.add("unmanaged", "Unmanaged hits", resolved.unmanaged);
  section.add("managed", "Managed hits", resolved.managed);
  section.add("unresolved", "Unresolved hits", resolved.unresolved);
  Table table({{"hits", "HITS"},
               {"share", "%", Show::percent},
               {"kind", "KIND", Show::text},
               {"name", "NAME", Show::text}});
  static constexpr std::array<const char*, 4> kKinds = {"method", "symbol", "binary", "unknown"};
  for (const NativeSamples::Line& line : resolved.lines) {
    const double share = static_cast<double>(line.hits) / static_cast<double>(resolved.samples());
    if ((!in_.options.verbose && share < 0.001) || table.rows() >= limit()) break;
    const bool unknown = line.kind == NativeSamples::Line::Kind::unknown;
    if (unknown && in_.options.like_mprof) continue;
    std::string name = unknown ? "(unknown)" : line.name;
    if (line.kind == NativeSamples::Line::Kind::method) name = function_name(line.function);
    table.add_row({line.hits, share, kKinds[static_cast<size_t>(line.kind)], std::move(name)});
  }
  section.add("lines", "", std::move(table));
  return section;
}

Section MonoSections::stats() const {
  Section section{"stats", "What the recording is made of", {}, {}};
  const EventSizes& sizes = *in_.sizes;
  section.add("buffers", "Buffers", sizes.buffers);
  section.add("header_bytes", "Bytes of their headers", sizes.header_bytes);
  Table events({{"count", "COUNT"},
                {"bytes", "BYTES"},
                {"least", "LEAST"},
                {"most", "MOST"},
                {"first_byte", "BYTE", Show::text},
                {"event", "EVENT", Show::text},
                {"variant", "VARIANT", Show::text}});
  for (const EventSizes::Row& row : sizes.rows) {
    if (events.rows() == limit()) break;
    events.add_row({row.count, row.bytes, row.least, row.most,
                    fmt::format("0x{:02x}", row.first_byte), std::string(row.event), row.variant});
  }
  section.add("events", "", std::move(events));
  return section;
}

uint64_t MonoSections::class_of(uint64_t type) const {
  // To mprof-report a vtable that is used before it is told of has no class, for ever.
  if (in_.options.like_mprof && has_vtables_ && in_.facts.early_types.used_early(type)) return 0;
  const LoadedTypes::Type known = in_.facts.types.describe(type);
  return known.type == 0 ? type : known.type;
}

std::string MonoSections::type_name(uint64_t type) const {
  const std::string_view name = in_.facts.types.class_name(type);
  if (!name.empty()) return std::string(name);
  if (type == 0 && in_.options.like_mprof && has_vtables_) return "unresolved class (nil)";
  return "unresolved class " + address(type);
}

bool MonoSections::comes_first(const HeapShots::TypeSum& a, std::string_view name_a,
                               const HeapShots::TypeSum& b, std::string_view name_b) const {
  const auto sums = [this](const HeapShots::Sum& sum) {
    return by_count_ ? std::pair(sum.objects, sum.bytes) : std::pair(sum.bytes, sum.objects);
  };
  if (sums(a.sum) != sums(b.sum)) return sums(a.sum) > sums(b.sum);
  const auto names = name_a <=> name_b;
  return names != 0 ? names < 0 : a.type < b.type;
}

void MonoSections::add_lines(Table& table, const std::vector<Cell>& first,
                             const std::vector<StackSums::Line>& lines) const {
  for (const StackSums::Line& line : lines) {
    std::vector<Cell> cells = first;
    cells.emplace_back(line.sum.value);
    std::string stack;
    for (const FunctionId function : line.functions) {
      if (!stack.empty()) stack += " > ";
      stack += function_name(function);
    }
    cells.emplace_back(std::move(stack));
    table.add_row(cells);
  }
}

void MonoSections::add_traces(Table& table, const std::vector<Cell>& first, const StackSums& sums,
                              uint64_t owner) const {
  const auto* of_owner = sums.by_owner().find(owner);
  if (of_owner == nullptr) return;
  // mprof-report cuts the wrong end off stacks that were recorded.
  const bool outermost = in_.options.like_mprof && in_.stacks->recorded;
  add_lines(table, first,
            stack_lines(*of_owner, in_.stacks->stacks, in_.options.max_frames,
                        outermost ? KeepFrames::outermost : KeepFrames::innermost));
}

}  // namespace telltale
