#include "report/sites/sites_document.h"

#include <fmt/format.h>

#include <string>

#include "output/table/object_writer.h"
#include "report/schemas/schemas.h"
#include "report/sites/program_sites.h"

namespace telltale {
namespace {

std::string hex(uint64_t address) { return fmt::format("{:#x}", address); }

void write_function(ObjectWriter& row, const InstrumentedProgram& program,
                    const InstrumentedFunction& function, bool with_sleds) {
  const ProgramFunction named = program.describe(function);
  row.add("id", function.id).add("address", hex(function.address));
  if (function.section != 0) row.add("section", function.section);
  row.add("function", named.name).add("linkage_name", named.linkage_name);
  row.add("file", named.file).add("line", named.line).add("sled_count", function.sled_count);
  if (!with_sleds) return;
  row.list("sleds", [&](ListWriter& sleds) {
    for (const Sled& sled : program.map.sleds(function)) {
      sleds.row([&](ObjectWriter& one) {
        one.add("address", hex(sled.address)).add("kind", to_string(sled.kind));
        one.add("always_instrument", sled.always_instrument);
        one.add("version", unsigned{sled.version});
      });
    }
  });
}

void write_program(ObjectWriter& row, const InstrumentedProgram& program, bool sleds) {
  row.add("file", program.path).add("format", program.format);
  row.add("machine", program.machine).add("build_id", program.build_id);
  row.add("debug_file",
          program.symbolizer == nullptr ? std::string() : program.symbolizer->debug_file());
  row.list("map_versions", [&](ListWriter& versions) {
    for (const unsigned version : program.map_versions()) versions.value(version);
  });
  row.add("function_count", program.map.functions().size());
  row.add("sled_count", program.map.sleds().size());
  row.map("sleds_by_kind", [&](MapWriter& kinds) {
    for (const auto& [kind, count] : program.sleds_by_kind()) kinds.add(to_string(kind), count);
  });
  row.list("problems", [&](ListWriter& problems) {
    for (const Problem& problem : program.problems.kept()) {
      problems.row([&](ObjectWriter& one) {
        one.add("offset", problem.offset).add("record", problem.record);
        one.add("message", problem.message).add("lost_bytes", problem.lost_bytes);
      });
    }
  });
  row.list("functions", [&](ListWriter& functions) {
    for (const InstrumentedFunction& function : program.map.functions())
      functions.row([&](ObjectWriter& one) { write_function(one, program, function, sleds); });
  });
  row.add("site_count", program.sites->site_count());
  row.map("sites_by_scheme", [&](MapWriter& schemes) {
    for (const auto& [scheme, count] : count_by_scheme(*program.sites)) schemes.add(scheme, count);
  });
  row.list("sites", [&](ListWriter& sites) { write_site_rows(*program.sites, sites); });
  row.list("graphs", [&](ListWriter& graphs) {
    for (const FunctionGraph& graph : program.graphs) {
      graphs.row([&](ObjectWriter& one) {
        one.add("function", graph.name).add("linkage_name", graph.linkage_name);
        one.add("copy_of", graph.copy_of);
        one.add("blocks", graph.blocks).add("edges", graph.edges);
      });
    }
  });
  row.list("coverage", [&](ListWriter& coverage) {
    for (const CoverageSites& sites : program.coverage) {
      coverage.row([&](ObjectWriter& one) {
        one.add("function", sites.name).add("linkage_name", sites.linkage_name);
        one.add("copy_of", sites.copy_of).add("mechanism", sites.mechanism);
        one.add("probes", sites.probes).add("blocks", sites.blocks).add("calls", sites.calls);
        one.add("file", sites.file).add("line", sites.line);
      });
    }
  });
}

}  // namespace

void write_sites_document(std::span<const InstrumentedProgram> programs, bool sleds,
                          BlockWriter& out) {
  JsonWriter json(out.block(), 4);
  DocumentWriter document(json, schemas::kSites, {}, &out);
  ProblemLog problems;
  document.list("programs", [&](ListWriter& list) {
    for (const InstrumentedProgram& program : programs) {
      list.row([&](ObjectWriter& row) { write_program(row, program, sleds); });
      problems.merge(program.problems);
    }
  });
  document.finish(problems);
}

}  // namespace telltale
