#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/options/reading_options.h"
#include "import/recording.h"

namespace telltale::cli {

// Opens one of the files as a separate recording, for verbs that compare two. `own_programs` name
// only its ids. Errors: those of open_recording; usage if the verb cannot use it.
Result<std::unique_ptr<const Recording>> open_one(const ReadingOptions& options, size_t index,
                                                  const std::vector<std::string>& own_programs);

// The options with the programs of both sides, for what is said about both.
ReadingOptions with_programs_of_sides(ReadingOptions options,
                                      const std::vector<std::string>& before,
                                      const std::vector<std::string>& after);

}  // namespace telltale::cli
