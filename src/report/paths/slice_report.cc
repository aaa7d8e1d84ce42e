#include "report/paths/slice_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <string_view>

#include "base/append_format.h"
#include "output/escape.h"
#include "output/flame/page_text.h"
#include "report/paths/paths_view.h"
#include "report/paths/source_lines.h"

namespace telltale {
namespace {

using Reason = ProgramSlice::Reason;

std::string_view name_of(Slice::Why why) {
  switch (why) {
    case Slice::Why::stopped:
      return "stopped";
    case Slice::Why::calls:
      return "calls";
    case Slice::Why::defines:
      return "defines";
    case Slice::Why::may_define:
      return "may define";
    case Slice::Why::passes:
      return "passes";
    case Slice::Why::returns:
      return "returns";
    case Slice::Why::decides:
      break;
  }
  return "decides";
}

std::string place_of(const Reason& reason) {
  std::string text = fmt::format("line {}", reason.line);
  if (!reason.function.empty()) text += fmt::format(" of {}", reason.function);
  return text;
}

std::string with_place(std::string text, std::string_view how, const Reason& reason) {
  if (reason.line != 0) text += fmt::format(", {} {}", how, place_of(reason));
  return text;
}

const ThreadPaths* sliced(const std::vector<ThreadPaths>& threads) {
  const auto found = std::ranges::find_if(
      threads, [](const ThreadPaths& thread) { return thread.slice != nullptr; });
  return found == threads.end() ? nullptr : &*found;
}

}  // namespace

std::string directory_of_slice(const ThreadPaths& thread, const ProgramSlice::Line& line) {
  const auto frame = std::ranges::find_if(thread.frames, [&](const FramePaths& each) {
    return line.frame ? each.number == *line.frame : !each.directory.empty();
  });
  return frame == thread.frames.end() ? std::string() : frame->directory;
}

std::string sentence_of(const Reason& reason) {
  const std::string name = reason.name.empty() ? "a value" : reason.name;
  switch (reason.why) {
    case Slice::Why::stopped:
      return "it stopped here";
    case Slice::Why::calls:
      return fmt::format("calls {}", name);
    case Slice::Why::defines:
      return with_place(fmt::format("defines {}", name), "used at", reason);
    case Slice::Why::may_define:
      return with_place(fmt::format("may define {}", reason.name.empty() ? "memory" : reason.name),
                        "used at", reason);
    case Slice::Why::passes:
      return with_place(fmt::format("passes {}", reason.name.empty() ? "a parameter" : name),
                        "used at", reason);
    case Slice::Why::returns:
      return with_place("returns a value", "used at", reason);
    case Slice::Why::decides:
      break;
  }
  return reason.line == 0 ? "decides what runs"
                          : fmt::format("decides whether {} runs", place_of(reason));
}

std::string sentence_of(const ProgramSlice::Line& line) {
  std::string all;
  for (const Reason& reason : line.reasons | std::views::take(2)) {
    if (!all.empty()) all += "; ";
    all += sentence_of(reason);
  }
  return all;
}

std::string size_of_slice(const ProgramSlice& slice) {
  const auto count = [](size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  return fmt::format("{} in {}; with what did not run, {} in {}", count(slice.lines.size(), "line"),
                     count(slice.blocks, "block"), count(slice.static_lines, "line"),
                     count(slice.static_blocks, "block"));
}

std::string slice_text(const std::vector<ThreadPaths>& threads, const std::string& why_stopped,
                       NameStyle names, size_t limit, SourceLines& sources) {
  std::string out;
  if (!why_stopped.empty()) append_format(out, "stopped by {}\n", why_stopped);
  const ThreadPaths* const thread = sliced(threads);
  if (thread == nullptr) return out + "there is no slice\n";
  const ProgramSlice& slice = *thread->slice;
  append_format(out, "\nthread {}: lines that may have made it stop, the nearest first\n",
                thread->tid);
  if (!slice.missing.empty()) {
    append_format(out, "no slice: {}\n", slice.missing);
    return out;
  }
  ViewedNames viewed(names);
  const size_t shown = limit == 0 ? slice.lines.size() : std::min(limit, slice.lines.size());
  for (const ProgramSlice::Line& line : slice.lines | std::views::take(shown)) {
    const std::string frame = line.frame ? fmt::format("#{}", *line.frame) : "-";
    std::string text = fmt::format(
        "{:<4} {} at {}:{}  {}", frame, visible(viewed.of(line.function, "")),
        visible(std::filesystem::path(line.file).filename().string()), line.line,
        visible_source(sources.line(line.file, directory_of_slice(*thread, line), line.line)));
    text.resize(text.find_last_not_of(' ') + 1);
    append_format(out, "{}\n       {}\n", text, visible(sentence_of(line)));
  }
  if (shown < slice.lines.size())
    append_format(out, "... {} lines more; --rows 0 shows all\n", slice.lines.size() - shown);
  append_format(out, "\n{}\n", size_of_slice(slice));
  for (const std::string& note : slice.notes) append_format(out, "assumed: {}\n", note);
  return out;
}

void write_slice(ObjectWriter& thread, const ProgramSlice& slice) {
  thread.object("slice", [&](ObjectWriter& object) {
    object.text_or_null("missing", slice.missing);
    object.list("lines", [&](ListWriter& lines) {
      for (const ProgramSlice::Line& line : slice.lines) {
        lines.row([&](ObjectWriter& row) {
          line.frame ? row.add("frame", *line.frame) : row.add("frame", nullptr);
          row.add("function", line.function).add("file", line.file).add("line", line.line);
          row.add("distance", line.distance);
          row.list("reasons", [&](ListWriter& reasons) {
            for (const Reason& reason : line.reasons) {
              reasons.row([&](ObjectWriter& one) {
                one.add("why", name_of(reason.why)).text_or_null("name", reason.name);
                one.text_or_null("function", reason.function);
                reason.line == 0 ? one.add("line", nullptr) : one.add("line", reason.line);
              });
            }
          });
        });
      }
    });
    object.add("blocks", slice.blocks).add("static_blocks", slice.static_blocks);
    object.add("static_lines", slice.static_lines);
    object.list("assumed", [&](ListWriter& notes) {
      for (const std::string& note : slice.notes) notes.value(note);
    });
  });
}

}  // namespace telltale
