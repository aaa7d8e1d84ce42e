#include "import/csi/slice_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "import/csi/frames_of_copies.h"
#include "import/csi/program_blocks.h"
#include "import/csi/program_data.h"
#include "program/demangle.h"

namespace telltale {
namespace {

using csi::FlowRecord;

// They make other code run at any time.
constexpr auto kMakeOthersRun = std::to_array<std::string_view>(
    {"pthread_create", "thrd_create", "clone", "signal", "sigaction", "bsd_signal", "sigset",
     "timer_create",
     "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_"
     "EEPFvvE"});

bool may_others_write(const FlowFunctions& functions, size_t threads) {
  if (threads > 1) return true;
  for (const FlowFunction& function : functions.functions()) {
    for (const FlowRecord* const copy : function.copies) {
      for (const FlowRecord::Call& call : copy->calls)
        if (std::ranges::find(kMakeOthersRun, call.callee) != kMakeOthersRun.end()) return true;
    }
  }
  return false;
}

// Whether the frames between two of the evidence are parts of the outer one.
bool is_direct(const ThreadPaths& thread, size_t inner, size_t outer) {
  for (size_t i = inner + 1; i < outer; ++i)
    if (!thread.frames[i].inlined) return false;
  return true;
}

SliceEvidence evidence_of(const FlowEvidence& evidence, const ProgramEvidence& known,
                          ProgramBlocks ran, const ThreadPaths& thread, size_t stack) {
  SliceEvidence told;
  const ProgramEvidence::Stack& frames = known.stacks[stack];
  const std::vector<size_t>& indices = evidence.frame_indices()[stack];
  for (size_t at = 0; at < frames.size(); ++at) {
    const FramePaths& frame = thread.frames[indices[at]];
    const size_t before = at == 0 ? 0 : indices[at - 1];
    SliceEvidence::Frame one{
        .function = frames[at].function,
        .blocks = std::move(ran.frames[stack][at].blocks),
        .ways = evidence.ways_of(frame, frames[at].function),
        .is_whole = frame.decoded.size() == 1 && frame.decoded.front().history.complete,
        .stopped_in = frames[at].stopped_in,
        .line = frame.innermost_line,
        .is_in_call = !frame.interrupted,  // a signal handler interrupts at any instruction
        .called_directly = at != 0 && is_direct(thread, before, indices[at])};
    told.frames.push_back(std::move(one));
  }
  told.ran = std::move(ran.functions);
  return told;
}

// Steps of one line in one call on the stack, or in all other calls, are one.
class Lines {
 public:
  // `frames`: by frame of the evidence, that of the stack; `calls`: by frame of the stack.
  Lines(const FlowFunctions& functions, const std::vector<const FunctionData*>& data,
        const std::vector<size_t>& frames, const std::vector<size_t>& calls)
      : functions_(functions), data_(data), frames_(frames), calls_(calls) {}

  void add(const Slice::Step& step) {
    const FunctionData::Step& of = data_[step.function]->blocks[step.block].steps[step.step];
    if (of.line == 0) return;
    const auto [file, function] = scope_of(step.function, of.scope);
    std::optional<size_t> frame;
    if (step.frame) frame = calls_[frames_[*step.frame]];
    const auto [known, is_new] =
        numbers_.try_emplace({frame, function, file, of.line}, lines_.size());
    if (is_new) {
      lines_.push_back({.frame = frame,
                        .function = demangle(function),
                        .file = file,
                        .line = of.line,
                        .distance = step.distance,
                        .reasons = {}});
    }
    ProgramSlice::Line& line = lines_[known->second];
    for (const Slice::Reason& reason : step.reasons) add_reason(step, reason, line);
  }
  std::vector<ProgramSlice::Line> take() {
    for (ProgramSlice::Line& line : lines_) {
      // What a line does for itself explains nothing, unless it is all that is known.
      const auto is_own = [&](const ProgramSlice::Reason& reason) {
        return reason.line == line.line && reason.function.empty();
      };
      const auto stopped =
          std::ranges::find(line.reasons, Slice::Why::stopped, &ProgramSlice::Reason::why);
      if (stopped != line.reasons.end()) {
        line.reasons = {*stopped};
      } else if (!std::ranges::all_of(line.reasons, is_own)) {
        std::erase_if(line.reasons, is_own);
      }
      if (line.reasons.size() > kMostReasons) line.reasons.resize(kMostReasons);
    }
    return std::move(lines_);
  }

 private:
  static constexpr size_t kMostReasons = 4;

  [[nodiscard]] std::pair<std::string, std::string> scope_of(uint32_t function,
                                                             uint32_t scope) const {
    const FlowFunction& of = functions_.functions()[function];
    const auto& scopes = of.copies.front()->scopes;
    const auto found = std::ranges::find(scopes, scope, &csi::PathScope::number);
    if (found == scopes.end()) return {of.file, of.source};
    return {found->file, scope == 0 ? of.source : found->function.str()};
  }

  void add_reason(const Slice::Step& step, const Slice::Reason& reason, ProgramSlice::Line& line) {
    ProgramSlice::Reason told{
        .why = reason.why, .name = reason.name, .function = {}, .line = reason.line};
    const std::string& needs = functions_.functions()[reason.function].source;
    if (reason.why == Slice::Why::calls) {
      told.name = demangle(needs);
      told.line = 0;
    } else if (reason.function != step.function && reason.line != 0) {
      told.function = demangle(needs);
    }
    if (std::ranges::find(line.reasons, told) == line.reasons.end())
      line.reasons.push_back(std::move(told));
  }

  const FlowFunctions& functions_;
  const std::vector<const FunctionData*>& data_;
  const std::vector<size_t>& frames_;
  const std::vector<size_t>& calls_;
  std::vector<ProgramSlice::Line> lines_;
  std::map<std::tuple<std::optional<size_t>, std::string, std::string, uint32_t>, size_t> numbers_;
};

size_t blocks_of(const Slice& slice) {
  std::set<std::tuple<std::optional<size_t>, uint32_t, uint32_t>> blocks;
  for (const Slice::Step& step : slice.steps) blocks.emplace(step.frame, step.function, step.block);
  return blocks.size();
}

std::string text_of(Slice::Note note, const Slice& slice) {
  switch (note) {
    case Slice::Note::too_long:
      if (slice.unfollowed == 0)
        return "the search was given up before its end: lines may be missing";
      return fmt::format(
          "the search was given up when {} of {} steps had been followed: lines that only the "
          "others "
          "depend on are missing",
          slice.steps.size() - slice.unfollowed, slice.steps.size());
    case Slice::Note::unknown_calls:
      return "functions that the program does not describe are taken to write any memory that "
             "they can reach";
    case Slice::Note::other_threads:
      return "the program has threads or signal handlers: what they may write counts as written "
             "at any time";
    case Slice::Note::no_data:
      break;
  }
  return "a function on the stack has no data flow: what its callers did is not followed";
}

}  // namespace

ProgramSlice slice_of_thread(const CoreFile& core, ProgramMetadata& metadata,
                             const std::vector<FlaggedRecord>& flags,
                             const std::vector<ThreadPaths>& threads, size_t thread) {
  ProgramSlice slice;
  const FlowFunctions& functions = metadata.functions;
  FlowEvidence evidence(metadata);
  evidence.add_flags(flags);
  evidence.add_stacks(threads);
  const ProgramEvidence known =
      evidence.take(core.has_all_threads() && threads.size() == core.threads().size());
  const std::vector<const FunctionData*> data = data_of_functions(functions, metadata.modules);
  SliceEvidence told =
      evidence_of(evidence, known, blocks_of_program(functions.flow(), metadata.structure, known),
                  threads[thread], thread);
  if (std::ranges::all_of(data, [](const FunctionData* each) { return each == nullptr; })) {
    slice.missing =
        "the program does not say what its code reads and writes: it was built without "
        "telltale-cc --trace, by another release of it, with -fno-trace-data, or stripped";
    return slice;
  }
  if (told.frames.empty() || data[told.frames[0].function] == nullptr) {
    slice.missing = "no function on the stack says what its code reads and writes";
    return slice;
  }
  told.others_write = may_others_write(functions, core.threads().size());
  const Slice found = slice_backward(functions.flow(), data, told);
  const std::vector<size_t> calls = calls_of_frames(functions, metadata.modules, threads[thread]);
  Lines lines(functions, data, evidence.frame_indices()[thread], calls);
  for (const Slice::Step& step : found.steps) lines.add(step);
  slice.lines = lines.take();
  slice.blocks = blocks_of(found);
  const Slice of_stack = slice_backward(functions.flow(), data, stack_alone(told));
  Lines static_lines(functions, data, evidence.frame_indices()[thread], calls);
  for (const Slice::Step& step : of_stack.steps) static_lines.add(step);
  slice.static_blocks = blocks_of(of_stack);
  slice.static_lines = static_lines.take().size();
  for (const Slice::Note note : found.notes) slice.notes.push_back(text_of(note, found));
  if (of_stack.notes.contains(Slice::Note::too_long))
    slice.notes.emplace_back(
        "the search with what did not run was given up before its end: it would have more lines");
  return slice;
}

}  // namespace telltale
