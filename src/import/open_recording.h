#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "bytes/input_file.h"
#include "import/mono/mono_recording.h"
#include "import/stacktrack/stacktrack_recording.h"
#include "import/xray/xray_recording.h"
#include "import/xray/xray_yaml_recording.h"

namespace telltale {

// Any recording that telltale can read. Answers are templates over EventSource; std::visit picks
// the format once. A new format is a member here and a line in the list in open_recording.cc.
using AnyRecording =
    std::variant<XrayRecording, XrayYamlRecording, MonoRecording, StacktrackRecording>;

struct OpenOptions {
  std::vector<std::string> files;     // several are one recording; "-" is standard input
  std::vector<std::string> programs;  // "PATH" or "OBJECT=PATH": what says what ids mean
  InputLimits limits;
  // File with the RAW_FORMAT description of the platform that the recordings, StackTrack then, are
  // from; empty: they are recognised by content.
  std::string format_description;
  // False if nobody asks for EventStream::thread_name: names that take long to find are left out.
  bool thread_names = true;
};

// Recognises the format by content and opens it. Errors: what the files' readers say, with the
// file's name; bad_magic if no format knows the first file; usage if the files are of different
// formats.
Result<AnyRecording> open_recording(const OpenOptions& options);
// The same in two steps. Errors of the first: usage without files; io, limit.
Result<std::vector<InputFile>> open_inputs(const OpenOptions& options);
Result<AnyRecording> open_recording(std::vector<InputFile> inputs, const OpenOptions& options);
// True for Sampler's texts, which have counts and no calls: they are no AnyRecording, which is a
// usage error, but SamplerReports (import/sampler_reports.h).
bool holds_counts(Bytes file);

// Reads a RAW_FORMAT description. Errors: io, and those of read_format_description.
Result<stacktrack::FormatDescription> open_format_description(const std::string& path);

// What is said of a file that no format knows.
std::unexpected<Error> unknown_format(const std::string& file_name, Bytes bytes);

}  // namespace telltale
