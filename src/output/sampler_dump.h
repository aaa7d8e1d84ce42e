#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "output/dump_line.h"

namespace telltale::sampler {

// Every record of a text of Sampler's, one a line, in file order, with its offset: of feedback
// reports subreports, sections, rows and lines; of site information sections and sites; of control
// flow graphs units, functions and nodes. What was wrong stands where it was met and is added to
// `problems`. Errors: the sink's.
Result<void> dump_report(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems);
Result<void> dump_sites(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                        ProblemLog& problems);
Result<void> dump_graphs(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems);

}  // namespace telltale::sampler
