// What was loaded: images, assemblies, application domains, contexts.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/joined.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::address;
using field::change;
using field::count;
using field::rows;
using field::text;

constexpr std::array kModules = {
    kPid,
    kProcessNumber,
    address("id", "Where the runtime has it."),
    change("loaded_ns", Unit::ns, "When it was loaded."),
    change("unloaded_ns", Unit::ns, "When it was unloaded.").or_null(),
    text("name", "Its name."),
};
constexpr std::array kMetadataMembers = {
    count("images", "Images loaded.").titled("Loaded images"),
    count("assemblies", "Assemblies loaded.").titled("Loaded assemblies"),
    rows("image_list", kModules, "With --verbose: the images.").titled("Images").sometimes(),
    rows("assembly_list", kModules, "With --verbose: the assemblies.")
        .titled("Assemblies")
        .sometimes(),
};

Table module_table(const RuntimeReadings& in, const std::vector<LoadedModules::Module>& modules) {
  Table table(in.by_process(kModules));
  for (const LoadedModules::Module& module : modules) {
    table.add_row({in.pid(module.process), in.process_number(module.process), in.address(module.id),
                   in.since_zero(module.loaded),
                   module.unloaded ? TableCell(in.since_zero(*module.unloaded)) : TableCell(),
                   module.name});
  }
  return table;
}

void make_metadata(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  const auto images = in.facts->modules.images();
  const auto assemblies = in.facts->modules.assemblies();
  section.add("images", uint64_t{images.size()});
  section.add("assemblies", uint64_t{assemblies.size()});
  if (!in.options().verbose) return;
  section.add("image_list", module_table(in, images));
  section.add("assembly_list", module_table(in, assemblies));
}

constexpr Field kLoads = count("loads", "Loads.").titled("LOADED");
constexpr Field kUnloads = count("unloads", "Unloads.").titled("UNLOADED");
constexpr std::array kDomains = {
    kPid,      kProcessNumber, address("id", "Domain.").titled("DOMAIN"), kLoads, kUnloads,
    kLastName, kAllNames};
constexpr std::array kDomainMembers = {rows("domains", kDomains, "Application domains.")};

void make_domain(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  Table table(in.by_process(kDomains));
  auto domains = in.facts->modules.domains();
  std::ranges::reverse(domains);  // the last to appear first
  for (const LoadedModules::Domain& domain : domains)
    table.add_row({in.pid(domain.process), in.process_number(domain.process), in.address(domain.id),
                   domain.loads, domain.unloads, domain.name, joined(domain.names, ", ")});
  section.add("domains", std::move(table));
}

constexpr std::array kContexts = {kPid,
                                  kProcessNumber,
                                  address("id", "Context.").titled("CONTEXT"),
                                  address("domain", "Its domain."),
                                  kLoads,
                                  kUnloads};
constexpr std::array kContextMembers = {rows("contexts", kContexts, "Remoting contexts.")};

void make_context(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  Table table(in.by_process(kContexts));
  auto contexts = in.facts->modules.contexts();
  std::ranges::reverse(contexts);
  for (const LoadedModules::Context& context : contexts)
    table.add_row({in.pid(context.process), in.process_number(context.process),
                   in.address(context.id), in.address(context.domain), context.loads,
                   context.unloads});
  section.add("contexts", std::move(table));
}

}  // namespace

constinit const Report kMetadata{.name = "metadata",
                                 .title = "Metadata",
                                 .sentence = "Loaded images and assemblies.",
                                 .needs = Capability::runtime_events,
                                 .members = kMetadataMembers,
                                 .make = make_metadata,
                                 .by_default = true,
                                 .reads = RuntimeReadings::facts_read};

constinit const Report kDomain{.name = "domain",
                               .title = "Domains",
                               .sentence = "Application domains.",
                               .needs = Capability::runtime_events,
                               .members = kDomainMembers,
                               .make = make_domain,
                               .by_default = true,
                               .reads = RuntimeReadings::facts_read};

constinit const Report kContext{.name = "context",
                                .title = "Contexts",
                                .sentence = "Remoting contexts.",
                                .needs = Capability::runtime_events,
                                .members = kContextMembers,
                                .make = make_context,
                                .by_default = true,
                                .reads = RuntimeReadings::facts_read};

}  // namespace telltale::reports
