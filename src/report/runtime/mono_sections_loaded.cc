// What was loaded, and the runtime's counters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <queue>
#include <utility>

#include "output/counter_cell.h"
#include "report/runtime/mono_sections.h"

namespace telltale {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Table module_table(const std::vector<LoadedModules::Module>& modules, Ticks zero) {
  Table table({{"id", "ID", Show::text},
               {"loaded_ns", "LOADED", Show::duration},
               {"unloaded_ns", "UNLOADED", Show::duration},
               {"name", "NAME", Show::text}});
  for (const LoadedModules::Module& module : modules) {
    Table::Cell unloaded;
    if (module.unloaded) unloaded = static_cast<int64_t>(*module.unloaded - zero);
    table.add_row(
        {hex(module.id), static_cast<int64_t>(module.loaded - zero), unloaded, module.name});
  }
  return table;
}

// Counters that are shown without --verbose, as in mprof-report.
constexpr std::array<std::string_view, 14> kMainCounters = {"Methods from AOT",
                                                            "Methods JITted using mono JIT",
                                                            "Methods JITted using LLVM",
                                                            "Total time spent JITting (sec)",
                                                            "User Time",
                                                            "System Time",
                                                            "Total Time",
                                                            "Working Set",
                                                            "Private Bytes",
                                                            "Virtual Bytes",
                                                            "Page Faults",
                                                            "CPU Load Average - 1min",
                                                            "CPU Load Average - 5min",
                                                            "CPU Load Average - 15min"};

// Numbers of docs/formats/mono.md, "Counters".
constexpr uint64_t kInt = 0;
constexpr uint64_t kInt64 = 3;
constexpr uint64_t kTimeInterval = 7;
constexpr uint64_t kTimeUnit = 2U << 24;

// The value as mprof-report writes it.
std::string shown(const CounterValues::Counter& counter, const CounterValues::Value& value,
                  bool like_mprof) {
  const auto number = static_cast<int64_t>(value.number);
  switch (value.form) {
    case CounterEvent::Form::signed_number:
      if (counter.type == kTimeInterval)
        return fmt::format("{:.3f}ms", static_cast<double>(number) / 1000);
      if (counter.type == kInt64 && counter.unit == kTimeUnit)
        return fmt::format("{:.3f}ms", static_cast<double>(number) / 10'000);
      // mprof-report prints these with 32 bits.
      if (like_mprof && counter.type == kInt64)
        return fmt::format("{}", static_cast<uint32_t>(value.number));
      if (counter.type == kInt) return fmt::format("{}", static_cast<int32_t>(number));
      return fmt::format("{}", number);
    case CounterEvent::Form::unsigned_number:
      return fmt::format("{}", value.number);
    case CounterEvent::Form::real:
      return fmt::format("{:f}", value.real);
    case CounterEvent::Form::text:
      return value.text;
  }
  return {};
}

template <size_t N>
std::string bit_name(uint64_t number, const std::array<const char*, N>& names, unsigned shift) {
  const uint64_t index = number >> shift;
  return index < N ? names[index] : fmt::format("{}", number);
}
std::string type_text(uint64_t type) {
  static constexpr std::array<const char*, 8> kTypes = {"Int",   "UInt",   "Word",   "Long",
                                                        "ULong", "Double", "String", "Interval"};
  return bit_name(type, kTypes, 0);
}
std::string unit_text(uint64_t unit) {
  static constexpr std::array<const char*, 5> kUnits = {"Raw", "Bytes", "Time", "Count",
                                                        "Percentage"};
  return bit_name(unit, kUnits, 24);
}
std::string variance_text(uint64_t variance) {
  static constexpr std::array<const char*, 5> kVariances = {"", "Monotonic", "Constant", "",
                                                            "Variable"};
  return bit_name(variance, kVariances, 28);
}

// Calls use(counter, value) for all values in order of time; of equal times in that of the
// counters.
template <typename Use>
void in_order_of_time(const std::vector<CounterValues::Series>& series, Use use) {
  struct Next {
    Ticks time = 0;
    size_t counter = 0;
    auto operator<=>(const Next&) const = default;
  };
  std::vector<CounterValues::Series::Reader> readers;
  std::vector<CounterValues::Value> values(series.size());
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const auto read = [&](size_t i) {
    if (readers[i].next(values[i])) queue.push({values[i].time, i});
  };
  for (size_t i = 0; i < series.size(); ++i) {
    readers.emplace_back(series[i]);
    read(i);
  }
  while (!queue.empty()) {
    const size_t i = queue.top().counter;
    queue.pop();
    use(series[i].counter, values[i]);
    read(i);
  }
}

}  // namespace

Section MonoSections::metadata() const {
  const auto images = in_.facts.modules.images();
  const auto assemblies = in_.facts.modules.assemblies();
  Section section{"metadata", "Metadata", {}, {}};
  section.add("images", "Loaded images", uint64_t{images.size()});
  section.add("assemblies", "Loaded assemblies", uint64_t{assemblies.size()});
  if (!in_.options.verbose) return section;
  section.add("image_list", "Images", module_table(images, zero_));
  section.add("assembly_list", "Assemblies", module_table(assemblies, zero_));
  return section;
}

Section MonoSections::thread() const {
  Section section{"thread", "Threads", {}, {}};
  Table table({{"id", "THREAD", Show::text},
               {"starts", "STARTS"},
               {"ends", "ENDS"},
               {"name", "NAME", Show::text},
               {"names", "ALL ITS NAMES", Show::text}});
  auto threads = in_.facts.modules.threads();
  std::ranges::reverse(threads);  // the last to appear first
  for (const LoadedModules::Thread& thread : threads) {
    table.add_row({hex(static_cast<uint64_t>(thread.id)), thread.starts, thread.ends, thread.name,
                   joined(thread.names)});
  }
  section.add("threads", "", std::move(table));
  return section;
}

Section MonoSections::domain() const {
  Section section{"domain", "Domains", {}, {}};
  Table table({{"id", "DOMAIN", Show::text},
               {"loads", "LOADED"},
               {"unloads", "UNLOADED"},
               {"name", "NAME", Show::text},
               {"names", "ALL ITS NAMES", Show::text}});
  auto domains = in_.facts.modules.domains();
  std::ranges::reverse(domains);
  for (const LoadedModules::Domain& domain : domains)
    table.add_row(
        {hex(domain.id), domain.loads, domain.unloads, domain.name, joined(domain.names)});
  section.add("domains", "", std::move(table));
  return section;
}

Section MonoSections::context() const {
  Section section{"context", "Contexts", {}, {}};
  Table table({{"id", "CONTEXT", Show::text},
               {"domain", "DOMAIN", Show::text},
               {"loads", "LOADED"},
               {"unloads", "UNLOADED"}});
  auto contexts = in_.facts.modules.contexts();
  std::ranges::reverse(contexts);
  for (const LoadedModules::Context& context : contexts)
    table.add_row({hex(context.id), hex(context.domain), context.loads, context.unloads});
  section.add("contexts", "", std::move(table));
  return section;
}

Section MonoSections::counters() const {
  const bool like = in_.options.like_mprof;
  Section section{"counters", "Counters", {}, {}};
  const auto series = in_.facts.counters.series(/*sum_absolute=*/like);
  std::vector<Table::Column> columns = {{"section", "SECTION", Show::text},
                                        {"name", "COUNTER", Show::text}};
  const bool verbose = in_.options.verbose;
  const bool by_category = in_.options.counters_sort == "category";
  if (verbose) columns.insert(columns.begin(), {"at_ns", "AT", Show::duration});
  if (verbose && by_category) {
    columns.insert(columns.end(), {{"type", "TYPE", Show::text},
                                   {"unit", "UNIT", Show::text},
                                   {"variance", "VARIANCE", Show::text}});
  }
  columns.insert(columns.end(), {{"value", "VALUE"}, {"shown", "IN WORDS"}});
  Table table(std::move(columns));
  const auto add_row = [&](const CounterValues::Counter& counter,
                           const CounterValues::Value& value) {
    std::vector<Cell> cells = {counter.section, counter.name};
    if (verbose) cells.insert(cells.begin(), since_zero(value.time));
    if (verbose && by_category) {
      cells.insert(cells.end(), {type_text(counter.type), unit_text(counter.unit),
                                 variance_text(counter.variance)});
    }
    cells.insert(cells.end(), {counter_cell(value), shown(counter, value, like)});
    table.add_row(cells);
  };
  const Ticks from = zero_ + in_.filter.from_ns;
  const auto add_if_wanted = [&](const CounterValues::Counter& counter,
                                 const CounterValues::Value& value) {
    if (value.time >= from) add_row(counter, value);
  };
  if (verbose && !by_category) {
    in_order_of_time(series, add_if_wanted);
  } else {
    for (const CounterValues::Series& one : series) {
      if (verbose) {
        one.for_each([&](const auto& value) { add_if_wanted(one.counter, value); });
      } else if (std::ranges::find(kMainCounters, one.counter.name) != kMainCounters.end()) {
        one.for_each([&](const auto& value) { add_row(one.counter, value); });  // the last
      }
    }
  }
  section.add("counters", "", std::move(table));
  return section;
}

Section MonoSections::coverage() const {
  Section section{"coverage", "Code coverage", {}, {}};
  const CoverageSums& coverage = in_.facts.coverage;
  const auto groups = [](const std::vector<CoverageSums::Group>& from, bool types) {
    std::vector<Table::Column> columns = {{"assembly", "ASSEMBLY", Show::text}};
    if (types) columns.push_back({"type", "TYPE", Show::text});
    columns.insert(columns.end(),
                   {{"methods", "METHODS"}, {"fully", "COVERED"}, {"partially", "IN PART"}});
    Table table(std::move(columns));
    for (const CoverageSums::Group& group : from) {
      std::vector<Cell> cells = {group.assembly};
      if (types) cells.emplace_back(group.name);
      cells.insert(cells.end(), {group.methods, group.fully, group.partially});
      table.add_row(cells);
    }
    return table;
  };
  section.add("assemblies", "Assemblies", groups(coverage.assemblies(), false));
  section.add("types", "Types", groups(coverage.types(), true));
  Table methods({{"assembly", "ASSEMBLY", Show::text},
                 {"type", "TYPE", Show::text},
                 {"method", "METHOD", Show::text},
                 {"statements", "STATEMENTS"},
                 {"covered", "COVERED"},
                 {"file", "FILE", Show::text}});
  for (const CoverageSums::Method& method : coverage.methods()) {
    methods.add_row({method.assembly, method.type, method.name + method.signature,
                     method.statements, method.covered, method.file});
  }
  section.add("methods", "Methods", std::move(methods));
  return section;
}

}  // namespace telltale
