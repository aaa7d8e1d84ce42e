// Documents about stores of collected reports.
#include "report/schemas/store_schemas.h"

#include <array>

#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::count;
using field::rows;
using field::text;

constexpr std::array kColumns = {
    text("application", "Name of the program."),
    text("build", "Its build-id, or what stands for it."),
    text("version", "Its version, as clients named it last."),
    text("first_day", "Day (UTC) on which its first report was received."),
    text("last_day", "The same for its last one."),
    count("runs", "Its runs."),
    count("failed", "Runs that failed."),
    count("passed", "Runs that passed."),
    count("skipped", "Runs that are labelled as neither."),
    count("without_report", "Runs whose report is empty."),
    text("sites", "Whether the store has the build's site information: yes or no."),
};
constexpr std::array kStoreMembers = {
    rows("rows", kColumns, "A row for each build."),
};

}  // namespace

std::span<const Field> store_columns() { return kColumns; }

constinit const DocumentSchema kStore{"store", 1, "The runs of a store.", false, kStoreMembers};

}  // namespace telltale::schemas
