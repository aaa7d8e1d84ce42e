#pragma once

#include <string>
#include <vector>

#include "bytes/input_file.h"

namespace telltale {

struct OpenOptions {
  std::vector<std::string> files;     // several are one recording; "-" is standard input
  std::vector<std::string> programs;  // "PATH" or "OBJECT=PATH": programs that define the ids
  bool other_programs = false;        // of core files: some programs may belong to others
  InputLimits limits;
  // File that describes the layout of the recordings, for the format that takes a description
  // (FormatDescriptor::takes_description); empty: recognises the format by content.
  std::string format_description;
  // Whether EventStream::thread_name is needed; if not, names that are expensive to find are
  // omitted.
  bool thread_names = true;
  // Whether FunctionInfo::file and line are needed; if not, those that are expensive to find are
  // omitted.
  bool source_places = true;
};

}  // namespace telltale
