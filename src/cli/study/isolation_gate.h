#pragma once

#include <string>

#include "analysis/isolation/isolate.h"
#include "base/error.h"
#include "cli/study/isolation_input.h"
#include "cli/study/labelled_evidence.h"

namespace telltale::cli {

// Is none of the predictors that were found new, compared with those of `gate`, a study or the
// beginning of a build's id, and can all failures be compared? Otherwise standard error says why
// not. `evidence` and `found` are those of `sources`. Errors: those of read_labelled_evidence;
// usage, if the gate has no runs.
Result<bool> passes_gate(const std::string& gate, const IsolationSources& sources,
                         const isolation::IsolationOptions& options,
                         const LabelledEvidence& evidence, const isolation::Isolation& found);

}  // namespace telltale::cli
