#pragma once

#include <string>
#include <string_view>
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

// Something that a verb writes.
struct OutputForm {
  std::string_view extensions;  // as OutputName::extensions
  std::string option;           // selects it: "--json", "--to"; empty: none has to
  std::string value = "true";
};
// Extensions of what several verbs write.
constexpr std::string_view kPageExtensions = ".html .htm";
constexpr std::string_view kDotExtensions = ".dot .gv";
constexpr std::string_view kLcovExtensions = ".info .lcov";
constexpr std::string_view kYamlExtensions = ".yaml .yml";

// The name of the output selects one of the forms, as if the command line had its option, unless
// it has an option of another form, or one of `others`. A name that is usual for what the verb
// does not write is an error; any other name selects nothing. REQUIRES: the verb has all these
// options, and add_output_option() was called.
void choose_form_by_name(Command verb, const std::vector<OutputForm>& forms,
                         const std::vector<std::string>& others = {});
// Errors: usage, if the output is one of the inputs, under whatever name: it would be overwritten,
// which --force does not allow either; or if there is no -o, and an input that does not exist has
// the name of a page.
Result<void> check_output(const OutputOption& output, const std::vector<std::string>& inputs);
// The same for the files and programs of `reading`.
Result<void> check_output(const OutputOption& output, const ReadingOptions& reading);
// Errors: as OutputFile::open and, for an existing file, OutputFile::write.
Result<OutputFile> open_output(const OutputOption& output);

}  // namespace telltale::cli
