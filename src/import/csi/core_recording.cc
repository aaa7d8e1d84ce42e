#include "import/csi/core_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstring>
#include <expected>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/sort_rows.h"
#include "base/system_library.h"
#include "formats/csi/path_metadata.h"
#include "formats/csi/path_records.h"
#include "formats/csi/wire.h"
#include "import/csi/chosen_variants.h"
#include "import/csi/core_coverage.h"
#include "import/csi/data_record.h"
#include "import/csi/frame_decoder.h"
#include "import/csi/path_graphs.h"
#include "import/csi/path_positions.h"
#include "import/csi/program_blocks.h"
#include "import/csi/slice_evidence.h"
#include "import/format_descriptor.h"
#include "import/open_process.h"
#include "model/recording_info.h"
#include "program/core_stacks.h"
#include "program/demangle.h"
#include "program/joined_memory.h"
#include "program/machine_blocks.h"
#include "program/minidump.h"
#include "program/program_code.h"
#include "program/program_names.h"

namespace telltale {
namespace {

constexpr std::string_view kMachineBlocks = ".llvm_bb_addr_map";

// Data flow is decoded only where it is needed: it is half as large as all other records.
enum class DataFlow : uint8_t { skip, read };

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

// The metadata of the programs of a core file.
std::map<std::string, ModulePaths> read_modules(const CoreFile& core, const CoreStacks& stacks,
                                                PathGraphs& graphs, ProblemLog& problems,
                                                DataFlow data_flow = DataFlow::skip) {
  const std::endian order = core.order();
  ChosenVariants variants(core, stacks);
  struct Read {
    std::vector<csi::PathFunctionRecord> functions;
    std::vector<csi::PathPosition> positions;
    std::vector<MachineBlock> machine_blocks;
  };
  std::map<std::string, Read> read;
  std::map<std::string, ModulePaths> modules;
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
    for (csi::CoverageRecord& record : records.coverage)
      modules[section.module].coverage.emplace(record.symbol, std::move(record));
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
    modules[section.module].graphs = graphs.add(bytes_of(section), section.file, section.offset,
                                                read[section.module].functions, problems);
  }
  for (auto& [module, parts] : read) {
    const auto code_of = [path = module](uint64_t begin, uint64_t end) {
      return read_program_code(path, begin, end);
    };
    modules[module].positions =
        PathPositions(std::move(parts.positions), std::move(parts.machine_blocks), code_of);
  }
  return modules;
}

}  // namespace

CoreRecording::CoreRecording(const FormatDescriptor& format, InputFile file, CoreFile core,
                             RecordCounts counts, OpenOptions options, ProblemLog problems)
    : Recording(format),
      file_(std::move(file)),
      core_(std::move(core)),
      record_counts_(std::move(counts)),
      options_(std::move(options)),
      problems_(std::move(problems)) {}

Result<std::unique_ptr<const Recording>> CoreRecording::open(std::vector<InputFile> files,
                                                             const OpenOptions& options) {
  if (files.size() != 1)
    return usage_error("a core file is read alone, not together with other files");
  InputFile& file = files.front();
  ProblemLog problems;
  problems.merge(file.problems());
  Result<CoreFile> core = CoreFile::read(file.bytes(), file.name(), problems);
  if (!core) return std::unexpected(core.error());
  RecordCounts counts;
  for (const ElfNote& note : core->notes()) ++counts[core_note_name(note)];
  if (!core->segments().empty()) counts["segment"] = core->segments().size();
  return std::unique_ptr<const Recording>(new CoreRecording(formats::core, std::move(file),
                                                            *std::move(core), std::move(counts),
                                                            options, std::move(problems)));
}

Result<std::unique_ptr<const Recording>> CoreRecording::open_minidump(std::vector<InputFile> files,
                                                                      const OpenOptions& options) {
  if (files.size() != 1)
    return usage_error("a minidump is read alone, not together with other files");
  InputFile& file = files.front();
  ProblemLog problems;
  problems.merge(file.problems());
  Result<Minidump> dump = read_minidump(file.bytes(), file.name(), problems);
  if (!dump) return std::unexpected(dump.error());
  RecordCounts counts;
  for (const MinidumpStream& stream : dump->streams) ++counts[minidump_stream_name(stream.type)];
  std::vector<std::byte> memory = join_memory(file.bytes(), dump->parts);
  CoreFile core = CoreFile::from_parts(std::move(dump->parts),
                                       memory.empty() ? file.bytes() : Bytes(memory), file.name());
  std::unique_ptr<CoreRecording> recording(new CoreRecording(formats::minidump, std::move(file),
                                                             std::move(core), std::move(counts),
                                                             options, std::move(problems)));
  recording->memory_ = std::move(memory);  // the same bytes
  recording->is_cut_ = dump->lacks_modules;
  return recording;
}

std::unique_ptr<const Recording> CoreRecording::of_process(ProcessSnapshot snapshot,
                                                           const OpenOptions& options) {
  const std::string name = fmt::format("process {}", snapshot.parts.pid);
  const Bytes memory = snapshot.memory;
  std::unique_ptr<CoreRecording> recording(new CoreRecording(
      formats::core, InputFile::from_memory(name, memory),
      CoreFile::from_parts(std::move(snapshot.parts), memory, name), {}, options, ProblemLog()));
  recording->memory_ = std::move(snapshot.memory);  // the same bytes
  recording->left_out_ = std::move(snapshot.left_out);
  return recording;
}

Result<ProcessRecording> open_process(pid_t pid, const OpenOptions& options) {
  Result<ProcessSnapshot> snapshot = take_process_snapshot(pid);
  if (!snapshot) return std::unexpected(snapshot.error());
  const std::chrono::nanoseconds stopped = snapshot->stopped;
  return ProcessRecording{.recording = CoreRecording::of_process(*std::move(snapshot), options),
                          .stopped = stopped};
}

std::string CoreRecording::why_stopped() const {
  if (core_.signal() == 0) return {};
  const char* name = ::strsignal(core_.signal());
  return fmt::format("signal {} ({})", core_.signal(), name == nullptr ? "unknown" : name);
}

RecordingInfo CoreRecording::info(size_t /*workers*/, const CallFilter& filter) const {
  RecordingInfo info;
  info.format = format().name;
  info.version = "1";
  info.timed = false;
  info.files = {file_.name()};
  info.bytes = file_.bytes().size();
  info.problems.merge(problems_);
  if (!core_.command().empty()) info.properties.emplace_back("command", core_.command());
  if (core_.pid() != 0) info.properties.emplace_back("process", std::to_string(core_.pid()));
  if (const std::string why = why_stopped(); !why.empty())
    info.properties.emplace_back("stopped by", why);
  for (const CoreThread& thread : core_.threads()) {
    const ThreadKey key{core_.pid(), thread.tid};
    if (filter.keeps_thread(key)) info.threads.push_back(key);
  }
  sort_rows(info.threads);
  info.properties.emplace_back("threads", std::to_string(info.threads.size()));
  for (const auto& [kind, count] : record_counts_) {
    info.records_by_kind.emplace_back(kind, count);
    info.records += count;
  }
  return info;
}

Result<CoreStacks> CoreRecording::open_stacks(PathGraphs& graphs, ProblemLog& problems) const {
  CoreStackOptions options;
  options.variables = path_variable_names();
  for (std::string& name : flag_variable_names()) options.variables.push_back(std::move(name));
  options.other_programs = options_.other_programs;
  options.core_is_cut = is_cut_;
  for (const std::string& text : options_.programs) {
    const Result<ProgramObject> object = parse_program_object(text);
    if (!object) return std::unexpected(object.error());
    const Result<InputFile> input = InputFile::open(object->path, options_.limits);
    if (!input) return std::unexpected(input.error());
    if (csi::looks_like_path_metadata(input->bytes())) {
      graphs.add(input->bytes(), input->name(), 0, {}, problems);
    } else {
      options.programs.push_back(object->path);
    }
  }
  return CoreStacks::open(core_, file_.name(), options, problems);
}

namespace {

// At the end of the process, functions of our crash handler (runtime/paths) are called by exit():
// they are no part of the program.
void drop_own_frames(ThreadStack& stack) {
  static constexpr std::string_view kOwn = "_ZN8telltale5paths";
  const auto first = std::ranges::find_if_not(stack.frames, [](const StackFrame& frame) {
    return frame.symbol.starts_with(kOwn) || frame.linkage_name.starts_with(kOwn);
  });
  stack.frames.erase(stack.frames.begin(), first);
}

// To decompress libc's debug information takes six times as long as all the rest of an answer, and
// its lines are in sources that few have: its frames have the names of symbols.
bool is_not_of_system(const std::string& module) { return !is_system_library(module); }

}  // namespace

std::vector<ThreadPaths> CoreRecording::decode(const CoreStacks& stacks, const PathGraphs& graphs,
                                               const std::map<std::string, ModulePaths>& modules,
                                               ProblemLog& problems) const {
  std::vector<ThreadPaths> all;
  FrameFlags flags;
  const auto find = [&](const StackFrame& frame) { return find_record(frame, modules); };
  for (ThreadStack& stack : stacks.threads(find, is_not_of_system, problems)) {
    drop_own_frames(stack);
    if (left_out_.contains(stack.tid))
      stack.cut = "it did not stop: it waits in the kernel, as a thread in vfork() for its child";
    name_frames(stack, modules);
    all.push_back({.pid = core_.pid(),
                   .tid = stack.tid,
                   .frames = decode_stack(stack, graphs, modules, flags),
                   .cut = stack.cut});
  }
  return all;
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths(ProblemLog& problems) const {
  PathGraphs graphs;
  const Result<CoreStacks> stacks = open_stacks(graphs, problems);
  if (!stacks) return std::unexpected(stacks.error());
  const auto modules = read_modules(core_, *stacks, graphs, problems);
  return decode(*stacks, graphs, modules, problems);
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths_and_blocks(
    ProblemLog& problems) const {
  PathGraphs graphs;
  const Result<CoreStacks> stacks = open_stacks(graphs, problems);
  if (!stacks) return std::unexpected(stacks.error());
  const auto modules = read_modules(core_, *stacks, graphs, problems);
  std::vector<ThreadPaths> threads = decode(*stacks, graphs, modules, problems);
  // Problems with flags are dropped here: only `coverage` needs all flags, and reports them.
  ProblemLog of_flags;
  const auto flags = read_coverage_flags(core_, file_.name(), *stacks, of_flags);
  add_frame_blocks(core_, *stacks, modules, flags, threads);
  return threads;
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths_and_slice(const CallFilter& filter,
                                                                       ProblemLog& problems) const {
  PathGraphs graphs;
  const Result<CoreStacks> stacks = open_stacks(graphs, problems);
  if (!stacks) return std::unexpected(stacks.error());
  auto modules = read_modules(core_, *stacks, graphs, problems, DataFlow::read);
  std::vector<ThreadPaths> threads = decode(*stacks, graphs, modules, problems);
  ProblemLog of_flags;  // as above
  const auto flags = read_coverage_flags(core_, file_.name(), *stacks, of_flags);
  add_frame_blocks(core_, *stacks, modules, flags, threads);
  for (size_t i = 0; i < threads.size(); ++i) {
    if (!filter.keeps_thread({threads[i].pid, threads[i].tid})) continue;
    threads[i].slice = std::make_shared<const ProgramSlice>(
        slice_of_thread(core_, *stacks, modules, flags, threads, i));
    break;
  }
  return threads;
}

Result<std::vector<FunctionCoverage>> CoreRecording::coverage(ProblemLog& problems) const {
  PathGraphs graphs;
  const Result<CoreStacks> stacks = open_stacks(graphs, problems);
  if (!stacks) return std::unexpected(stacks.error());
  const auto modules = read_modules(core_, *stacks, graphs, problems);
  const std::vector<ThreadPaths> threads = decode(*stacks, graphs, modules, problems);
  return read_core_coverage(core_, file_.name(), *stacks, modules, threads, problems);
}

BuiltSources CoreRecording::built_sources(ProblemLog& problems) const {
  BuiltSources sources;
  PathGraphs graphs;
  ProblemLog known;  // what is missing or damaged is reported where paths are read
  const Result<CoreStacks> stacks = open_stacks(graphs, known);
  if (!stacks) return sources;
  for (const CoreStacks::Section& section : stacks->sections(csi::kRecordSection, known))
    sources.add(section.module, section.file, problems);
  return sources;
}

}  // namespace telltale
