#include "analysis/isolation/crash_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/fnv.h"
#include "base/joined.h"
#include "base/sort_rows.h"
#include "base/system_library.h"
#include "model/short_name.h"

namespace telltale::isolation {
namespace {

// Enough to distinguish two callers of one helper; with more, one bug that is reached by several
// ways becomes several clusters. ClusterFuzz uses the same number.
constexpr size_t kFrames = 3;

// Functions that report a fault, and what calls main; the program may contain them, if it is linked
// statically or by a sanitizer.
constexpr std::array<std::string_view, 25> kReporters = {"_start",
                                                         "abort",
                                                         "raise",
                                                         "gsignal",
                                                         "kill",
                                                         "pthread_kill",
                                                         "__pthread_kill_implementation",
                                                         "__pthread_kill_internal",
                                                         "__assert_fail",
                                                         "__assert_fail_base",
                                                         "__libc_message",
                                                         "__fortify_fail",
                                                         "__stack_chk_fail",
                                                         "__chk_fail",
                                                         "malloc_printerr",
                                                         "malloc",
                                                         "calloc",
                                                         "realloc",
                                                         "free",
                                                         "_int_free",
                                                         "_int_malloc",
                                                         "std::terminate()",
                                                         "__cxa_throw",
                                                         "__cxa_rethrow",
                                                         "__cxa_pure_virtual"};
constexpr std::array<std::string_view, 11> kReporterPrefixes = {
    "__sanitizer::", "__asan", "__ubsan", "__interceptor_", "__interception::", "___interceptor_",
    "__GI_",         "__lsan", "__msan",  "__tsan",         "operator delete"};

// Functions of Telltale's runtime that the program's code calls, and those that telltale-cc adds to
// it. The program contains them.
constexpr std::array<std::string_view, 3> kRuntimePrefixes = {"telltale_", "__telltale_",
                                                              "telltale."};

bool is_called_runtime(const StackFrame& frame) {
  return std::ranges::any_of(kRuntimePrefixes, [&](std::string_view prefix) {
    return frame.function.starts_with(prefix);
  });
}

// What the above may call, and what calls the first function of a thread.
bool is_inside_runtime(const StackFrame& frame) {
  return frame.function.contains("telltale::") || is_called_runtime(frame);
}

// Of a sanitizer, above all.
bool is_prefixed_reporter(const StackFrame& frame) {
  return std::ranges::any_of(kReporterPrefixes, [&](std::string_view prefix) {
    return frame.function.starts_with(prefix);
  });
}

bool is_outside(const StackFrame& frame) {
  return is_system_library(frame.module) ||
         std::ranges::find(kReporters, frame.function) != kReporters.end() ||
         is_prefixed_reporter(frame);
}

// Is the function's name an address in the program or library?
bool is_nameless(const StackFrame& frame) {
  return frame.function.empty() || frame.function.find("+0x") != std::string::npos;
}

// The stack without the runtime's frames: where they are depends on what is observed.
std::vector<const StackFrame*> without_runtime(std::span<const StackFrame> stack) {
  std::vector<const StackFrame*> kept;
  // From the outermost frame inwards. The runtime's frames that call a thread's first function are
  // outside of all others; those that write the report of a program that a sanitizer ends are
  // inside the sanitizer's.
  bool inside = false;
  bool outermost = true;
  bool reported = false;
  for (const StackFrame& frame : stack | std::views::reverse) {
    inside = is_called_runtime(frame) ||
             (inside && (is_inside_runtime(frame) || is_system_library(frame.module))) ||
             ((outermost || reported) && is_inside_runtime(frame));
    outermost = outermost && (inside || is_outside(frame));
    reported = is_prefixed_reporter(frame);
    if (!inside) kept.push_back(&frame);
  }
  std::ranges::reverse(kept);
  return kept;
}

// How many frames are left without those of libraries, and without what calls them: _start, which
// has no name in a stripped program, and what calls destructors when main has returned, which has
// none in any.
size_t count_inside(std::span<const StackFrame* const> stack) {
  const auto is_outer = [](const StackFrame* frame) { return is_outside(*frame); };
  const auto is_start = [&](size_t frame) {
    return is_nameless(*stack[frame]) && frame > 0 && is_outside(*stack[frame - 1]) &&
           (stack[frame - 1]->function == "__cxa_finalize" ||
            !std::ranges::all_of(stack.first(frame), is_outer));
  };
  size_t end = stack.size();
  while (end != 0 && (is_outside(*stack[end - 1]) || (end == stack.size() && is_start(end - 1))))
    --end;
  return end;
}

}  // namespace

std::string normalise_stack(std::span<const StackFrame> frames, bool by_signal) {
  const std::vector<const StackFrame*> stack = without_runtime(frames);
  // Below main and the first function of a thread are frames of libraries, too.
  size_t begin = 0;
  size_t end = count_inside(stack);
  while (begin < end && is_outside(*stack[begin])) ++begin;
  const bool has_program = begin != end;
  if (!has_program) {
    if (!by_signal) return {};
    begin = 0;
    end = stack.size();
  }
  std::vector<std::string_view> names;
  for (size_t i = begin; i < end && names.size() < kFrames; ++i) {
    // An address in the system's library is not the same on other machines.
    if (has_program && is_nameless(*stack[i]) && is_system_library(stack[i]->module)) continue;
    const std::string& function = stack[i]->function;
    const std::string_view name = function.empty() ? "?" : without_copy(function);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return joined(names, " < ");
}

std::vector<CrashCluster> cluster_crashes(std::span<const Crash> crashes) {
  std::map<std::pair<std::string_view, std::string>, size_t> known;
  std::vector<CrashCluster> clusters;
  for (size_t i = 0; i < crashes.size(); ++i) {
    std::string stack = normalise_stack(crashes[i].stack, crashes[i].by_signal);
    const auto [at, is_new] = known.try_emplace({crashes[i].ending, stack}, clusters.size());
    if (is_new) {
      const uint64_t hash = fnv1a(crashes[i].ending + "\n" + stack);
      clusters.push_back({fmt::format("{:08x}", static_cast<uint32_t>(hash ^ (hash >> 32))),
                          crashes[i].ending,
                          std::move(stack),
                          {}});
    }
    clusters[at->second].members.push_back(i);
  }
  sort_rows(clusters, std::greater{}, [](const CrashCluster& one) { return one.members.size(); });
  return clusters;
}

}  // namespace telltale::isolation
