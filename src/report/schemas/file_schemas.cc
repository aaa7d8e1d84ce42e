// Documents about files: contents, validity, conversion.
#include <array>

#include "output/table/json_document.h"
#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::address;
using field::bytes;
using field::count;
using field::list_of;
using field::map_of;
using field::number_id;
using field::object;
using field::rows;
using field::text;
using field::truth;

// check
constexpr std::array kFirstViolation = {
    number_id("offset", "Where it is in the file."),
    text("kind", "Kind of violation."),
    text("record", "Kind of record."),
    text("message", "What is wrong."),
};
constexpr std::array kCheckColumns = {
    text("file", "The file, as it was named."),
    truth("valid", "Whether it follows its format's grammar, undamaged."),
    text("format", "Its format."),
    Field{"version", ValueType::scalar, Unit::none,
          "Version of the format; a number in every format so far."},
    count("records", "Records that were checked."),
    count("violations", "Violations of all kinds."),
    count("damaged_places", "Damaged places that are no violation of the grammar."),
    map_of("violations_by_kind", ValueType::unsigned_integer, Unit::count,
           "Violations by kind; only kinds that occur."),
    object("first", kFirstViolation, "The violation with the smallest offset.").or_null(),
};
constexpr std::array kCheckMembers = {rows("rows", kCheckColumns, "A row for each file.")};

// convert
constexpr std::array kLosses = {
    count("count", "How many."),
    text("what", "What the target cannot carry."),
};
constexpr std::array kConvertMembers = {
    text("output", "The file that was written."),
    text("format", "Its format, as --to names it."),
    rows("losses", kLosses, "What could not be carried over."),
    count("damaged_places", "Damaged places of the input."),
    bytes("lost_bytes", "Bytes of the input that could not be read."),
};

constexpr std::array kHeapshotMembers = {
    count("heap_shots", "Heap shots that the recording has now.")};

// control
constexpr std::array kControlMembers = {
    number_id("pid", "The process."),
    text(
        "state",
        "recording, stopped, or waiting: it will record from the first call that a recorder sees."),
    text("mode", "continuous, ring or snapshot."),
    text("file", "The recording; null before the first event, and in mode snapshot.").or_null(),
    text("snapshot", "The file that this request wrote; null if it wrote none.").or_null(),
    number_id("part", "Of the process's recordings, from 1; 0 before the first event."),
    bytes("recorded_bytes", "Bytes of the recording so far."),
    count("lost", "Events of this recording that were lost."),
    count("overwritten", "Events that later ones overwrote in the ring."),
    text("functions", "Patterns of the functions that are recorded; empty: all."),
    Field{"min_ns", ValueType::unsigned_integer, Unit::ns, "Shorter calls are left out."},
    count("depth", "Calls nested deeper are left out; 0: none."),
};

// sites
constexpr std::array kSleds = {
    address("address", "Where the sled is."),
    text("kind", "entry, exit, tail call ..."),
    truth("always_instrument", "Whether it is patched whatever the threshold."),
    number_id("version", "Version of the sled's entry in the map."),
};
constexpr std::array kSiteFunctions = {
    number_id("id", "The function's id."),
    address("address", "Where the function begins."),
    number_id("section", "Section of an object file.").sometimes(),
    text("function", "Name of the function."),
    text("linkage_name", "Its name in the symbol table."),
    text("file", "Source file; empty if unknown."),
    number_id("line", "Line in that file; 0 if unknown."),
    count("sled_count", "Its sleds."),
    rows("sleds", kSleds, "With --sleds, its sleds.").sometimes(),
};
constexpr std::array kSamplerSites = {
    text("unit", "Signature of the compilation unit."),
    text("scheme", "Instrumentation scheme."),
    number_id("site", "Number of the site in its unit and scheme."),
    text("file", "Source file."),
    number_id("line", "Line in that file."),
    text("function", "Function around the site."),
    text("cfg", "Node of the control flow graph."),
    map_of("columns", ValueType::text, Unit::none, "What the scheme tells of the site."),
};
constexpr std::array kGraphFields = {
    text("function", "Name of the function; of a copy: that in the source."),
    text("linkage_name", "Its name in the symbol table."),
    text("copy_of", "Linkage name of the function that it is a variant or a copy of; else empty."),
    count("blocks", "Blocks of its graph."),
    count("edges", "Edges between them."),
};
constexpr std::array kCoverageFields = {
    text("function", "Name of the function; of a copy: that in the source."),
    text("linkage_name", "Its name in the symbol table."),
    text("copy_of", "Linkage name of the function that it is a variant or a copy of; else empty."),
    text("mechanism", "FC, CC or BBC."),
    count("probes", "Flags that tell what ran."),
    count("blocks", "Blocks of the function."),
    count("calls", "Its calls, of CC."),
    text("file", "Source file; empty if unknown."),
    number_id("line", "Line of its declaration; 0 if unknown."),
};
constexpr std::array kProblems = {
    number_id("offset", "Where it is in the file."),
    text("record", "Kind of record."),
    text("message", "What is wrong."),
    bytes("lost_bytes", "Bytes that could not be read because of it."),
};
constexpr std::array kProgramFields = {
    text("file", "The program, as it was named."),
    text("format", "elf, yaml, sites, or the format of a text about programs."),
    text("machine", "Architecture of an ELF file."),
    text("build_id", "Build id, in hexadecimal digits; empty if it has none."),
    text("debug_file", "Separate debug file that names came from; empty if none."),
    list_of("map_versions", ValueType::unsigned_integer,
            "Versions of the instrumentation map's entries."),
    count("function_count", "Functions of the map."),
    count("sled_count", "Sleds of the map."),
    map_of("sleds_by_kind", ValueType::unsigned_integer, Unit::count, "Sleds by kind."),
    rows("problems", kProblems, "What is wrong with the program's data."),
    rows("functions", kSiteFunctions, "Functions of the map."),
    count("site_count", "Sites of Sampler."),
    map_of("sites_by_scheme", ValueType::unsigned_integer, Unit::count, "Sites by scheme."),
    rows("sites", kSamplerSites, "Sites of Sampler."),
    rows("graphs", kGraphFields,
         "Control flow graphs of functions with path tracing, or of a .cfg file."),
    rows("coverage", kCoverageFields, "Functions with coverage, each with its mechanisms."),
};
constexpr std::array kSitesMembers = {rows("programs", kProgramFields, "The programs.")};

}  // namespace

constinit const DocumentSchema kCheck{"check", 1, "Whether files are valid.", false, kCheckMembers};
constinit const DocumentSchema kConvert{"convert", 1, "What was written, and what was lost.", false,
                                        kConvertMembers};
constinit const DocumentSchema kHeapshot{"heapshot", 1, "A heap shot was taken.", false,
                                         kHeapshotMembers};
constinit const DocumentSchema kControl{"control", 1, "What a recorder in a running program does.",
                                        false, kControlMembers};
constinit const DocumentSchema kSites{"sites", 1, "What programs were instrumented with.", false,
                                      kSitesMembers};

}  // namespace telltale::schemas
