// Documents about recordings with counts at sites.
#include <array>

#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::count;
using field::fraction;
using field::map_of;
using field::number;
using field::number_id;
using field::object;
using field::rows;
using field::text;
using field::truth;

constexpr std::array kEstimate = {
    number("count", Unit::count, "What was counted, times the sparsity."),
    number("margin", Unit::count, "Half of the 95 % interval."),
};
constexpr std::array kResolveColumns = {
    text("program", "The program that the unit belongs to; empty without static information."),
    text("unit", "Signature of the compilation unit."),
    text("scheme", "Instrumentation scheme."),
    number_id("site", "Number of the site in its unit and scheme."),
    text("file", "Source file; empty without static information."),
    number_id("line", "Line in that file; 0 without static information."),
    text("function", "Function around the site."),
    text("cfg", "Node of the control flow graph."),
    map_of("columns", ValueType::text, Unit::none, "What the scheme tells of the site."),
    map_of("values", ValueType::scalar, Unit::none,
           "Counts by name; minimum and maximum, as texts, of bounds."),
    truth("reported", "Whether a report has the site's section."),
    truth("observed", "Whether anything was counted."),
    number_id("first", "When it was seen first; 0 if not recorded."),
    number_id("last", "When it was seen last; 0 if not recorded."),
    number_id("sampled_one_in", "With --sparsity: one in so many was counted.").sometimes(),
    map_of("estimates", kEstimate, "With --sparsity: what the counts are estimates of.")
        .sometimes(),
};
constexpr std::array kResolveMembers = {rows("rows", kResolveColumns, "A row for each site.")};

constexpr Field kScheme = text("scheme", "Instrumentation scheme.");
constexpr Field kValues = text("values", "Its counts, in words.");
constexpr Field kSite = text("site", "What the scheme tells of the site.");
constexpr Field kFunction = text("function", "Function around the site.");
constexpr Field kPlace =
    text("place", "FILE:LINE; the unit and the site's number without static information.");
constexpr Field kCount = count("count", "Sum of the site's counts.");

constexpr std::array kTopColumns = {
    count("count", "Sum of the site's counts; null for bounds.").or_null(),
    number("estimate", Unit::count, "With --sparsity: what the count is an estimate of.")
        .or_null()
        .sometimes(),
    number("margin", Unit::count, "With --sparsity: half of the 95 % interval.")
        .or_null()
        .sometimes(),
    kScheme,
    kValues,
    kSite,
    kFunction,
    kPlace,
};
constexpr std::array kTopMembers = {rows("rows", kTopColumns, "Sites, the largest counts first.")};

constexpr std::array kReportsFacts = {
    count("files", "Feedback reports."),
    count("sites", "Sites."),
    count("observed", "Sites with a count."),
    count("observations", "Sum of all counts."),
    number_id("sampled_one_in", "With --sparsity: one in so many was counted.").sometimes(),
    number("estimate", Unit::count, "With --sparsity: what the counts are an estimate of.")
        .sometimes(),
    number("margin", Unit::count, "With --sparsity: half of the 95 % interval.").sometimes(),
    count("unresolved", "Sections without site information."),
    count("unreported_units", "Units of the programs without a report."),
    count("uneven", "Sections that do not fit the site information."),
    count("damaged_places", "Damaged places."),
    text("note", "Why nothing was observed, as far as the reports tell.").sometimes(),
};
constexpr std::array kSchemeColumns = {
    kScheme,
    count("sites", "Its sites."),
    count("observed", "Sites with a count."),
    fraction("observed_share", "Sites with a count of all."),
    count("observations", "Sum of the counts."),
};
constexpr std::array kSiteColumns = {kCount, kScheme, kValues, kSite, kFunction, kPlace};
constexpr std::array kLastColumns = {
    number_id("last", "When it was seen last."), kScheme, kValues, kSite, kFunction, kPlace};
constexpr std::array kFunctionColumns = {
    count("observations", "Sum of the counts of its sites."),
    count("observed", "Its sites with a count."),
    count("sites", "Its sites."),
    kFunction,
    text("file", "Source file."),
};
constexpr std::array kBacktraceColumns = {
    text("report", "The feedback report."),
    field::address("address", "Return address in the module."),
    text("module", "Program or shared library."),
    text("function", "Function; empty if unknown."),
    text("place", "FILE:LINE; empty if unknown."),
};
constexpr std::array kSchemesSection = {rows("schemes", kSchemeColumns, "A row for each scheme.")};
constexpr std::array kSitesSection = {rows("sites", kSiteColumns, "The largest counts first.")};
constexpr std::array kFunctionsSection = {
    rows("functions", kFunctionColumns, "The largest counts first.")};
constexpr std::array kOneWaySection = {rows("one_way", kSiteColumns, "The largest counts first.")};
constexpr std::array kLastSection = {rows("last", kLastColumns, "The last first.")};
constexpr std::array kBacktraceSection = {
    rows("backtrace", kBacktraceColumns, "Frames, the innermost first.")};
constexpr std::array kReportMembers = {
    object("reports", kReportsFacts, "All reports together."),
    object("schemes", kSchemesSection, "By scheme."),
    object("sites", kSitesSection, "Busiest sites."),
    object("functions", kFunctionsSection, "Busiest functions."),
    object("one_way", kOneWaySection, "Branches that always went one way."),
    object("last", kLastSection, "Sites seen last."),
    object("backtrace", kBacktraceSection, "Backtraces of crashes."),
};

}  // namespace

constinit const DocumentSchema kResolve{
    "resolve", 1, "Counts of feedback reports at the sites of programs.", true, kResolveMembers};
constinit const DocumentSchema kTopSites{"top-sites", 1, "The sites with the largest counts.", true,
                                         kTopMembers};
constinit const DocumentSchema kReportSites{"report-sites", 1, "A summary of feedback reports.",
                                            true, kReportMembers};

}  // namespace telltale::schemas
