#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/options/command.h"
#include "cli/options/reading_options.h"
#include "output/output_file.h"

namespace telltale::cli {

// The file that a verb writes its answer to.
struct OutputOption {
  std::string path = "-";  // standard output
  bool force = false;      // replaces any file; without it, only one of the kind that is written
};

// -o and --force. Returns -o.
Option add_output_option(Command verb, OutputOption& output,
                         const std::string& description = "file to write; - is standard output");
// Whether the file is to be a page, by its name.
bool names_page(const OutputOption& output);
// Errors: usage, if the output is one of the inputs, under whatever name: it would be overwritten,
// which --force does not allow either.
Result<void> check_output(const OutputOption& output, const std::vector<std::string>& inputs);
// The same for the files and programs of `reading`.
Result<void> check_output(const OutputOption& output, const ReadingOptions& reading);
// Errors: as OutputFile::open and, for an existing file, OutputFile::write.
Result<OutputFile> open_output(const OutputOption& output);

}  // namespace telltale::cli
