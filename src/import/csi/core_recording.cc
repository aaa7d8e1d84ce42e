#include "import/csi/core_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <expected>
#include <string_view>
#include <utility>

#include "base/sort_rows.h"
#include "base/system_library.h"
#include "formats/csi/path_metadata.h"
#include "formats/csi/wire.h"
#include "import/csi/core_coverage.h"
#include "import/csi/folded_frames.h"
#include "import/csi/frame_decoder.h"
#include "import/csi/frames_of_copies.h"
#include "import/csi/program_blocks.h"
#include "import/csi/program_metadata.h"
#include "import/csi/slice_evidence.h"
#include "import/format_descriptor.h"
#include "import/open_process.h"
#include "model/recording_info.h"
#include "program/core_stacks.h"
#include "program/demangle.h"
#include "program/joined_memory.h"
#include "program/minidump.h"
#include "program/program_names.h"

namespace telltale {

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

Result<CoreStacks> CoreRecording::open_stacks(std::vector<InputFile>& texts,
                                              ProblemLog& problems) const {
  CoreStackOptions options;
  options.variables = path_variable_names();
  for (std::string& name : flag_variable_names()) options.variables.push_back(std::move(name));
  options.other_programs = options_.other_programs;
  options.core_is_cut = is_cut_;
  for (const std::string& text : options_.programs) {
    const Result<ProgramObject> object = parse_program_object(text);
    if (!object) return std::unexpected(object.error());
    Result<InputFile> input = InputFile::open(object->path, options_.limits);
    if (!input) return std::unexpected(input.error());
    if (csi::looks_like_path_metadata(input->bytes())) {
      texts.push_back(*std::move(input));
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

std::vector<ThreadPaths> CoreRecording::decode(const CoreStacks& stacks,
                                               const ProgramMetadata& metadata,
                                               ProblemLog& problems) const {
  const auto& modules = metadata.modules;
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
                   .frames = decode_stack(stack, metadata.graphs, modules, flags),
                   .cut = stack.cut});
    add_folded_functions(metadata, all.back().frames);
  }
  return all;
}

Result<CoreRecording::Opened> CoreRecording::open_programs(ProblemLog& problems) const {
  std::vector<InputFile> texts;
  Result<CoreStacks> stacks = open_stacks(texts, problems);
  if (!stacks) return std::unexpected(stacks.error());
  auto metadata = shared_program_metadata(core_, *stacks, texts);
  problems.merge(metadata->problems);
  return Opened{.stacks = *std::move(stacks), .metadata = std::move(metadata)};
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths(ProblemLog& problems) const {
  const Result<Opened> opened = open_programs(problems);
  if (!opened) return std::unexpected(opened.error());
  const ProgramMetadata& metadata = *opened->metadata;
  std::vector<ThreadPaths> threads = decode(opened->stacks, metadata, problems);
  join_frames_of_copies(metadata.functions, metadata.modules, threads);
  return threads;
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths_and_blocks(
    ProblemLog& problems) const {
  const Result<Opened> opened = open_programs(problems);
  if (!opened) return std::unexpected(opened.error());
  std::vector<ThreadPaths> threads = decode(opened->stacks, *opened->metadata, problems);
  // Problems with flags are dropped here: only `coverage` needs all flags, and reports them.
  ProblemLog of_flags;
  const auto flags =
      read_coverage_flags(core_, file_.name(), opened->stacks, *opened->metadata, of_flags);
  add_frame_blocks(core_, *opened->metadata, flags, threads);
  join_frames_of_copies(opened->metadata->functions, opened->metadata->modules, threads);
  return threads;
}

Result<std::vector<ThreadPaths>> CoreRecording::thread_paths_and_slice(const CallFilter& filter,
                                                                       ProblemLog& problems) const {
  std::vector<InputFile> texts;
  const Result<CoreStacks> stacks = open_stacks(texts, problems);
  if (!stacks) return std::unexpected(stacks.error());
  ProgramMetadata metadata = read_program_metadata(core_, *stacks, texts, DataFlow::read);
  problems.merge(metadata.problems);
  std::vector<ThreadPaths> threads = decode(*stacks, metadata, problems);
  ProblemLog of_flags;  // as above
  const auto flags = read_coverage_flags(core_, file_.name(), *stacks, metadata, of_flags);
  add_frame_blocks(core_, metadata, flags, threads);
  for (size_t i = 0; i < threads.size(); ++i) {
    if (!filter.keeps_thread({threads[i].pid, threads[i].tid})) continue;
    threads[i].slice =
        std::make_shared<const ProgramSlice>(slice_of_thread(core_, metadata, flags, threads, i));
    break;
  }
  join_frames_of_copies(metadata.functions, metadata.modules, threads);
  return threads;
}

Result<std::vector<FunctionCoverage>> CoreRecording::coverage(ProblemLog& problems) const {
  const Result<Opened> opened = open_programs(problems);
  if (!opened) return std::unexpected(opened.error());
  const std::vector<ThreadPaths> threads = decode(opened->stacks, *opened->metadata, problems);
  return read_core_coverage(core_, file_.name(), opened->stacks, *opened->metadata, threads,
                            problems);
}

Result<StackPaths::PathsAndCoverage> CoreRecording::paths_and_coverage(ProblemLog& problems) const {
  const Result<Opened> opened = open_programs(problems);
  if (!opened) return std::unexpected(opened.error());
  PathsAndCoverage all;
  all.threads = decode(opened->stacks, *opened->metadata, problems);
  ProblemLog of_flags;  // as above
  all.coverage = add_blocks_and_read_lines(core_, file_.name(), opened->stacks, *opened->metadata,
                                           all.threads, of_flags);
  join_frames_of_copies(opened->metadata->functions, opened->metadata->modules, all.threads);
  return all;
}

BuiltSources CoreRecording::built_sources(ProblemLog& problems) const {
  BuiltSources sources;
  std::vector<InputFile> texts;
  ProblemLog known;  // what is missing or damaged is reported where paths are read
  const Result<CoreStacks> stacks = open_stacks(texts, known);
  if (!stacks) return sources;
  for (const CoreStacks::Section& section : stacks->sections(csi::kRecordSection, known))
    sources.add(section.module, section.file, problems);
  return sources;
}

}  // namespace telltale
