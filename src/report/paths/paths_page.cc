#include "report/paths/paths_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "analysis/paths/frame_coverage.h"
#include "import/lines_of_call.h"
#include "output/flame/page.h"
#include "output/flame/page_text.h"
#include "output/json_writer.h"
#include "report/paths/page_sources.h"
#include "report/paths/path_places.h"
#include "report/paths/slice_report.h"

namespace telltale {
namespace {

using Decoded = FramePaths::Decoded;
using Reading = PathHistory::Reading;

constexpr size_t kMostFrames = 2'000;
// Of a frame; older steps are left out. Of all frames, after which each has the least number.
constexpr size_t kMostSteps = 20'000;
constexpr size_t kAllSteps = 200'000;
constexpr size_t kLeastSteps = 50;
constexpr size_t kMostSliceLines = 20'000;
constexpr size_t kMostOtherLines = 500'000;  // lines beside the steps, of all frames

std::string file_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

// By index of the source and line.
using SourceLinesRan = std::map<std::pair<size_t, uint32_t>, Ran>;

class StepsWriter {
 public:
  StepsWriter(PageRoom& room, const PathsView& view, SourceLines& sources)
      : room_(room), view_(view), names_(view.names), sources_(sources) {}

  std::string text(const std::vector<ThreadPaths>& threads) {
    size_t frames = 0;
    for (const ThreadPaths& thread : threads) frames += thread.frames.size();
    size_t left = room_.rows(frames, kMostFrames, "frame");
    json_.begin_object().key("frames").begin_array();
    for (const ThreadPaths& thread : threads) {
      for (const FramePaths& frame : thread.frames) {
        if (left == 0) break;
        --left;
        write_frame(thread, frame);
      }
    }
    json_.end_array();
    for (const ThreadPaths& thread : threads)
      if (thread.slice != nullptr) write_slice(thread, *thread.slice);
    json_.key("sources");
    sources_.write(json_, room_);
    json_.end_object();
    return json_for_script(text_);
  }

 private:
  // A frame with several readings is shown once for each.
  void write_frame(const ThreadPaths& thread, const FramePaths& frame) {
    if (frame.decoded.empty()) {
      begin_frame(thread, frame);
      json_.member("history", room_.text(others_of(frame) + "no paths: " + frame.untraced));
      json_.key("steps").begin_array().end_array();
      write_lines_ran(frame);
      end_frame();
      return;
    }
    for (const Decoded& decoded : frame.decoded) {
      const std::vector<Reading> readings = distinct_readings(decoded);
      if (readings.empty()) write_reading(thread, frame, decoded, nullptr, 0, 0);
      for (size_t i = 0; i < readings.size(); ++i)
        write_reading(thread, frame, decoded, &readings[i], i + 1, readings.size());
    }
  }

  void begin_frame(const ThreadPaths& thread, const FramePaths& frame) {
    json_.begin_object();
    json_.member("thread", thread.tid).member("number", frame.number);
    json_.member("function", room_.text(names_.of(frame.function, frame.linkage_name)));
    const std::string place =
        frame.line == 0 ? std::string() : fmt::format("{}:{}", file_name(frame.file), frame.line);
    json_.member("place", room_.text(place));
  }
  void end_frame() { json_.end_object(); }

  // Other functions at the frame's address; empty if there are none. The page shows this text
  // before the history of the frame.
  std::string others_of(const FramePaths& frame) {
    return frame.same_address.empty()
               ? std::string()
               : fmt::format("or {}: the linker put functions with equal code at one address; ",
                             others_at_address(frame, names_));
  }

  static std::string history_of(const Decoded& decoded, size_t completed, size_t number,
                                size_t count) {
    const PathHistory& history = decoded.history;
    std::string words;
    if (decoded.graph->calls_setjmp) words += "calls setjmp: paths may be wrong; ";
    if (!history.contradiction.empty()) words += history.contradiction + "; ";
    if (completed == 0) {
      words +=
          history.complete ? "no path was completed since the call" : "completed paths are lost";
    } else {
      const uint64_t times = times_of(std::span(history.completed).first(completed));
      words += fmt::format("{} completed path{}", times, times == 1 ? "" : "s");
      words += history.complete ? ", all since the call" : ", older ones are lost";
    }
    if (count > 1) words += fmt::format("; reading {} of {}", number, count);
    return words;
  }

  void write_reading(const ThreadPaths& thread, const FramePaths& frame, const Decoded& decoded,
                     const Reading* reading, size_t number, size_t count) {
    const PathHistory& history = decoded.history;
    const size_t completed = reading == nullptr ? history.completed.size() : reading->completed;
    begin_frame(thread, frame);
    std::vector<Step> steps;
    size_t here = 0;  // number of a step, from 1
    bool left_out_system_headers = false;
    const auto add = [&](size_t path, std::span<const uint32_t> blocks, bool stopped) {
      const ShownPlaces shown =
          shown_places(frame, *decoded.graph, blocks, stopped, view_.system_headers);
      left_out_system_headers = left_out_system_headers || shown.left_out_system_headers;
      for (const ShownPlaces::Shown& one : shown.places) {
        if (one.not_yet) continue;
        steps.push_back({path, one.place});
        if (one.here) here = steps.size();
      }
    };
    for (size_t i = 0; i < completed; ++i) add(i, history.completed[i].blocks, false);
    if (reading != nullptr) add(completed, reading->partial, true);
    std::string words = others_of(frame) + history_of(decoded, completed, number, count);
    if (left_out_system_headers) words += "; lines of system headers are left out";
    json_.member("history", room_.text(words));
    json_.member("complete", history.complete);
    const size_t room = std::clamp(steps_left_, kLeastSteps, kMostSteps);
    const size_t left_out = steps.size() > room ? steps.size() - room : 0;
    steps_left_ -= std::min(steps_left_, steps.size() - left_out);
    json_.member("left_out", left_out);
    json_.member("here", here > left_out ? here - left_out : 0);
    json_.key("steps").begin_array();
    for (const Step& step : std::span(steps).subspan(left_out))
      write_step(frame, *decoded.graph, step);
    json_.end_array();
    write_times(std::span(history.completed).first(completed));
    write_rest(frame, decoded, std::span(steps).subspan(left_out));
    end_frame();
  }

  void write_times(std::span<const PathHistory::Path> paths) {
    if (times_of(paths) == paths.size()) return;
    json_.key("times").begin_array();
    for (const PathHistory::Path& path : paths) json_.value(path.times);
    json_.end_array();
  }

  struct Step {
    size_t path = 0;
    PathGraph::Place place;
  };

  // [path, source, line, inlined function or nothing]
  void write_step(const FramePaths& frame, const PathGraph& graph, const Step& step) {
    const size_t source =
        sources_.use(file_of(frame, graph, step.place), frame.directory, step.place.line);
    json_.begin_array().value(step.path).value(source).value(step.place.line);
    if (is_inlined(graph, step.place))
      json_.value(room_.text(names_.beside_line(graph.scopes[step.place.scope].function)));
    json_.end_array();
  }

  // Lines without a step.
  void write_rest(const FramePaths& frame, const Decoded& decoded, std::span<const Step> steps) {
    std::set<std::pair<std::string, uint32_t>> shown;
    for (const Step& step : steps)
      shown.emplace(file_of(frame, *decoded.graph, step.place), step.place.line);
    SourceLinesRan lines;
    for (const auto& [line, its] : lines_of_paths(frame, decoded)) {
      if (shown.contains(line)) continue;
      const size_t source = sources_.use(line.first, frame.directory, line.second);
      add_copy(lines, {source, line.second}, its.ran);
    }
    write_lines("ran", Ran::yes, lines);
    write_lines("not_run", Ran::no, lines);
    write_lines("maybe", Ran::maybe, lines);
  }

  // All lines of a frame without paths, and the one where it stopped.
  void write_lines_ran(const FramePaths& frame) {
    SourceLinesRan lines;
    for (const auto& [place, ran] : lines_of_call(frame)) {
      const size_t source = sources_.use(place.first, frame.directory, place.second);
      lines.emplace(std::pair(source, place.second), ran);
    }
    if (lines.empty()) return;
    if (frame.line != 0 && !frame.file.empty()) {
      const size_t source = sources_.use(frame.file, frame.directory, frame.line);
      json_.key("stopped").begin_array().value(source).value(frame.line).end_array();
    }
    write_lines("ran", Ran::yes, lines);
    write_lines("not_run", Ran::no, lines);
    write_lines("maybe", Ran::maybe, lines);
  }

  void write_lines(std::string_view key, Ran answer, const SourceLinesRan& lines) {
    json_.key(key).begin_array();
    for (const auto& [place, its] : lines) {
      if (its != answer) continue;
      if (other_lines_left_ == 0) {
        room_.rows(1, 0, "line");
        continue;
      }
      --other_lines_left_;
      json_.begin_array().value(place.first).value(place.second).end_array();
    }
    json_.end_array();
  }

  // [frame or -1, source, line, function, why]
  void write_slice(const ThreadPaths& thread, const ProgramSlice& slice) {
    json_.key("slice").begin_object().member("thread", thread.tid);
    const bool is_missing = !slice.missing.empty();
    json_.member("summary",
                 room_.text(is_missing ? "no slice: " + slice.missing : size_of_slice(slice)));
    json_.key("assumed").begin_array();
    for (const std::string& note : slice.notes) json_.value(note);
    json_.end_array();
    const size_t shown = std::min(slice.lines.size(), kMostSliceLines);
    json_.member("left_out", slice.lines.size() - shown);
    json_.key("lines").begin_array();
    for (const ProgramSlice::Line& line : std::span(slice.lines).first(shown)) {
      const size_t source = sources_.use(line.file, directory_of_slice(thread, line), line.line);
      json_.begin_array();
      line.frame ? json_.value(*line.frame) : json_.value(-1);
      json_.value(source).value(line.line).value(room_.text(names_.of(line.function, "")));
      json_.value(room_.text(sentence_of(line))).end_array();
    }
    json_.end_array().end_object();
  }

  std::string text_;
  JsonWriter json_{text_};
  PageRoom& room_;
  PathsView view_;
  ViewedNames names_;
  size_t steps_left_ = kAllSteps;
  size_t other_lines_left_ = kMostOtherLines;
  PageSources sources_;
};

}  // namespace

Result<void> write_paths_page(const std::vector<ThreadPaths>& threads, const std::string& name,
                              const std::string& why_stopped, const PathsView& view,
                              const ProblemLog& problems, SourceLines& sources, OutputFile& out) {
  PageHead head;
  head.title = "What ran before the end";
  size_t frames = 0;
  for (const ThreadPaths& thread : threads) frames += thread.frames.size();
  head.facts.emplace_back("file", name);
  if (!why_stopped.empty()) head.facts.emplace_back("stopped by", why_stopped);
  head.facts.emplace_back("threads", fmt::format("{}", threads.size()));
  head.facts.emplace_back("frames", fmt::format("{}", frames));
  for (const ThreadPaths& thread : threads) {
    if (!thread.cut.empty())
      head.facts.emplace_back(fmt::format("no further frames of thread {}", thread.tid),
                              thread.cut);
    for (const FramePaths& frame : thread.frames) {
      if (frame.may_lack_caller)
        head.facts.emplace_back(
            fmt::format("may be missing in thread {}", thread.tid),
            fmt::format("the frame of the caller of #{}, which has no unwind table", frame.number));
    }
  }
  if (problems.count() != 0)
    head.facts.emplace_back("problems", fmt::format("{}", problems.count()));
  head.summary = {"stopped by", "threads", "problems"};
  PageRoom room;
  const std::array<PageData, 1> data = {{{"steps", [&](OutputFile& file) {
                                            return file.write(
                                                StepsWriter(room, view, sources).text(threads));
                                          }}}};
  const std::array<PageTab, 1> tabs = {{{"paths", "steps", "Paths", "steps"}}};
  return write_page(head, data, tabs, room, out);
}

}  // namespace telltale
