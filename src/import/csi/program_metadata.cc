#include "import/csi/program_metadata.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/sort_rows.h"
#include "bytes/cursor.h"
#include "formats/csi/wire.h"
#include "import/csi/chosen_variants.h"
#include "import/csi/data_record.h"
#include "import/csi/module_symbols.h"
#include "import/csi/path_positions.h"
#include "program/demangle.h"
#include "program/machine_blocks.h"
#include "program/program_code.h"

namespace telltale {
namespace {

constexpr std::string_view kMachineBlocks = ".llvm_bb_addr_map";

bool calls_dlclose(const std::vector<csi::FlowRecord>& flows) {
  return std::ranges::any_of(flows, [](const csi::FlowRecord& flow) {
    return std::ranges::find(flow.calls, "dlclose", &csi::FlowRecord::Call::callee) !=
           flow.calls.end();
  });
}

bool defines_main(const std::vector<csi::FlowRecord>& flows) {
  return std::ranges::find(flows, "main", &csi::FlowRecord::symbol) != flows.end();
}

// Takes the records of coverage.
std::vector<ProgramMetadata::Coverage::Function> functions_of(csi::PathRecords& records) {
  std::vector<ProgramMetadata::Coverage::Function> functions;
  std::unordered_map<uint64_t, size_t> numbers;  // by key
  for (csi::CoverageRecord& record : records.coverage) {
    if (!numbers.try_emplace(record.key, functions.size()).second) continue;
    LinesOfRecord lines(record);
    functions.push_back({.record = std::move(record), .lines = std::move(lines)});
  }
  for (const csi::CoverageArray& array : records.arrays) {
    const auto found = numbers.find(array.key);
    if (found == numbers.end()) continue;
    std::vector<uint64_t>& arrays = functions[found->second].arrays;
    if (std::ranges::find(arrays, array.address) == arrays.end()) arrays.push_back(array.address);
  }
  return functions;
}

void read_data(const std::vector<csi::DataRecord>& records, std::endian order,
               const std::string& file, ModulePaths& module, ProblemLog& problems) {
  for (const csi::DataRecord& record : records) {
    Cursor in(record.bytes, order, record.offset);
    std::optional<FunctionData> data = read_data_record(in);
    if (data) module.data.try_emplace(record.key, *std::move(data));
    if (in.error())
      problems.add({Problem::Kind::corruption, record.offset, file, "data record",
                    in.error()->detail, record.bytes.size()});
  }
}

// Reads the metadata of the program and its libraries, and, if they have variants, which of these
// the process did not run.
void read_modules(const CoreFile& core, const CoreStacks& stacks, DataFlow data_flow,
                  ProgramMetadata& metadata) {
  const std::endian order = core.order();
  auto& modules = metadata.modules;
  ProblemLog& problems = metadata.problems;
  ChosenVariants variants(core, stacks);
  struct Read {
    std::vector<csi::PathFunctionRecord> functions;
    std::vector<csi::PathPosition> positions;
    std::vector<MachineBlock> machine_blocks;
  };
  std::map<std::string, Read> read;
  const auto bytes_of = [](const CoreStacks::Section& section) {
    return std::as_bytes(std::span(section.bytes));
  };
  for (const CoreStacks::Section& section : stacks.sections(csi::kRecordSection, problems)) {
    csi::PathRecords records =
        csi::PathRecords::read(bytes_of(section), order, section.file, section.offset, problems);
    variants.keep_chosen(section.module, records);
    for (const csi::SkippedFunction& skipped : records.skipped)
      modules[section.module].skipped.emplace(skipped.symbol, skipped.reason);
    for (const csi::PathFunctionRecord& function : records.functions)
      modules[section.module].ring_sizes.emplace(function.key, function.ring_size);
    for (const csi::CoverageRecord& record : records.coverage)
      modules[section.module].coverage.emplace(record.symbol, record);
    metadata.coverage.push_back({.module = section.module,
                                 .functions = functions_of(records),
                                 .calls_dlclose = calls_dlclose(records.flows),
                                 .defines_main = defines_main(records.flows)});
    for (const csi::FlowRecord& flow : records.flows)
      if (!flow.source.empty()) modules[section.module].sources.emplace(flow.symbol, flow.source);
    std::ranges::move(records.flows, std::back_inserter(modules[section.module].flows));
    std::ranges::move(records.units, std::back_inserter(modules[section.module].units));
    if (data_flow == DataFlow::read)
      read_data(records.data, order, section.file, modules[section.module], problems);
    sort_rows(records.frames, {}, &csi::PathFrameRecord::address);
    modules[section.module].frames = std::move(records.frames);
    read[section.module] = {.functions = std::move(records.functions),
                            .positions = std::move(records.positions),
                            .machine_blocks = {}};
  }
  for (const CoreStacks::Section& section : stacks.sections(kMachineBlocks, problems)) {
    const auto found = read.find(section.module);
    if (found == read.end()) continue;
    found->second.machine_blocks =
        read_machine_blocks(bytes_of(section), order, section.file, section.offset, problems);
  }
  for (const CoreStacks::Section& section : stacks.sections(csi::kPathSection, problems)) {
    modules[section.module].graphs = metadata.graphs.add(
        bytes_of(section), section.file, section.offset, read[section.module].functions, problems);
  }
  for (auto& [module, parts] : read) {
    const auto code_of = [path = module](uint64_t begin, uint64_t end) {
      return read_program_code(path, EM_X86_64, begin, end);
    };
    modules[module].positions =
        PathPositions(std::move(parts.positions), std::move(parts.machine_blocks), code_of);
  }
}

void add_functions(const CoreFile& core, const CoreStacks& stacks, ProgramMetadata& metadata) {
  const auto symbols = read_module_symbols(stacks, metadata.modules, core.order());
  for (const auto& [module, paths] : metadata.modules) {
    const auto known = symbols.find(module);
    metadata.functions.add_module(module, paths.flows, paths.units,
                                  known == symbols.end() ? ModuleSymbols() : known->second);
  }
  metadata.structure = FlowStructure(metadata.functions.flow());
  metadata.functions_of_records = FunctionsOfRecords(metadata.functions, metadata.modules);
  metadata.answers = AnswersIfNothingRan(metadata.functions, metadata.modules);
  for (ProgramMetadata::Coverage& coverage : metadata.coverage) {
    for (ProgramMetadata::Coverage::Function& function : coverage.functions)
      function.flow = metadata.functions.flagged_by(coverage.module, function.record);
  }
  for (const FlowFunction& function : metadata.functions.functions()) {
    metadata.names.try_emplace(function.symbol, demangle(function.symbol));
    metadata.lines_of_copies.add(*function.copies.front());
    metadata.gone_functions.add(*function.copies.front());
  }
  for (const auto& [key, number] : metadata.functions.sources()) {
    const std::string& symbol = std::get<1>(key);
    if (!metadata.names.contains(symbol)) metadata.names.emplace(symbol, demangle(symbol));
  }
  for (const auto& [module, paths] : metadata.modules) {
    for (const csi::UnitRecord& unit : paths.units) {
      for (const csi::UnitRecord::Lines& removed : unit.removed)
        metadata.lines_of_copies.add_removed(removed);
      for (const csi::UnitRecord::Callees& callees : unit.callees)
        metadata.gone_functions.add(callees);
    }
  }
}

// Which variant a process chose is in its memory.
bool has_variants(const ProgramMetadata& metadata) {
  return std::ranges::any_of(metadata.modules, [](const auto& module) {
    return std::ranges::any_of(module.second.flows, [](const csi::FlowRecord& flow) {
      return csi::without_variant(flow.symbol) != flow.symbol;
    });
  });
}

// The metadata of the programs that were used last.
class KeptMetadata {
 public:
  using Metadata = std::shared_ptr<const ProgramMetadata>;

  // One thread reads, others wait for it. `read` returns the metadata, and whether to keep them.
  template <typename Read>
  Metadata get(const std::string& key, const Read& read) {
    const std::scoped_lock lock(mutex_);
    const auto known = std::ranges::find(kept_, key, &Kept::key);
    if (known != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, known);
      return kept_.front().metadata;
    }
    auto [metadata, is_kept] = read();
    if (!is_kept) return metadata;
    constexpr size_t kMost = 2;
    if (kept_.size() == kMost) kept_.pop_back();
    kept_.push_front({key, metadata});
    return metadata;
  }

 private:
  struct Kept {
    std::string key;
    Metadata metadata;
  };
  std::mutex mutex_;
  std::list<Kept> kept_;  // the one that was used last first
};

}  // namespace

std::string ProgramMetadata::name_of(const std::string& symbol) const {
  const auto found = names.find(symbol);
  return found == names.end() ? demangle(symbol) : found->second;
}

ProgramMetadata read_program_metadata(const CoreFile& core, const CoreStacks& stacks,
                                      const std::vector<InputFile>& texts, DataFlow data_flow) {
  ProgramMetadata metadata;
  for (const InputFile& text : texts)
    metadata.graphs.add(text.bytes(), text.name(), 0, {}, metadata.problems);
  read_modules(core, stacks, data_flow, metadata);
  add_functions(core, stacks, metadata);
  return metadata;
}

std::shared_ptr<const ProgramMetadata> shared_program_metadata(
    const CoreFile& core, const CoreStacks& stacks, const std::vector<InputFile>& texts) {
  static KeptMetadata kept;
  const auto read = [&] {
    auto metadata = std::make_shared<const ProgramMetadata>(
        read_program_metadata(core, stacks, texts, DataFlow::skip));
    const bool is_kept = texts.empty() && !has_variants(*metadata);
    return std::pair(std::move(metadata), is_kept);
  };
  if (!texts.empty()) return read().first;
  return kept.get(stacks.key_of_programs(), read);
}

}  // namespace telltale
