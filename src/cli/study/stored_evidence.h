#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "cli/study/isolation_input.h"
#include "cli/study/labelled_evidence.h"

namespace telltale::cli {

// Whether the folder is a store of `telltale collect`.
bool is_store(const std::string& folder);

// The observations of a store's runs: of one application, and of the builds that `sources` chooses.
// Site information is the store's and that of `sources.programs`. Errors: usage, if there are
// several applications and none is chosen, or without DuckDB's library; io.
Result<LabelledEvidence> read_stored_evidence(const std::string& folder,
                                              const IsolationSources& sources, size_t workers);

}  // namespace telltale::cli
