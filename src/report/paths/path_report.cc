#include "report/paths/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "analysis/paths/function_coverage.h"
#include "base/append_format.h"
#include "import/lines_of_call.h"
#include "model/function_names.h"
#include "output/escape.h"
#include "output/flame/page_text.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "report/paths/path_places.h"
#include "report/paths/slice_report.h"
#include "report/paths/source_lines.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

// Code between the cases of a large switch can be on the way to any of them.
constexpr size_t kReadingsShown = 4;

using Reading = PathHistory::Reading;
using Decoded = FramePaths::Decoded;

std::string_view name_of(Decoded::FoundBy found_by) {
  switch (found_by) {
    case Decoded::FoundBy::position:
      return "position";
    case Decoded::FoundBy::line:
      return "line";
    case Decoded::FoundBy::all_blocks:
      break;
  }
  return "all blocks";
}

constexpr std::string_view kUnreliable =
    "the function calls setjmp: after a longjmp, its paths may be wrong";

class TextWriter {
 public:
  TextWriter(const PathsView& view, SourceLines& sources)
      : view_(view), names_(view.names), sources_(sources) {}

  std::string write(const std::vector<ThreadPaths>& threads, const std::string& why_stopped) {
    if (!why_stopped.empty()) print("stopped by {}\n", why_stopped);
    for (const ThreadPaths& thread : threads) {
      print("\nthread {}\n", thread.tid);
      for (const FramePaths& frame : thread.frames) write_frame(frame);
      if (!thread.cut.empty()) print("... no further frames: {}\n", visible(thread.cut));
    }
    if (left_out_) print("\nlines of system headers are left out; --system-headers shows them\n");
    return std::move(out_);
  }

 private:
  template <typename... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    append_format(out_, format, std::forward<Arguments>(arguments)...);
  }

  void write_frame(const FramePaths& frame) {
    print("#{:<3} {}", frame.number, visible(names_.of(frame.function, frame.linkage_name)));
    if (frame.line != 0) {
      print(" at {}:{}", visible(std::filesystem::path(frame.file).filename().string()),
            frame.line);
    }
    print("{}\n", frame.inlined ? " (inlined)" : "");
    if (!frame.same_address.empty()) {
      print("     or {}: the linker put functions with equal code at one address\n",
            visible(others_at_address(frame, names_)));
    }
    if (!frame.untraced.empty()) print("     no paths: {}\n", visible(frame.untraced));
    if (frame.may_lack_caller)
      print("     it has no unwind table: the frame of its caller may be missing\n");
    if (frame.decoded.size() > 1) {
      print("     {} functions of this name fit; each is shown\n", frame.decoded.size());
    }
    for (const Decoded& decoded : frame.decoded) write_decoded(frame, decoded);
    if (frame.decoded.empty()) write_blocks(frame);
  }

  // For a function without paths. Only lines of the file that defines it are listed.
  void write_blocks(const FramePaths& frame) {
    std::map<uint32_t, Ran> lines;
    for (const auto& [place, ran] : lines_of_call(frame)) {
      if (!frame.file.empty() && place.first.str().ends_with(frame.file))
        lines.emplace(place.second, ran);
    }
    write_answers(lines, {{Ran::yes, "ran in this call"},
                          {Ran::no, "did not run in this call"},
                          {Ran::maybe, "may have run in this call"}});
  }

  void write_answers(const std::map<uint32_t, Ran>& lines,
                     std::initializer_list<std::pair<Ran, std::string_view>> headings) {
    for (const auto& [answer, heading] : headings) {
      std::string list;
      for (const auto& [line, its] : lines) {
        if (its == answer) list += fmt::format("{}{}", list.empty() ? "" : ", ", line);
      }
      if (!list.empty()) print("     {}: {}\n", heading, list);
    }
  }

  void write_decoded(const FramePaths& frame, const Decoded& decoded) {
    const PathHistory& history = decoded.history;
    if (decoded.graph->calls_setjmp) print("     {}\n", kUnreliable);
    if (!history.contradiction.empty()) print("     {}\n", history.contradiction);
    const std::vector<Reading> readings = distinct_readings(decoded);
    const size_t shown = readings.empty() ? history.completed.size() : readings.front().completed;
    const uint64_t times = times_of(std::span(history.completed).first(shown));
    if (shown != 0) {
      print("     {} completed path{}{}\n", times, times == 1 ? "" : "s",
            history.complete ? ", all since the function was called" : "; older ones are lost");
    } else {
      print("     {}\n", history.complete ? "no path was completed since the function was called"
                                          : "completed paths are lost");
    }
    std::set<uint32_t> own;  // lines of the function that are shown
    add_own(*decoded.graph, std::span(history.completed).first(shown), own);
    write_completed(frame, decoded, 0, shown);
    if (readings.size() > 1) {
      print("     {} readings are consistent with the point where it stopped{}\n", readings.size(),
            readings.size() > kReadingsShown
                ? fmt::format("; these are {} of them, --json has all", kReadingsShown)
                : "");
    }
    for (const Reading& reading :
         std::span(readings).first(std::min(readings.size(), kReadingsShown))) {
      add_own(*decoded.graph,
              std::span(history.completed).subspan(shown, reading.completed - shown), own);
      add_own(*decoded.graph, reading.partial, own);
      write_completed(frame, decoded, shown, reading.completed);
      print("   > then{}\n",
            reading.between_updates ? " (stopped while the record was being updated)" : "");
      write_lines(frame, *decoded.graph, reading.partial, true);
    }
    write_rest(frame, decoded, own);
  }

  static void add_own(const PathGraph& graph, std::span<const uint32_t> blocks,
                      std::set<uint32_t>& lines) {
    for (const PathGraph::Place& place : places_of(graph, blocks))
      if (!is_inlined(graph, place)) lines.insert(place.line);
  }
  static void add_own(const PathGraph& graph, std::span<const PathHistory::Path> paths,
                      std::set<uint32_t>& lines) {
    for (const PathHistory::Path& path : paths) add_own(graph, path.blocks, lines);
  }

  // The function's own lines that are not among `shown`.
  void write_rest(const FramePaths& frame, const Decoded& decoded,
                  const std::set<uint32_t>& shown) {
    std::map<uint32_t, Ran> lines;
    for (const auto& [line, its] : lines_of_paths(frame, decoded))
      if (its.is_own && !shown.contains(line.second)) add_copy(lines, line.second, its.ran);
    write_answers(lines, {{Ran::yes, "ran before"},
                          {Ran::no, "did not run in this call"},
                          {Ran::maybe, "may have run before"}});
  }

  // Paths that follow themselves are written once.
  void write_completed(const FramePaths& frame, const Decoded& decoded, size_t begin,
                       size_t count) {
    const std::span paths(decoded.history.completed);
    uint64_t before = times_of(paths.first(begin));
    for (size_t first = begin; first < count;) {
      size_t end = first + 1;
      while (end < count && paths[end].number == paths[first].number) ++end;
      const uint64_t times = times_of(paths.subspan(first, end - first));
      write_path(frame, decoded, first, before, times);
      before += times;
      first = end;
    }
  }

  // `before`: how many paths ran before it.
  void write_path(const FramePaths& frame, const Decoded& decoded, size_t first, uint64_t before,
                  uint64_t times) {
    if (times == 1) {
      print("     path {}\n", before + 1);
    } else {
      print("     paths {} to {}, the same {} times\n", before + 1, before + times, times);
    }
    write_lines(frame, *decoded.graph, decoded.history.completed[first].blocks, false);
  }

  void write_lines(const FramePaths& frame, const PathGraph& graph,
                   std::span<const uint32_t> blocks, bool stopped) {
    const ShownPlaces shown = shown_places(frame, graph, blocks, stopped, view_.system_headers);
    left_out_ = left_out_ || shown.left_out_system_headers;
    const bool is_one_of_several = std::ranges::any_of(shown.places, &ShownPlaces::Shown::or_here);
    for (const auto& [place, here, or_here, not_yet] : shown.places) {
      const uint32_t line = place.line;
      const std::string& file = file_of(frame, graph, place);
      std::string text = fmt::format("     {:>6}  {}", line,
                                     visible_source(sources_.line(file, frame.directory, line)));
      text.resize(text.find_last_not_of(' ') + 1);  // the source is not here, or the line empty
      if (is_inlined(graph, place)) {
        text += fmt::format("    ({}, inlined from {})",
                            visible(names_.beside_line(graph.scopes[place.scope].function)),
                            visible(std::filesystem::path(file).filename().string()));
      }
      // The block that it was stopped in may have lines after that place.
      print("{}{}\n", text,
            here      ? (is_one_of_several ? "    <- here, or where it comes again" : "    <- here")
            : or_here ? "    <- or here"
            : not_yet ? "    (not yet, or in part)"
                      : "");
    }
    if (shown.places.empty() && shown.left_out_system_headers) {
      print("             (only lines of system headers)\n");
    } else if (shown.places.empty()) {
      std::string ids;
      for (const uint32_t block : blocks) ids += fmt::format(" {}", graph.blocks[block].id);
      print("             (no lines{}{})\n", ids.empty() ? "" : "; blocks", ids);
    }
  }

  PathsView view_;
  ViewedNames names_;
  bool left_out_ = false;  // lines of system headers
  std::string out_;
  SourceLines& sources_;
};

void write_blocks(ObjectWriter& object, const PathGraph& graph, std::span<const uint32_t> blocks) {
  object.list("blocks", [&](ListWriter& list) {
    for (const uint32_t index : blocks) {
      const PathGraph::Block& block = graph.blocks[index];
      list.row([&](ObjectWriter& row) {
        row.add("block", block.id);
        row.list("lines", [&](ListWriter& lines) {
          for (const uint32_t line : block.lines) lines.value(line);
        });
        // Without the function's record, `lines` are all that is known of the block.
        if (graph.scopes.empty()) return;
        // They are those of instructions, which an optimiser may have moved.
        const bool say_the_same = std::ranges::equal(
            block.places, block.lines, [](const PathGraph::Place& place, uint32_t line) {
              return place.scope == 0 && place.line == line;
            });
        if (say_the_same) return;
        row.list("places", [&](ListWriter& places) {
          for (const PathGraph::Place& place : block.places) {
            const PathGraph::Scope& scope = graph.scopes[place.scope];
            places.row([&](ObjectWriter& one) {
              one.add("file", scope.file).add("function", scope.function).add("line", place.line);
            });
          }
        });
      });
    }
  });
}

void write_reading(ObjectWriter& object, const PathGraph& graph, const Reading& reading) {
  object.add("completed", reading.completed).add("between_updates", reading.between_updates);
  write_blocks(object, graph, reading.partial);
}

void write_block_ran(ListWriter& list, std::optional<uint64_t> id, std::span<const uint32_t> lines,
                     Ran ran) {
  list.row([&](ObjectWriter& row) {
    id ? row.add("block", *id) : row.add("block", nullptr);
    row.list("lines", [&](ListWriter& all) {
      for (const uint32_t line : lines) all.value(line);
    });
    row.add("ran", name_of(ran));
  });
}

void write_blocks_ran(ObjectWriter& object, const FramePaths& frame, const Decoded& decoded) {
  const std::vector<Ran> ran = blocks_ran(frame, decoded);
  object.list("blocks_ran", [&](ListWriter& list) {
    for (uint32_t node = 0; node < ran.size(); ++node) {
      if (node == kExitNode) continue;
      const PathGraph::Block& block = decoded.graph->blocks[node];
      write_block_ran(list, block.id, block.lines, ran[node]);
    }
  });
}

// Of a frame without paths.
void write_blocks_ran(ObjectWriter& object, const FramePaths& frame) {
  if (frame.blocks.empty()) return;
  object.list("blocks_ran", [&](ListWriter& list) {
    for (const FramePaths::Block& block : frame.blocks) {
      std::vector<uint32_t> lines;
      for (const auto& [file, line] : block.lines) lines.push_back(line);
      write_block_ran(list, block.id, lines, block.ran);
    }
  });
}

void write_lines(ObjectWriter& object, std::string_view key, const CoveredLines& all) {
  object.list(key, [&](ListWriter& lines) {
    for (const auto& each : all) {
      lines.row([&](ObjectWriter& one) {
        const auto& [line, ran] = each;
        one.add("file", line.first.str()).add("line", line.second).add("ran", name_of(ran));
      });
    }
  });
}

void write_history(ObjectWriter& object, const FramePaths& frame, const Decoded& decoded) {
  const PathHistory& history = decoded.history;
  const PathGraph& graph = *decoded.graph;
  object.add("complete_history", history.complete).add("found_by", name_of(decoded.found_by));
  object.text_or_null("unreliable", graph.calls_setjmp ? kUnreliable : "");
  object.list("paths", [&](ListWriter& paths) {
    for (const PathHistory::Path& path : history.completed) {
      paths.row([&](ObjectWriter& row) {
        row.add("number", path.number).add("times", path.times);
        write_blocks(row, graph, path.blocks);
      });
    }
  });
  if (history.readings.empty()) {
    object.add("partial", nullptr);
  } else {
    object.object("partial", [&](ObjectWriter& partial) {
      write_reading(partial, graph, history.readings.front());
    });
  }
  object.list("other_readings", [&](ListWriter& others) {
    for (size_t i = 1; i < history.readings.size(); ++i)
      others.row([&](ObjectWriter& row) { write_reading(row, graph, history.readings[i]); });
  });
  object.text_or_null("contradiction", history.contradiction);
  write_blocks_ran(object, frame, decoded);
  CoveredLines lines;
  for (const auto& [line, its] : lines_of_paths(frame, decoded)) lines.try_emplace(line, its.ran);
  write_lines(object, "lines_of_call", lines);
}

// Of a frame without paths.
void write_no_history(ObjectWriter& object, const FramePaths& frame) {
  object.add("complete_history", nullptr);
  object.list("paths", [](ListWriter&) {});
  object.add("partial", nullptr);
  write_blocks_ran(object, frame);
  const auto lines = lines_of_call(frame);
  if (!lines.empty()) write_lines(object, "lines_of_call", lines);
}

void write_frame(ObjectWriter& row, const FramePaths& frame) {
  row.add("function", frame.function);
  row.text_or_null("linkage_name", frame.linkage_name).text_or_null("file", frame.file);
  frame.line == 0 ? row.add("line", nullptr) : row.add("line", frame.line);
  row.text_or_null("module", frame.module);
  row.add("address", fmt::format("{:#x}", frame.pc));
  row.add("interrupted", frame.interrupted).add("inlined", frame.inlined);
  row.add("may_lack_caller", frame.may_lack_caller);
  if (!frame.same_address.empty()) {
    row.list("same_address", [&](ListWriter& others) {
      for (const FramePaths::Function& function : frame.same_address) {
        others.row([&](ObjectWriter& one) {
          one.add("function", function.name).add("linkage_name", function.linkage_name);
          one.text_or_null("file", function.file);
          function.line == 0 ? one.add("line", nullptr) : one.add("line", function.line);
        });
      }
    });
  }
  row.text_or_null("untraced", frame.untraced);
  if (!frame.lines.empty()) write_lines(row, "lines_ran", lines_by_flags(frame));
  if (frame.decoded.empty()) return write_no_history(row, frame);
  write_history(row, frame, frame.decoded.front());
  row.list("same_name", [&](ListWriter& others) {
    for (size_t i = 1; i < frame.decoded.size(); ++i)
      others.row([&](ObjectWriter& other) { write_history(other, frame, frame.decoded[i]); });
  });
}

}  // namespace

std::vector<ThreadPaths> choose_paths(std::vector<ThreadPaths> threads, const CallFilter& filter) {
  std::erase_if(threads, [&](const ThreadPaths& thread) {
    return !filter.keeps_thread({thread.pid, thread.tid});
  });
  if (filter.functions.empty()) return threads;
  for (ThreadPaths& thread : threads) {
    std::erase_if(thread.frames, [&](const FramePaths& frame) {
      FunctionInfo function;
      function.name = frame.function;
      function.linkage_name = frame.linkage_name;
      if (filter.matches(function)) return false;
      return std::ranges::none_of(frame.same_address, [&](const FramePaths::Function& other) {
        function.name = other.name;
        function.linkage_name = other.linkage_name;
        return filter.matches(function);
      });
    });
  }
  return threads;
}

void ask_for_sources(const std::vector<ThreadPaths>& threads, SourceLines& sources) {
  for (const ThreadPaths& thread : threads) {
    for (const FramePaths& frame : thread.frames) {
      const auto of_lines = lines_of_call(frame);
      if (!frame.decoded.empty() || !of_lines.empty())
        sources.complaint(frame.file, frame.directory);
      for (const Decoded& decoded : frame.decoded) {
        for (const PathGraph::Scope& scope : decoded.graph->scopes)
          sources.complaint(scope.file, frame.directory);
      }
      for (const auto& [place, ran] : of_lines) sources.complaint(place.first, frame.directory);
    }
    if (thread.slice == nullptr) continue;
    for (const ProgramSlice::Line& line : thread.slice->lines)
      sources.complaint(line.file, directory_of_slice(thread, line));
  }
}

std::string paths_text(const std::vector<ThreadPaths>& threads, const std::string& why_stopped,
                       const PathsView& view, SourceLines& sources) {
  return TextWriter(view, sources).write(threads, why_stopped);
}

std::string paths_document(const std::vector<ThreadPaths>& threads, const std::string& why_stopped,
                           std::string_view format, const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 4);
  DocumentWriter document(json, schemas::kPaths, format);
  document.text_or_null("stopped_by", why_stopped);
  document.list("threads", [&](ListWriter& list) {
    for (const ThreadPaths& thread : threads) {
      list.row([&](ObjectWriter& row) {
        row.add("pid", thread.pid).add("tid", thread.tid).text_or_null("cut", thread.cut);
        row.list("frames", [&](ListWriter& frames) {
          for (const FramePaths& frame : thread.frames)
            frames.row([&](ObjectWriter& one) { write_frame(one, frame); });
        });
        if (thread.slice != nullptr) write_slice(row, *thread.slice);
      });
    }
  });
  document.finish(problems);
  return out;
}

}  // namespace telltale
