// What every recording has.
#include <array>

#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::bytes;
using field::count;
using field::list_of;
using field::map_of;
using field::ns;
using field::rows;
using field::text;

using reports::kPid;
using reports::kTid;

// info
constexpr std::array kThreadFields = {
    kPid, kTid, text("name", "The thread's name, if the recording has it.").sometimes(),
    text("process_name", "The process's program, if the recording has it.").sometimes(),
    count("process_number", "Of several processes with this pid: which, from 1.").sometimes()};
constexpr std::array kInfoMembers = {
    text("format", "Format of the recording."),
    text("version", "Version of the format, as the file says it."),
    list_of("files", ValueType::text, "The files, as they were named."),
    bytes("bytes", "Size of all files, decompressed."),
    count("records", "Records of all kinds."),
    map_of("records_by_kind", ValueType::unsigned_integer, Unit::count,
           "Records by kind; only kinds that occur."),
    map_of("properties", ValueType::text, Unit::none, "What else the header says, in words."),
    rows("threads", kThreadFields, "Threads that have records."),
    field::number("clock_hz", Unit::hertz, "Ticks per second of the recording's clock.")
        .sometimes(),
    ns("span_ns", "Time from the first event to the last.").sometimes(),
    count("problem_count", "All problems; the list has the first thousand."),
    bytes("lost_bytes", "Bytes that could not be read."),
};

}  // namespace

constinit const DocumentSchema kInfo{"info", 1, "What a recording is.", true, kInfoMembers};
}  // namespace telltale::schemas
