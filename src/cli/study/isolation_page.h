#pragma once

#include <string>

#include "base/error.h"
#include "cli/study/isolation_rows.h"
#include "cli/study/labelled_evidence.h"
#include "output/flame/page_room.h"
#include "output/output_file.h"
#include "program/built_sources.h"

namespace telltale::cli {

// Of the files that a page shows; `built`: what the programs were compiled from.
struct PageSourceChecks {
  BuiltSources built;
  ChangedSources changed;  // what was found
};

struct PageFolders {
  // Source is read below this folder only, whatever file names the programs have; empty: none is
  // shown.
  std::string source;
  std::string page;  // where the page will be, for its links to reports; empty: the current folder
};

// The answer as a page (docs/design/page-kit.md): ranked predictors with their figures, the source
// around them with its sites, what else was true in their runs, and these runs with links to their
// reports. Errors: the file's.
Result<void> write_isolation_page(const IsolationAnswer& answer, const LabelledEvidence& evidence,
                                  const PageFolders& folders, PageSourceChecks& checks,
                                  OutputFile& out);

// The parts of such a page, for pages that have others too: data of tabs of kind `predictors` and
// `table`, safe inside a script element.
std::string predictors_payload(const IsolationAnswer& answer, const LabelledEvidence& evidence,
                               const PageFolders& folders, PageSourceChecks& checks,
                               PageRoom& room);
std::string clusters_payload(const IsolationAnswer& answer, PageRoom& room);

}  // namespace telltale::cli
