#pragma once

#include "base/error.h"
#include "base/problem.h"
#include "output/output_file.h"
#include "report/calls/sequence_report.h"

namespace telltale {

// `diff --order --html`: both threads beside each other, a row for each difference and for what is
// the same in between. Errors: io.
Result<void> write_sequence_page(const SequenceReport& report, const ProblemLog& problems,
                                 OutputFile& out);

}  // namespace telltale
