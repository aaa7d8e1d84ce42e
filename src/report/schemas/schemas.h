#pragma once

#include <span>

#include "output/table/field.h"

// What --json prints, document by document; what `report` prints is in report/reports.h. A document
// is declared beside the tables that it consists of. docs/json.md says how schemas become files;
// tests compare what verbs print with them.
namespace telltale::schemas {

extern const DocumentSchema kInfo;
extern const DocumentSchema kTop;
extern const DocumentSchema kStacks;
extern const DocumentSchema kGraph;
extern const DocumentSchema kDiff;
extern const DocumentSchema kReplay;
extern const DocumentSchema kSlow;
extern const DocumentSchema kHistogram;
extern const DocumentSchema kReportObjects;  // of --track and --find
extern const DocumentSchema kTopSites;
extern const DocumentSchema kResolve;
extern const DocumentSchema kSites;
extern const DocumentSchema kCheck;
extern const DocumentSchema kConvert;
extern const DocumentSchema kHeapshot;
extern const DocumentSchema kControl;
extern const DocumentSchema kIsolate;
extern const DocumentSchema kStore;
extern const DocumentSchema kStudy;
extern const DocumentSchema kPaths;
extern const DocumentSchema kCoverage;

// All of them.
std::span<const DocumentSchema* const> all();

}  // namespace telltale::schemas
