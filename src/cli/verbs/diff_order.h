#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"

namespace telltale::cli {

struct DiffOrderOptions {
  std::vector<std::string> programs_before;
  std::vector<std::string> programs_after;
  size_t rows = 0;                   // lines of text; 0: all
  std::optional<OutputOption> page;  // file to write as a page; empty: none
};

// `diff --order`: aligns the calls of one thread of each of the two files of `reading`. --thread
// once is the thread of both, twice that of the first and that of the second; otherwise each
// recording's longest thread is taken. Returns the exit status.
int diff_order(const ReadingOptions& reading, const DiffOrderOptions& options);

}  // namespace telltale::cli
