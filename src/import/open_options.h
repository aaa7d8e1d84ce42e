#pragma once

#include <string>
#include <vector>

#include "bytes/input_file.h"

namespace telltale {

struct OpenOptions {
  std::vector<std::string> files;     // several are one recording; "-" is standard input
  std::vector<std::string> programs;  // "PATH" or "OBJECT=PATH": what says what ids mean
  InputLimits limits;
  // File that describes the layout of the recordings, for the format that can be described
  // (FormatDescriptor::takes_description); empty: the format is recognised by content.
  std::string format_description;
  // False if nobody asks for EventStream::thread_name: names that take long to find are left out.
  bool thread_names = true;
};

}  // namespace telltale
