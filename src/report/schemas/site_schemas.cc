// Documents about recordings with counts at sites.
#include <array>

#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::map_of;
using field::number;
using field::number_id;
using field::rows;
using field::text;
using field::truth;

constexpr std::array kEstimate = {
    number("count", Unit::count, "What was counted, times the sparsity."),
    number("margin", Unit::count,
           "Half of the 95 % interval if executions were observed independently "
           "(-fno-sample-regions); otherwise it is wider."),
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

}  // namespace

constinit const DocumentSchema kResolve{
    "resolve", 1, "Counts of feedback reports at the sites of programs.", true, kResolveMembers};

}  // namespace telltale::schemas
