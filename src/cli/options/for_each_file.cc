#include "cli/options/for_each_file.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/options/function_match.h"
#include "import/formats.h"
#include "import/open_recording.h"
#include "import/recording_folder.h"
#include "import/timed_calls.h"

namespace telltale::cli {

Result<void> for_each_file(
    const ReadingOptions& options,
    const std::function<Result<void>(const InputFile&, const FormatDescriptor&, RecordFilter*)>&
        use) {
  const OpenOptions open = options.open_options();
  const auto use_one = [&](const InputFile& file, RecordFilter* chosen) -> Result<void> {
    const Result<const FormatDescriptor*> format = find_format(file, open);
    if (!format) return std::unexpected(format.error());
    Result<void> done = use(file, **format, chosen);
    if (!done && done.error().file.empty()) done.error().file = file.name();
    return done;
  };
  const Result<CallFilter> filter = options.filter();
  if (!filter) return std::unexpected(filter.error());
  if (filter->keeps_everything()) {
    const Result<std::vector<std::string>> files = files_of(open);
    if (!files) return std::unexpected(files.error());
    Result<void> all;
    for (const std::string& path : *files) {
      const Result<InputFile> file = InputFile::open(path, open.limits);
      if (!file) return std::unexpected(file.error());
      const Result<void> done = use_one(*file, nullptr);
      if (done) continue;
      // An empty file of several does not hide the others, nor does one of a folder that ends
      // inside its header.
      const bool is_lost = files->size() > 1 && file->bytes().empty();
      const bool is_torn =
          done.error().cause == Error::Cause::truncated && is_of_folder(open, path);
      if (!is_lost && !is_torn) return done;
      if (all) all = done;
    }
    return all;
  }
  const auto recording = open_recording(open);
  if (!recording) return std::unexpected(recording.error());
  const TimedCalls* calls = (*recording)->timed_calls();
  if (calls == nullptr) {
    return usage_error(fmt::format("filters select records by calls, but {} has {}",
                                   (*recording)->noun(), (*recording)->describe_capabilities()));
  }
  CallFilter settled = *filter;
  settle_window(**recording, options, settled);
  RecordFilter chosen(settled, calls->clock(), calls->first_time(), calls->functions());
  for (size_t i = 0; i < (*recording)->file_count(); ++i) {
    chosen.function_at = (*recording)->functions_in(i);
    chosen.process_of = [&recording, i](int64_t pid) { return (*recording)->process_in(i, pid); };
    if (const Result<void> done = use_one((*recording)->input(i), &chosen); !done) return done;
  }
  remark_no_match_at_any_time(*calls, settled, options.jobs);
  remark_unmatched(*calls, settled, options.jobs);
  return {};
}

}  // namespace telltale::cli
