#include "import/csi/core_coverage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/join_maps.h"
#include "base/sort_rows.h"
#include "formats/csi/path_records.h"
#include "formats/csi/wire.h"
#include "import/csi/block_lines.h"
#include "import/csi/coverage_flags.h"
#include "import/csi/flow_evidence.h"
#include "import/csi/program_blocks.h"

namespace telltale {
namespace {

using csi::CoverageRecord;

// A function of one source file, with all of its variants and copies.
using FunctionKey = std::pair<std::string, std::string>;  // symbol and file

// What the mechanisms of a function, or of one of its variants, say of it.
using ByMechanism = std::map<std::string, FlagAnswers>;

// Of things that may have happened elsewhere, too.
Ran unless_elsewhere(Ran ran) { return ran == Ran::no ? Ran::maybe : ran; }

class CoverageReader {
 public:
  enum class Wanted : uint8_t { flags, lines, functions };  // each has the flags, too

  CoverageReader(const CoreFile& core, const std::string& core_name,
                 const ProgramMetadata& metadata, Wanted wanted, ProblemLog& problems)
      : core_(core),
        core_name_(core_name),
        metadata_(metadata),
        wanted_(wanted),
        problems_(problems) {}

  // Joins the records of a module with the flags in memory. `bias`: address less link-time address.
  // `was_unloaded`: it may have been, and loaded again: then unset flags tell nothing.
  void add_module(const ProgramMetadata::Coverage& coverage, std::optional<uint64_t> bias,
                  bool was_unloaded) {
    for (const ProgramMetadata::Coverage::Function& function : coverage.functions) {
      if (function.arrays.empty() || !bias) {
        // Without an array the linker dropped the function, unless it has no flags.
        if (function.record.probes == 0 || !bias) add(function, {});
        continue;
      }
      for (const uint64_t address : function.arrays) {
        std::vector<std::optional<bool>> flags = flags_at(function.record, address + *bias);
        if (was_unloaded) std::ranges::replace(flags, std::optional(false), std::optional<bool>());
        add(function, std::move(flags));
      }
    }
  }

  // Appends to `flags` what they were read from. `flows`: of the module's functions and variants.
  std::vector<FunctionCoverage> take(const std::string& module,
                                     const std::vector<csi::FlowRecord>& flows,
                                     std::vector<FlaggedRecord>& flags) {
    std::ranges::move(flags_, std::back_inserter(flags));
    flags_.clear();
    std::map<FunctionKey, std::set<std::string_view>> choices;  // units of local functions, or none
    for (const csi::FlowRecord& flow : flows) {
      const FunctionKey key(csi::without_variant(flow.symbol), flow.file);
      const auto found = functions_.find(key);
      if (found == functions_.end()) continue;
      found->second.try_emplace(flow.symbol);  // it may have no flags
      choices[key].insert(flow.is_local ? std::string_view(flow.unit) : std::string_view());
    }
    std::vector<FunctionCoverage> all;
    for (auto& [key, variants] : functions_) {
      FunctionCoverage function = std::move(declared_[key]);
      function.module = module;
      function.mechanisms = mechanisms_of(variants);
      // Each function has a variable that chooses its variant. If several functions have this key,
      // it is not known which variant belongs to which function.
      if (choices[key].size() == 1) keep_chosen(variants);
      join_variants(variants, function);
      all.push_back(std::move(function));
    }
    functions_.clear();
    declared_.clear();
    return all;
  }

 private:
  [[nodiscard]] std::vector<std::optional<bool>> flags_at(const CoverageRecord& record,
                                                          uint64_t address) {
    const Bytes bytes = core_.memory(address, record.probes);
    std::vector<std::optional<bool>> flags;
    for (const std::byte flag : bytes) flags.emplace_back(flag != std::byte{0});
    if (bytes.size() < record.probes) {
      problems_.add(
          {Problem::Kind::oddity, 0, core_name_, "coverage",
           fmt::format("the flags of {} at {:#x} are not in the core file", record.symbol, address),
           0});
    }
    return flags;
  }

  void add(const ProgramMetadata::Coverage::Function& function,
           std::vector<std::optional<bool>> flags) {
    const CoverageRecord& record = function.record;
    if (wanted_ != Wanted::flags) {
      const FunctionKey key{csi::without_variant(record.symbol), record.file};
      FunctionCoverage& declared = declared_[key];
      declared.linkage_name = key.first;
      if (declared.function.empty()) declared.function = metadata_.name_of(key.first);
      declared.file = record.file;
      declared.line = record.line;
      FlagAnswers more = answers_of_flags(record, function.lines, flags);
      if (wanted_ == Wanted::lines) more.calls.clear();
      const auto [told, is_new] =
          functions_[key][record.symbol].try_emplace(record.mechanism, std::move(more));
      if (!is_new) join(more, told->second);
    }
    flags_.push_back({.record = &record, .function = function.flow, .flags = std::move(flags)});
  }

  // Another copy of the same function.
  static void join(const FlagAnswers& copy, FlagAnswers& told) {
    told.ran = any_of(told.ran, copy.ran);
    add_copies(told.lines, copy.lines);
    for (size_t i = 0; i < told.calls.size() && i < copy.calls.size(); ++i)
      told.calls[i].returned = any_of(told.calls[i].returned, copy.calls[i].returned);
  }

  // The mechanisms of a variant are sources of the same facts.
  static FlagAnswers answers_of(const ByMechanism& variant) {
    FlagAnswers answers{.ran = Ran::maybe, .lines = {}, .calls = {}};
    for (const auto& [mechanism, told] : variant) {
      answers.ran = agree(answers.ran, told.ran);
      join_maps(answers.lines, told.lines,
                [](auto& line, Ran ran) { line.second = agree(line.second, ran); });
    }
    if (answers.ran != Ran::no) return answers;
    for (auto& [place, ran] : answers.lines) ran = Ran::no;
    return answers;
  }

  static std::string mechanisms_of(const std::map<std::string, ByMechanism>& variants) {
    std::set<std::string_view> names;
    for (const auto& [symbol, variant] : variants)
      for (const auto& [mechanism, told] : variant) names.insert(mechanism);
    return fmt::format("{}", fmt::join(names, ","));
  }

  // The variable that chooses does not change while the program runs: if one variant ran, then no
  // other did.
  static void keep_chosen(std::map<std::string, ByMechanism>& variants) {
    if (variants.size() < 2) return;
    const auto has_run = [](const auto& variant) {
      return answers_of(variant.second).ran == Ran::yes;
    };
    if (std::ranges::count_if(variants, has_run) != 1) return;
    std::erase_if(variants, [&](const auto& variant) {
      return !has_run(variant) && variant.first != csi::without_variant(variant.first);
    });
  }

  // Any of the variants may have run. Some have flags for less than others, or none.
  static void join_variants(const std::map<std::string, ByMechanism>& variants,
                            FunctionCoverage& function) {
    ByMechanism joined;
    bool may_have_other_lines = false;
    function.ran = Ran::no;
    for (const auto& [symbol, variant] : variants) {
      const FlagAnswers answers = answers_of(variant);
      function.ran = any_of(function.ran, answers.ran);
      add_copies(function.lines, answers.lines);
      may_have_other_lines =
          may_have_other_lines || (answers.lines.empty() && answers.ran != Ran::no);
      for (const auto& [mechanism, told] : variant) {
        FlagAnswers calls{.ran = told.ran, .lines = {}, .calls = told.calls};
        const auto [known, is_new] = joined.try_emplace(mechanism, std::move(calls));
        if (!is_new) join(calls, known->second);
      }
    }
    if (may_have_other_lines)
      for (auto& [place, ran] : function.lines) ran = unless_elsewhere(ran);
    for (auto& [mechanism, told] : joined) {
      bool may_have_other_calls = false;
      for (const auto& [symbol, variant] : variants)
        may_have_other_calls = may_have_other_calls ||
                               (!variant.contains(mechanism) && answers_of(variant).ran != Ran::no);
      if (may_have_other_calls)
        for (FunctionCoverage::Call& call : told.calls)
          call.returned = unless_elsewhere(call.returned);
      std::ranges::move(told.calls, std::back_inserter(function.calls));
    }
  }

  const CoreFile& core_;
  const std::string& core_name_;
  const ProgramMetadata& metadata_;
  Wanted wanted_;
  ProblemLog& problems_;
  std::map<FunctionKey, std::map<std::string, ByMechanism>> functions_;  // by symbol of the variant
  std::map<FunctionKey, FunctionCoverage> declared_;
  std::vector<FlaggedRecord> flags_;
};

void mark_line(const std::string& file, uint32_t line, FunctionCoverage& function) {
  const auto found = function.lines.find({file, line});
  if (found != function.lines.end()) found->second = Ran::yes;
}

// What is on the stack has been called, and its paths have run.
void add_frame(const std::vector<FramePaths>& frames, size_t index, FunctionCoverage& function) {
  const FramePaths& frame = frames[index];
  function.ran = Ran::yes;
  const auto mark = [&](const std::string& file, uint32_t line) {
    mark_line(file, line, function);
  };
  for (const auto& [place, ran] : frame.lines) {
    if (ran == Ran::yes) mark(place.first, place.second);
  }
  if (frame.decoded.size() != 1) return;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  const PathGraph& graph = *decoded.graph;
  if (graph.calls_setjmp || !decoded.history.contradiction.empty() ||
      decoded.history.readings.size() != 1)
    return;
  const auto mark_block = [&](uint32_t block) {
    for (const PathGraph::Place& place : graph.blocks[block].places) {
      if (place.scope < graph.scopes.size()) mark(graph.scopes[place.scope].file, place.line);
    }
  };
  const PathHistory::Reading& reading = decoded.history.readings.front();
  for (const PathHistory::Path& path :
       std::span(decoded.history.completed).first(reading.completed)) {
    for (const uint32_t block : path.blocks) mark_block(block);
  }
  // In the last block it was stopped.
  const std::vector<uint32_t>& partial = reading.partial;
  for (const uint32_t block : std::span(partial).first(partial.size() - 1)) mark_block(block);
}

// Whether the program says which block the frame is in.
bool knows_block(const FramePaths& frame) {
  return frame.place || (frame.decoded.size() == 1 &&
                         frame.decoded.front().found_by == FramePaths::Decoded::FoundBy::position);
}

// Whether the block that the frame is in has no lines, as one that calls another copy of the
// function. In unoptimised code it seems to have that of the block before it.
bool is_in_block_without_lines(const FramePaths& frame) {
  if (!knows_block(frame) || frame.decoded.size() != 1) return false;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  return std::ranges::all_of(decoded.history.readings, [&](const PathHistory::Reading& reading) {
    return !reading.partial.empty() && decoded.graph->blocks[reading.partial.back()].places.empty();
  });
}

// The line of the instruction or the call that it was stopped in. Instructions can be moved to
// blocks that do not have their line: where the block is known, its answer holds.
void add_stop(const std::vector<FramePaths>& frames, size_t index, FunctionCoverage& function) {
  const FramePaths& frame = frames[index];
  size_t around = index;
  while (around + 1 < frames.size() && frames[around].inlined) ++around;
  if (is_interrupted(frames, around) && knows_block(frames[around])) return;
  if (is_in_block_without_lines(frames[around])) return;
  if (frame.is_line_before) return;  // by its paths, which count as far as they are reliable
  if (function.file.ends_with(frame.file) && !frame.file.empty())
    mark_line(function.file, frame.line, function);
}

// Calls `add` with each frame, as an index of its thread's frames, and its function. Skips frames
// whose name several functions have, in different files, and frames at whose address several are.
template <typename Add>
void for_each_frame(const std::vector<ThreadPaths>& threads, const FlowFunctions& functions,
                    std::vector<FunctionCoverage>& all, const Add& add) {
  for (const ThreadPaths& thread : threads) {
    for (size_t i = 0; i < thread.frames.size(); ++i) {
      const FramePaths& frame = thread.frames[i];
      if (functions.is_folded(frame.module, frame.symbol) ||
          functions.is_folded(frame.module, frame.linkage_name))
        continue;
      std::vector<FunctionCoverage*> fitting;
      for (const std::string* const name : {&frame.symbol, &frame.linkage_name}) {
        const std::string_view symbol = csi::without_variant(*name);
        for (FunctionCoverage& function : all) {
          if (function.linkage_name == symbol && function.module == frame.module)
            fitting.push_back(&function);
        }
        if (!fitting.empty()) break;
      }
      if (fitting.size() == 1) add(thread.frames, i, *fitting.front());
    }
  }
}

// Functions with flags, if they are wanted; appends the flags.
std::vector<FunctionCoverage> read_flags(const CoreFile& core, const std::string& core_name,
                                         const CoreStacks& stacks, const ProgramMetadata& metadata,
                                         CoverageReader::Wanted wanted,
                                         std::vector<FlaggedRecord>& flags, ProblemLog& problems) {
  std::vector<FunctionCoverage> all;
  CoverageReader reader(core, core_name, metadata, wanted, problems);
  const bool unloads =
      std::ranges::any_of(metadata.coverage, &ProgramMetadata::Coverage::calls_dlclose);
  for (const ProgramMetadata::Coverage& coverage : metadata.coverage) {
    const bool was_unloaded = unloads && !coverage.defines_main;
    const std::vector<uint64_t> biases = stacks.biases_of(coverage.module);
    if (biases.empty()) reader.add_module(coverage, std::nullopt, was_unloaded);
    for (const uint64_t bias : biases) reader.add_module(coverage, bias, was_unloaded);
    std::vector<FunctionCoverage> of_module =
        reader.take(coverage.module, metadata.modules.at(coverage.module).flows, flags);
    std::ranges::move(of_module, std::back_inserter(all));
  }
  return all;
}

// Adds what the function's own code says of its lines.
void join_source_lines(const SourceLineSet& uncertain, FunctionCoverage& function) {
  const InternedText file(function.file);
  for (auto& [line, ran] : function.source_lines) {
    const SourceLine place(file, line);
    if (ran == Ran::no && uncertain.contains(place)) ran = Ran::maybe;
    const auto own = function.lines.find(place);
    if (own != function.lines.end()) ran = any_of(ran, own->second);
    if (function.ran == Ran::no) ran = Ran::no;
  }
}

void finish(FunctionCoverage& function) {
  for (auto& [place, ran] : function.lines) {
    if (function.ran == Ran::no) ran = Ran::no;
    if (ran == Ran::yes) function.ran = Ran::yes;
  }
  for (FunctionCoverage::Call& call : function.calls) {
    if (function.ran == Ran::no) call.returned = Ran::no;
  }
}

}  // namespace

std::vector<FlaggedRecord> read_coverage_flags(const CoreFile& core, const std::string& core_name,
                                               const CoreStacks& stacks,
                                               const ProgramMetadata& metadata,
                                               ProblemLog& problems) {
  std::vector<FlaggedRecord> flags;
  read_flags(core, core_name, stacks, metadata, CoverageReader::Wanted::flags, flags, problems);
  return flags;
}

namespace {

// `known`: none if the programs do not say which blocks they have.
std::vector<FunctionCoverage> joined(const ProgramMetadata& metadata,
                                     const std::vector<ThreadPaths>& threads,
                                     const std::optional<KnownBlocks>& known, Detail detail,
                                     std::vector<FunctionCoverage> all) {
  for_each_frame(threads, metadata.functions, all, add_frame);
  SourceLineSet uncertain;
  if (known) uncertain = add_program_blocks(metadata, *known, threads, detail, all);
  for_each_frame(threads, metadata.functions, all, add_stop);
  for (FunctionCoverage& function : all) {
    finish(function);
    for (auto& [place, ran] : function.lines)
      if (ran == Ran::no && uncertain.contains(place)) ran = Ran::maybe;
    join_source_lines(uncertain, function);
  }
  sort_rows(all, {}, &FunctionCoverage::function);
  return all;
}

bool keeps_flags(const ProgramMetadata& metadata) {
  return std::ranges::any_of(metadata.coverage,
                             [](const auto& coverage) { return !coverage.functions.empty(); });
}

// Whether a frame is of a function of which the program says what it is made of.
bool has_known_function(const std::vector<ThreadPaths>& threads,
                        const std::optional<FoundEvidence>& evidence) {
  const auto is_decoded = [](const FramePaths& frame) { return !frame.decoded.empty(); };
  return std::ranges::any_of(threads,
                             [&](const ThreadPaths& thread) {
                               return std::ranges::any_of(thread.frames, is_decoded);
                             }) ||
         (evidence && std::ranges::any_of(evidence->known.stacks,
                                          [](const auto& stack) { return !stack.empty(); }));
}

}  // namespace

std::vector<FunctionCoverage> read_core_coverage(const CoreFile& core, const std::string& core_name,
                                                 const CoreStacks& stacks,
                                                 const ProgramMetadata& metadata,
                                                 const std::vector<ThreadPaths>& threads,
                                                 ProblemLog& problems) {
  std::vector<FlaggedRecord> flags;
  std::vector<FunctionCoverage> all = read_flags(
      core, core_name, stacks, metadata, CoverageReader::Wanted::functions, flags, problems);
  auto evidence = find_evidence(core, metadata, threads, flags);
  std::optional<KnownBlocks> known;
  if (evidence) known = blocks_of(metadata, *std::move(evidence));
  return joined(metadata, threads, known, Detail::blocks, std::move(all));
}

std::vector<FunctionCoverage> add_blocks_and_read_lines(
    const CoreFile& core, const std::string& core_name, const CoreStacks& stacks,
    const ProgramMetadata& metadata, std::vector<ThreadPaths>& threads, ProblemLog& problems) {
  std::vector<FlaggedRecord> flags;
  std::vector<FunctionCoverage> all =
      read_flags(core, core_name, stacks, metadata, CoverageReader::Wanted::lines, flags, problems);
  auto evidence = find_evidence(core, metadata, threads, flags);
  if (!keeps_flags(metadata) && !has_known_function(threads, evidence)) return {};
  std::optional<KnownBlocks> known;
  if (evidence) known = blocks_of(metadata, *std::move(evidence));
  all = joined(metadata, threads, known, Detail::lines, std::move(all));
  if (known) add_frame_blocks(metadata, *known, known->ran.frames, threads);
  return all;
}

}  // namespace telltale
