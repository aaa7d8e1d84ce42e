#include "cli/options/function_match.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/closest_word.h"
#include "cli/options/message.h"
#include "formats/xray/wire.h"
#include "import/open_recording.h"
#include "import/recording.h"
#include "import/xray/xray_side_record.h"
#include "model/short_name.h"
#include "model/thread_text.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

size_t count_matches(const std::vector<const FunctionInfo*>& functions,
                     const std::string& pattern) {
  CallFilter filter;
  filter.functions = {pattern};
  return static_cast<size_t>(std::ranges::count_if(
      functions, [&](const FunctionInfo* one) { return filter.matches(*one); }));
}

// What comes after the last "::" outside of brackets.
std::string last_part(const std::string& bare) {
  size_t begin = 0;
  size_t depth = 0;
  for (size_t i = 0; i < bare.size(); ++i) {
    if (bare[i] == '<' || bare[i] == '(' || bare[i] == '{') ++depth;
    if ((bare[i] == '>' || bare[i] == ')' || bare[i] == '}') && depth != 0) --depth;
    if (depth == 0 && bare[i] == ':') begin = i + 1;
  }
  return bare.substr(begin);
}

// A pattern that matches something and resembles the one that was typed.
std::optional<std::string> better_pattern(const std::vector<const FunctionInfo*>& functions,
                                          const std::string& pattern) {
  for (const std::string& wider : {pattern + "*", "*" + pattern + "*"})
    if (count_matches(functions, wider) != 0) return wider;
  std::vector<std::string> names;
  for (const FunctionInfo* one : functions) {
    const std::string bare = bare_name(one->name);
    names.push_back(bare);
    names.push_back(last_part(bare));
  }
  std::string letters = pattern;
  std::erase_if(letters, [](char c) { return c == '*' || c == '?'; });
  const std::optional<std::string> closest = closest_word(letters, names);
  if (!closest) return std::nullopt;
  for (const std::string& wider : {*closest, *closest + "*", "*" + *closest + "*"})
    if (count_matches(functions, wider) != 0) return wider;
  return std::nullopt;
}

// The file of the recorder's own list of names, if a recording lacks it.
std::optional<std::string> missing_side_of(const ReadingOptions& reading) {
  // Standard input and pipes cannot be read again.
  const auto is_pipe = [](const std::string& file) {
    std::error_code unknown;
    return file == "-" || std::filesystem::is_fifo(file, unknown);
  };
  if (std::ranges::any_of(reading.files, is_pipe)) return std::nullopt;
  const Result<std::vector<InputFile>> inputs = open_inputs(reading.open_options());
  if (!inputs) return std::nullopt;
  for (const InputFile& input : *inputs) {
    if (const std::optional<std::string> side = missing_side_record(input)) return visible(*side);
  }
  return std::nullopt;
}

// Whether the recorder gave this number to a function when it was first called (gcc's hooks), so
// that the program does not know it.
bool is_assigned(std::string_view name) {
  uint64_t id = 0;
  std::from_chars(name.data() + 1, name.data() + name.size(), id);
  return id >= xray::kFirstAssignedId && id <= xray::kMaxFdrFunctionId;
}

// "#17", as functions without a name are shown.
bool is_number(std::string_view name) {
  return name.size() > 1 && name.front() == '#' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// That have calls which the filter selects.
std::vector<const FunctionInfo*> functions_in(const TimedCalls& calls, size_t jobs,
                                              const CallFilter& filter = {}) {
  ProblemLog ignored;
  const Profile profile = calls.profile({filter, jobs, false}, ignored);
  std::vector<const FunctionInfo*> functions;
  for (const FunctionProfile& row : profile.functions)
    functions.push_back(&calls.functions().describe(row.function));
  return functions;
}

// "0 of 310 functions match `validate`; try `'validate*'`".
std::string describe_patterns(const std::vector<const FunctionInfo*>& functions,
                              const std::vector<std::string>& patterns) {
  std::string words;
  for (const std::string& pattern : patterns)
    words += fmt::format("{}`{}`", words.empty() ? "" : ", ", visible(pattern));
  words = fmt::format("0 of {} functions match {}", functions.size(), words);
  for (const std::string& pattern : patterns) {
    if (const auto better = better_pattern(functions, pattern))
      return words + fmt::format("; try `'{}'`", visible(*better));
  }
  return words;
}

}  // namespace

std::string describe_no_function(const TimedCalls& calls, const std::string& argument,
                                 size_t jobs) {
  const std::vector<const FunctionInfo*> functions = functions_in(calls, jobs);
  const auto is_meant = [&](const FunctionInfo* one) { return means_function(argument, *one); };
  if (functions.empty() || std::ranges::any_of(functions, is_meant)) return {};
  return describe_patterns(functions, {argument});
}

namespace {

// "no thread is 99; there are 1:7 (main), 1:8"; empty: a thread of the filter exists.
std::string describe_no_thread(std::span<const EventStream> streams, const CallFilter& filter) {
  constexpr size_t kShown = 8;
  if (filter.threads.empty()) return {};
  std::string there;
  size_t shown = 0;
  for (const EventStream& stream : streams) {
    if (filter.keeps_thread(stream.thread)) return {};
    if (++shown > kShown) continue;
    there += (there.empty() ? "" : ", ") + thread_text(stream.thread);
    if (!stream.thread_name.empty()) there += fmt::format(" ({})", visible(stream.thread_name));
  }
  if (shown > kShown) there += fmt::format(" and {} more", shown - kShown);
  return fmt::format("no thread is what --thread names; there {} {}", shown == 1 ? "is" : "are",
                     there.empty() ? "none" : there);
}

}  // namespace

std::string describe_no_match(const TimedCalls& calls, const CallFilter& filter, size_t jobs) {
  if (std::string missing = describe_no_thread(calls.streams(), filter); !missing.empty())
    return missing;
  if (filter.functions.empty() && filter.from_ns == 0) return {};
  const std::vector<const FunctionInfo*> functions = functions_in(calls, jobs);
  if (functions.empty()) return {};
  const auto matches = [&](const FunctionInfo* one) { return filter.matches(*one); };
  if (!std::ranges::any_of(functions, matches))
    return describe_patterns(functions, filter.functions);
  if (filter.from_ns == 0) return {};
  CallFilter later;
  later.from_ns = filter.from_ns;
  if (!functions_in(calls, jobs, later).empty()) return {};
  return "the window of --time begins after the last call of the recording has begun";
}

bool remark_no_match(const TimedCalls& calls, const CallFilter& filter, size_t jobs) {
  const std::string why = describe_no_match(calls, filter, jobs);
  if (why.empty()) return false;
  print_message("telltale: {}\n", why);
  return true;
}

bool remark_no_match_at_any_time(const TimedCalls& calls, CallFilter filter, size_t jobs) {
  filter.from_ns = CallFilter().from_ns;
  filter.to_ns = CallFilter().to_ns;
  return remark_no_match(calls, filter, jobs);
}

void remark_unmatched(const TimedCalls& calls, const CallFilter& filter, size_t jobs) {
  if (filter.threads.size() > 1) {
    std::vector<std::string> missing;
    for (const CallFilter::Thread& thread : filter.threads) {
      CallFilter one;
      one.threads = {thread};
      if (describe_no_thread(calls.streams(), one).empty()) continue;
      missing.push_back(thread.pid ? thread_text({*thread.pid, thread.tid, thread.process})
                                   : std::to_string(thread.tid));
    }
    if (!missing.empty() && missing.size() < filter.threads.size())
      print_message("telltale: no thread is {}\n", join_words(missing, "or"));
  }
  if (filter.functions.size() < 2) return;
  const auto has_matched = [](const std::atomic<bool>& one) { return one.load(); };
  if (filter.matched && std::ranges::all_of(*filter.matched, has_matched)) return;
  const std::vector<const FunctionInfo*> functions = functions_in(calls, jobs);
  if (functions.empty()) return;
  std::vector<std::string> missing;
  for (const std::string& pattern : filter.functions)
    if (count_matches(functions, pattern) == 0) missing.push_back(pattern);
  if (missing.size() == filter.functions.size()) return;
  for (const std::string& pattern : missing)
    print_message("telltale: {}\n", describe_patterns(functions, {pattern}));
}

void remark_unmatched_frames(const TimedCalls& calls, Measure measure, const CallFilter& filter,
                             size_t jobs) {
  if (measure == Measure::time || filter.functions.empty()) return;
  ProblemLog ignored;
  const Result<MeasuredTree> all =
      calls.measured_tree(measure, {}, jobs, CallTreeOptions().max_depth, ignored);
  if (!all) return;
  std::vector<const FunctionInfo*> functions;
  for (const FunctionId id : functions_of(all->partial.finish(calls.streams())))
    if (FrameNames::is_function(id)) functions.push_back(&calls.functions().describe(id));
  if (functions.empty()) return;
  std::vector<std::string> missing;
  for (const std::string& pattern : filter.functions)
    if (count_matches(functions, pattern) == 0) missing.push_back(pattern);
  // remark_unmatched() names some of several, if the recording has calls.
  const bool all_are = missing.size() == filter.functions.size();
  if (missing.empty() || (!all_are && !functions_in(calls, jobs).empty())) return;
  print_message("telltale: on the stacks of {}, {}\n", name_of_measure(measure),
                describe_patterns(functions, missing));
}

bool means_function(const std::string& argument, const FunctionInfo& function) {
  CallFilter filter;
  filter.functions = {argument};
  return filter.matches(function) || bare_name(function.name) == argument;
}

bool remark_if_number(const std::string& name, const ReadingOptions& reading) {
  if (!is_number(name)) return false;
  const std::optional<std::string> missing = missing_side_of(reading);
  if (is_assigned(name)) {
    print_message(
        "telltale: {} is a function's number: only {}, the recorder's own list of names, "
        "gives it a name, and {}\n",
        name, missing.value_or("RECORDING.side"),
        missing ? "that file is missing"
                : "neither standard input nor a converted recording has one");
  } else if (!reading.programs.empty()) {
    print_message("telltale: {} is in none of the programs given by --program\n", name);
  } else {
    print_message(
        "telltale: {} is a function's number: --program BIN, the program that was recorded, "
        "gives it a name{}\n",
        name,
        missing ? fmt::format("; {}, the recorder's own list of names, is missing", *missing) : "");
  }
  return true;
}

void remark_unnamed(const FunctionNames& names, std::span<const FunctionId> shown,
                    const ReadingOptions& reading) {
  for (const FunctionId id : shown) {
    const FunctionInfo& info = names.describe(id);
    if (info.linkage_name.empty() && remark_if_number(info.name, reading)) return;
  }
}

std::vector<FunctionId> functions_of(const CallTree& tree) {
  std::vector<FunctionId> functions;
  for (const CallTree::Node& node : tree.nodes)
    if (node.depth != 0) functions.push_back(node.function);
  std::ranges::sort(functions);
  const auto same = std::ranges::unique(functions);
  functions.erase(same.begin(), same.end());
  return functions;
}

}  // namespace telltale::cli
