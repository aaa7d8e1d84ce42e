#pragma once

#include <functional>

#include "base/error.h"
#include "bytes/input_file.h"
#include "cli/options/reading_options.h"
#include "import/format_descriptor.h"
#include "model/record_filter.h"

namespace telltale::cli {

// Calls use(file, its format, chosen records or null) for each file of the options, in order, until
// one fails; returns that error with the file's name. Filters need the start and the function names
// of the whole recording. Errors: those of open_recording; usage for filters of a recording without
// timed calls.
Result<void> for_each_file(
    const ReadingOptions& options,
    const std::function<Result<void>(const InputFile&, const FormatDescriptor&, RecordFilter*)>&
        use);

}  // namespace telltale::cli
