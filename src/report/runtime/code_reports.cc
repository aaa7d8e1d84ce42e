// The program's code: what was compiled, what samples hit, what was covered.
#include <array>
#include <cstdint>
#include <utility>

#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::bytes;
using field::change;
using field::count;
using field::fraction;
using field::rows;
using field::text;

constexpr std::array kJitMembers = {
    count("methods", "Methods compiled in the window.").titled("Compiled methods"),
    change("bytes", Unit::bytes, "Sum of their code sizes.").titled("Generated code, bytes"),
    count("unknown_sizes", "Methods of unknown size.")
        .titled("Methods of unknown size")
        .sometimes(),
    count("recompilations", "Compilations beyond each method's first.")
        .titled("Compiled again")
        .sometimes(),
    count("helpers", "Code that the runtime generated for itself.").titled("JIT helpers"),
    bytes("helper_bytes", "Sum of its sizes.").titled("JIT helpers' code, bytes"),
};

void make_jit(const ReportInput& input, Section& section) {
  const CompiledCode& code = input.runtime->facts->code;
  uint64_t known_bytes = 0;
  uint64_t told_bytes = 0;
  uint64_t unknown = 0;
  uint64_t again = 0;
  const auto methods = code.methods();
  for (const CompiledCode::Method& method : methods) {
    known_bytes += method.knows_size() ? method.bytes : 0;
    told_bytes += method.bytes;
    unknown += static_cast<uint64_t>(!method.knows_size());
    again += method.compilations - 1;
  }
  section.add("methods", uint64_t{methods.size()});
  if (input.runtime->options().like_mprof) {
    section.add("bytes", int64_t{static_cast<int32_t>(told_bytes)});
  } else {
    section.add("bytes", known_bytes);
    section.add("unknown_sizes", unknown);
    section.add("recompilations", again);
  }
  section.add("helpers", code.helpers());
  section.add("helper_bytes", code.helper_bytes());
}

constexpr std::array kLines = {
    count("hits", "Samples in it."),
    fraction("share", "Of all hits.").titled("%"),
    text("kind", "method, symbol, binary or unknown."),
    text("name", "Name of the method, symbol or binary."),
};
constexpr std::array kSampleMembers = {
    text("type", "What was sampled.").titled("Sample type").sometimes(),
    count("samples", "Hits.").titled("Samples").sometimes(),
    count("unmanaged", "Hits outside of methods.").titled("Unmanaged hits").sometimes(),
    count("managed", "Hits in methods.").titled("Managed hits").sometimes(),
    count("unresolved", "Unmanaged hits without a symbol.").titled("Unresolved hits").sometimes(),
    rows("lines", kLines, "The most hits first.").sometimes(),
};

void make_sample(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  static constexpr std::array<const char*, 7> kTypeNames = {"unknown",
                                                            "cycles",
                                                            "instructions retired",
                                                            "cache misses",
                                                            "cache references",
                                                            "executed branches",
                                                            "unpredicted branches"};
  const NativeSamples& samples = in.facts->samples;
  if (samples.empty()) return;
  // What was sampled is not recorded since data version 14, and shown as mprof-report shows it.
  const uint64_t kind = samples.first_kind().value_or(1);
  const NativeSamples::Resolved resolved = samples.resolve(in.facts->all_code.methods());
  section.add("type", kind < kTypeNames.size() ? kTypeNames[kind] : "unknown");
  section.add("samples", resolved.samples());
  section.add("unmanaged", resolved.unmanaged);
  section.add("managed", resolved.managed);
  section.add("unresolved", resolved.unresolved);
  Table lines(kLines);
  static constexpr std::array<const char*, 4> kKinds = {"method", "symbol", "binary", "unknown"};
  for (const NativeSamples::Line& line : resolved.lines) {
    const double share = static_cast<double>(line.hits) / static_cast<double>(resolved.samples());
    if ((!in.options().verbose && share < 0.001) || lines.rows() >= in.all_rows()) break;
    const bool unknown = line.kind == NativeSamples::Line::Kind::unknown;
    if (unknown && in.options().like_mprof) continue;
    std::string name = unknown ? "(unknown)" : line.name;
    if (line.kind == NativeSamples::Line::Kind::method) name = in.function_name(line.function);
    lines.add_row({line.hits, share, kKinds[static_cast<size_t>(line.kind)], std::move(name)});
  }
  section.add("lines", std::move(lines));
}

constexpr Field kMethodCount = count("methods", "Methods.");
constexpr Field kFully = count("fully", "Methods covered whole.").titled("COVERED");
constexpr Field kPartially = count("partially", "Methods covered in part.").titled("IN PART");
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
constexpr std::array kCoverageMembers = {
    rows("assemblies", kCoveredAssemblies, "By assembly.").titled("Assemblies"),
    rows("types", kCoveredTypes, "By type.").titled("Types"),
    rows("methods", kCoveredMethods, "By method.").titled("Methods"),
};

void make_coverage(const ReportInput& input, Section& section) {
  const CoverageSums& coverage = input.runtime->facts->coverage;
  Table assemblies(kCoveredAssemblies);
  for (const CoverageSums::Group& group : coverage.assemblies())
    assemblies.add_row({group.assembly, group.methods, group.fully, group.partially});
  Table types(kCoveredTypes);
  for (const CoverageSums::Group& group : coverage.types())
    types.add_row({group.assembly, group.name, group.methods, group.fully, group.partially});
  Table methods(kCoveredMethods);
  for (const CoverageSums::Method& method : coverage.methods()) {
    methods.add_row({method.assembly, method.type, method.name + method.signature,
                     method.statements, method.covered, method.file});
  }
  section.add("assemblies", std::move(assemblies));
  section.add("types", std::move(types));
  section.add("methods", std::move(methods));
}

}  // namespace

constinit const Report kJit{.name = "jit",
                            .title = "JIT",
                            .sentence = "Compiled methods.",
                            .needs = Capability::runtime_events,
                            .members = kJitMembers,
                            .make = make_jit,
                            .by_default = true,
                            .reads = RuntimeReadings::facts_read};

constinit const Report kSample{.name = "sample",
                               .title = "Samples",
                               .sentence = "Where statistical samples hit.",
                               .needs = Capability::runtime_events,
                               .members = kSampleMembers,
                               .make = make_sample,
                               .by_default = true,
                               .reads = RuntimeReadings::facts_read};

constinit const Report kCoverage{.name = "coverage",
                                 .title = "Code coverage",
                                 .sentence = "Code coverage.",
                                 .needs = Capability::runtime_events,
                                 .members = kCoverageMembers,
                                 .make = make_coverage,
                                 .by_default = false,
                                 .reads = RuntimeReadings::facts_read};

}  // namespace telltale::reports
