#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "bytes/input_file.h"
#include "import/capability.h"
#include "model/call_filter.h"
#include "model/events.h"
#include "model/recording_info.h"

namespace telltale {

struct FormatDescriptor;
class RuntimeEvents;
class SamplerReports;
class StackPaths;
class StaticInformation;
class TimedCalls;

// A recording of one or several files in any format. Its capabilities are interfaces that may be
// null. Immutable; safe to use from several threads.
class Recording {
 public:
  explicit Recording(const FormatDescriptor& format) : format_(&format) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  // For messages, and for work file by file (dump, check, convert).
  [[nodiscard]] const FormatDescriptor& format() const { return *format_; }
  // "an XRay trace": how messages call it; the format's noun unless its files are of another kind.
  [[nodiscard]] virtual std::string_view noun() const;

  // Reads all records on `workers` threads (0: all cores) and counts those that the filter selects.
  [[nodiscard]] virtual RecordingInfo info(size_t workers, const CallFilter& filter = {}) const = 0;
  // Problems found on opening; answers report the others.
  [[nodiscard]] virtual const ProblemLog& problems() const = 0;
  // The files, in the given order.
  [[nodiscard]] virtual size_t file_count() const = 0;
  [[nodiscard]] virtual const InputFile& input(size_t file) const = 0;
  // Processes that wrote it; 0 if unknown.
  [[nodiscard]] virtual std::vector<int64_t> writers() const { return {}; }
  // Events that are missing because the recorder's filters left them out, such as short calls.
  [[nodiscard]] virtual uint64_t left_out_events() const { return 0; }
  // The lists of patterns by which the recorder chose functions (xray::SideRecord::chosen), sorted,
  // without duplicates. An empty list means that it chose all functions.
  [[nodiscard]] virtual std::vector<std::string> function_choices() const {
    return {std::string()};
  }
  // Returns a function that maps a function's address or id, as the records of this file have it,
  // to its id in the recording. Empty if both are the same. Valid as long as this.
  [[nodiscard]] virtual std::function<FunctionId(uint64_t)> functions_in(size_t /*file*/) const {
    return {};
  }

  // ThreadKey::process of the process with this id that a file is of.
  [[nodiscard]] virtual uint32_t process_in(size_t /*file*/, int64_t /*pid*/) const { return 0; }

  // Capabilities; null if the recording has no such data. Valid as long as this.
  [[nodiscard]] virtual const TimedCalls* timed_calls() const { return nullptr; }
  [[nodiscard]] virtual const RuntimeEvents* runtime_events() const { return nullptr; }
  [[nodiscard]] virtual const SamplerReports* counts_at_sites() const { return nullptr; }
  [[nodiscard]] virtual const StackPaths* paths_in_frames() const { return nullptr; }
  [[nodiscard]] virtual const StaticInformation* static_information() const { return nullptr; }
  [[nodiscard]] bool has(Capability capability) const;
  // "timed calls and runtime events".
  [[nodiscard]] std::string describe_capabilities() const;

 private:
  const FormatDescriptor* format_;
};

// The recording's info, in which records, their kinds, events and threads are those that the filter
// selects; the span is the recording's.
RecordingInfo info_of_selection(const Recording& recording, const CallFilter& filter,
                                size_t workers);

// "a, b and c".
std::string join_words(const std::vector<std::string>& words, std::string_view last = "and");

}  // namespace telltale
