#include "import/study_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "bytes/input_file.h"
#include "import/open_recording.h"
#include "import/stack_paths.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;
using isolation::StackFrame;

constexpr std::string_view kHead =
    "# telltale stacks 1\nrun\tframe\tfunction\tfile\tline\tmodule\n";
constexpr size_t kStackColumns = 6;

// A frame_text holds no tab and no line end.
std::string frame_text(std::string_view text) {
  std::string kept(text);
  std::ranges::replace_if(kept, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return kept;
}

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct FrameRow {
  uint64_t run = 0;
  uint64_t frame = 0;
  StackFrame place;
};

std::optional<FrameRow> parse_frame(std::string_view line) {
  std::array<std::string_view, kStackColumns> fields;
  for (size_t i = 0; i < kStackColumns; ++i) {
    const size_t tab = line.find('\t');
    if ((tab == std::string_view::npos) != (i + 1 == kStackColumns)) return std::nullopt;
    fields[i] = line.substr(0, tab);
    if (tab != std::string_view::npos) line.remove_prefix(tab + 1);
  }
  const auto run = parse_number(fields[0]);
  const auto frame = parse_number(fields[1]);
  const auto number = parse_number(fields[4]);
  if (!run || !frame || !number) return std::nullopt;
  return FrameRow{
      *run,
      *frame,
      {std::string(fields[2]), std::string(fields[3]), *number, std::string(fields[5])}};
}

}  // namespace

std::string study_stacks_path(const std::string& folder) {
  return (fs::path(folder) / "stacks.tsv").string();
}

std::string study_stacks_head() { return std::string(kHead); }

std::string to_lines(uint64_t run, const std::vector<StackFrame>& stack) {
  std::string text;
  for (size_t i = 0; i < stack.size(); ++i) {
    const StackFrame& frame = stack[i];
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", run, i, frame_text(frame.function),
                        frame_text(frame.file), frame.line, frame_text(frame.module));
  }
  return text;
}

Result<StudyStacks> read_study_stacks(Bytes file, const std::string& name, ProblemLog& problems) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kHead)) {
    return std::unexpected(
        Error{Error::Cause::bad_magic, name, {}, "is not the list of a study's stacks", 0});
  }
  StudyStacks stacks;
  for (size_t at = kHead.size(); at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) {
      problems.add({Problem::Kind::torn_tail, at, name, "Frame", "the file ends inside this row",
                    text.size() - at});
      break;
    }
    std::optional<FrameRow> row = parse_frame(text.substr(at, end - at));
    // A second stack of a run takes the place of the first, which an interrupted run left.
    if (row && row->frame == 0) stacks[row->run].clear();
    const auto stack = row ? stacks.find(row->run) : stacks.end();
    if (stack != stacks.end() && stack->second.size() == row->frame) {
      stack->second.push_back(std::move(row->place));
    } else {
      problems.add({Problem::Kind::corruption, at, name, "Frame",
                    "the row does not describe the next frame of a run", end + 1 - at});
    }
    at = end + 1;
  }
  return stacks;
}

Result<StudyStacks> read_study_stacks(const std::string& folder, ProblemLog& problems) {
  const std::string path = study_stacks_path(folder);
  std::error_code failure;
  if (!fs::exists(path, failure)) return StudyStacks();
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  return read_study_stacks(file->bytes(), path, problems);
}

void shorten_stack(std::vector<StackFrame>& stack) {
  constexpr size_t kInnermost = 48;
  constexpr size_t kOutermost = 16;
  if (stack.size() > kInnermost + kOutermost)
    stack.erase(stack.begin() + kInnermost, stack.end() - kOutermost);
}

std::vector<StackFrame> core_stack(const StackPaths& paths,
                                   const std::vector<ThreadPaths>& threads) {
  std::vector<StackFrame> stack;
  if (threads.empty()) return stack;
  // Without a signal, the program wrote it in a function that exit() called.
  const size_t first = paths.why_stopped().empty() ? 1 : 0;
  for (const FramePaths& frame : threads.front().frames | std::views::drop(first)) {
    // An address differs from run to run.
    const bool is_named = !frame.function.starts_with('@');
    stack.push_back({is_named ? frame.function : "", frame.file, frame.line, frame.module});
  }
  shorten_stack(stack);
  return stack;
}

std::vector<StackFrame> read_core_stack(const OpenOptions& options) {
  const auto recording = open_recording(options);
  const StackPaths* const paths = recording ? (*recording)->paths_in_frames() : nullptr;
  if (paths == nullptr) return {};
  ProblemLog problems;  // `telltale paths` reports them
  const auto threads = paths->thread_paths(problems);
  return threads ? core_stack(*paths, *threads) : std::vector<StackFrame>();
}

isolation::Crash crash_of(const StudyRun& run, const StudyStacks& stacks) {
  isolation::Crash crash;
  if (run.rule == "timeout" || run.rule == "slow") {
    crash.ending = run.rule;  // the signal is telltale's
  } else if (!run.signal.empty()) {
    crash.ending = run.signal;
  } else if (run.status.value_or(0) != 0) {
    crash.ending = fmt::format("status {}", *run.status);
  } else {
    crash.ending = run.rule;
  }
  // A shell that started the program has such a status if a signal ended it.
  constexpr int kShellSignals = 128;
  crash.by_signal = !run.signal.empty() || run.status.value_or(0) > kShellSignals;
  const auto found = stacks.find(run.number);
  if (found != stacks.end()) crash.stack = found->second;
  return crash;
}

}  // namespace telltale
