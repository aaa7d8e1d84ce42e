#include "cli/options/output_option.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "bytes/as_bytes.h"
#include "import/formats.h"
#include "import/recording_folder.h"
#include "import/xray/xray_side_record.h"
#include "output/export_format.h"
#include "output/file_kind.h"

namespace telltale::cli {
namespace {

// Recordings of one format are of one kind, whatever their version and layout.
std::string kind_of_output(std::string_view head) {
  for (const FormatDescriptor* const format : all_formats())
    if (format->sniff(as_bytes(head)) >= Confidence::likely) return std::string(format->noun);
  return file_kind(head);
}

bool is_usual_for_something(std::string_view path) {
  constexpr std::string_view kOthers = ".html .htm .svg .sarif .xml .graphml";
  return fitting_extension(kOthers, path) != 0 ||
         std::ranges::any_of(output_formats(), [&](const OutputFormat& format) {
           return fitting_extension(format.name.extensions, path) != 0;
         });
}

const OutputForm* form_of(const std::vector<OutputForm>& forms, std::string_view path) {
  const OutputForm* best = nullptr;
  size_t longest = 0;
  for (const OutputForm& form : forms) {
    const size_t fits = fitting_extension(form.extensions, path);
    if (fits <= longest) continue;
    best = &form;
    longest = fits;
  }
  return best;
}

std::string extensions_of(const std::vector<OutputForm>& forms) {
  std::string all;
  for (const OutputForm& form : forms)
    all += (all.empty() ? "" : " ") + std::string(form.extensions);
  return all;
}

}  // namespace

Option add_output_option(Command verb, OutputOption& output, const std::string& description) {
  Option option = verb.add_option("-o,--output", output.path, description).type_name("FILE");
  verb.add_flag("--force", output.force, "let -o replace an existing file of another kind");
  return option;
}

void choose_form_by_name(Command verb, const std::vector<OutputForm>& forms,
                         const std::vector<std::string>& others) {
  std::set<std::string> options(others.begin(), others.end());
  for (const OutputForm& form : forms)
    if (!form.option.empty()) options.insert(form.option);
  Option output = verb.option("--output");
  output.add_to_description("; the end of its name chooses what is written (" +
                            extensions_of(forms) + ") unless an option does");
  output.check([verb, forms, options](const std::string& path) -> std::string {
    const bool is_chosen = std::ranges::any_of(
        options, [&](const std::string& option) { return verb.option(option).count() != 0; });
    if (is_chosen || path == "-") return {};
    const OutputForm* const form = form_of(forms, path);
    if (form != nullptr) {
      if (!form->option.empty()) verb.option(form->option).supply(form->value);
      return {};
    }
    if (!is_usual_for_something(path)) return {};
    return "telltale " + verb.name() + " cannot write what the name " + path + " says; it writes " +
           extensions_of(forms) + ", or what an option chooses";
  });
}

Result<void> check_output(const OutputOption& output, const std::vector<std::string>& inputs) {
  // `--html page.html`: the option takes no name, and the page would be read.
  const auto missing_page = std::ranges::find_if(inputs, [](const std::string& input) {
    return fitting_extension(kPageExtensions, input) != 0 && ::access(input.c_str(), F_OK) != 0;
  });
  if (output.path == "-" && missing_page != inputs.end())
    return usage_error("there is no input " + *missing_page + "; -o FILE names what is written");
  struct stat written{};
  if (output.path == "-" || ::stat(output.path.c_str(), &written) != 0 || !S_ISREG(written.st_mode))
    return {};
  const bool is_input = std::ranges::any_of(inputs, [&](const std::string& input) {
    struct stat read{};
    return input != "-" && ::stat(input.c_str(), &read) == 0 && read.st_dev == written.st_dev &&
           read.st_ino == written.st_ino;
  });
  if (is_input) return usage_error(output.path + " is an input, which telltale does not overwrite");
  return {};
}

Result<void> check_output(const OutputOption& output, const ReadingOptions& reading) {
  std::vector<std::string> inputs = reading.files;
  if (const Result<std::vector<std::string>> files = files_of(reading.open_options()))
    inputs = *files;  // of folders, too
  const size_t recordings = inputs.size();
  for (size_t i = 0; i < recordings; ++i)
    if (std::optional<std::string> side = side_record_of(inputs[i]))
      inputs.push_back(*std::move(side));
  inputs.insert(inputs.end(), reading.programs.begin(), reading.programs.end());
  return check_output(output, inputs);
}

Result<OutputFile> open_output(const OutputOption& output) {
  return OutputFile::open(
      output.path, output.force ? OutputFile::Replace::anything : OutputFile::Replace::same_kind,
      kind_of_output);
}

}  // namespace telltale::cli
