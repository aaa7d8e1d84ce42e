#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "output/dump/dump_line.h"

namespace telltale::sampler {

// Prints every record of one of Sampler's texts, one per line, in file order, with its offset:
// subreports, sections, rows and lines of feedback reports; sections and sites of site information;
// units, functions and nodes of control flow graphs. Problems are printed at their positions and
// added to `problems`. Errors: the sink's.
Result<void> dump_report(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems);
Result<void> dump_sites(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                        ProblemLog& problems);
Result<void> dump_graphs(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems);

// The kinds of records.
std::vector<RecordTable> sampler_records();

}  // namespace telltale::sampler
