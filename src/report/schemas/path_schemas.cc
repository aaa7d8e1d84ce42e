// Documents about paths in stack frames.
#include <array>

#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::address;
using field::count;
using field::list_of;
using field::number_id;
using field::object;
using field::rows;
using field::signed_id;
using field::text;
using field::truth;

constexpr std::array kPlaceFields = {
    text("file", "Source file."),
    text("function", "The function, or one that was inlined into it."),
    number_id("line", "Line."),
};
constexpr std::array kBlockFields = {
    number_id("block", "The block's number in the metadata."),
    list_of(
        "lines", ValueType::unsigned_integer,
        "Lines of its instructions, in their order. Of optimised code, `places` says what ran."),
    rows("places", kPlaceFields,
         "Lines of the source that run with the block, with file and function, if they are not "
         "`lines`.")
        .sometimes(),
};
constexpr Field kBlocks = rows("blocks", kBlockFields, "Blocks in the order in which they ran.");
constexpr std::array kPathFields = {
    number_id("number", "The path's number."),
    count("times", "How often it ran in sequence, if that was counted; otherwise 1."),
    kBlocks,
};
constexpr std::array kReadingFields = {
    count("completed", "How many of `paths` came before it."),
    truth("between_updates", "Whether it was stopped while it updated its record of paths."),
    kBlocks,
};
constexpr Field kComplete =
    truth("complete_history", "Whether `paths` begins where the function was called.");
constexpr Field kFoundBy = text(
    "found_by", "How the block that it was stopped in was found: position, line or all blocks.");
constexpr Field kUnreliable = text("unreliable", "Why the paths may be wrong.").or_null();
constexpr Field kCompleted = rows("paths", kPathFields, "Completed paths, the oldest first.");
constexpr Field kPartial =
    object("partial", kReadingFields,
           "The path that was not finished, up to the block that the function was stopped in.")
        .or_null();
constexpr Field kOthers =
    rows("other_readings", kReadingFields, "Other unfinished paths that fit as well as `partial`.");
constexpr Field kContradiction =
    text("contradiction", "What in the frame does not fit the metadata.").or_null();
constexpr std::array kRanFields = {
    number_id("block", "The block's number in the metadata; null without path tracing.").or_null(),
    list_of("lines", ValueType::unsigned_integer, "Its lines, in the order of instructions."),
    text("ran", "Whether it began in this call: yes, no or maybe."),
};
constexpr Field kRan = rows("blocks_ran", kRanFields, "All blocks of the function.");
constexpr std::array kLineRanFields = {
    text("file", "Source file."),
    number_id("line", "Line."),
    text("ran", "Whether this call executed it: yes, no or maybe."),
};
constexpr Field kLines =
    rows("lines_of_call", kLineRanFields,
         "Lines of the function, and of functions inlined into it, by all that is known.");
constexpr std::array kSameName = {kComplete, kFoundBy,       kUnreliable, kCompleted, kPartial,
                                  kOthers,   kContradiction, kRan,        kLines};
constexpr std::array kOtherFields = {
    text("function", "Name of the function."),
    text("linkage_name", "The linker's name."),
    text("file", "Source file.").or_null(),
    number_id("line", "Line of the declaration.").or_null(),
};
constexpr std::array kFrameFields = {
    text("function", "Name of the function; its address if it has none."),
    text("linkage_name", "The linker's name.").or_null(),
    text("file", "Source file.").or_null(),
    number_id("line", "Line of the instruction, or of the call.").or_null(),
    text("module", "Program or shared object.").or_null(),
    address("address", "Address of the instruction, or to return to."),
    truth("interrupted",
          "Whether it was stopped at the address, or an exception is about to go on there; if not, "
          "in a call before it."),
    truth("inlined", "Whether it was inlined into the next frame."),
    truth("may_lack_caller",
          "Whether the frame of its caller may be missing: it has no unwind table."),
    rows("same_address", kOtherFields,
         "Other functions that the frame may be of: a linker put functions with equal code at one "
         "address.")
        .sometimes(),
    text("untraced", "Why there are no paths.").or_null(),
    rows("lines_ran", kLineRanFields,
         "What the flags of coverage in the frame say, as far as they tell of single lines.")
        .sometimes(),
    truth("complete_history",
          "Whether `paths` begins where the function was called; null if it has no paths.")
        .or_null(),
    kFoundBy.sometimes(),
    kUnreliable.sometimes(),
    kCompleted,
    kPartial,
    kOthers.sometimes(),
    kContradiction.sometimes(),
    kRan.sometimes(),
    kLines.sometimes(),
    rows("same_name", kSameName, "What other functions of the same name would have run.")
        .sometimes(),
};
constexpr std::array kReasonFields = {
    text("why",
         "stopped: the thread stopped here; calls: it called a function of the stack, `name`; "
         "defines, may define: it writes `name`; passes: it passes the parameter `name`; returns: "
         "its result is used; decides: it decides whether that line runs."),
    text("name", "Variable, parameter or function.").or_null(),
    text("function", "Function of the line that needs it, if it is another one.").or_null(),
    number_id("line", "The line of the slice that needs it.").or_null(),
};
constexpr std::array kSliceLineFields = {
    count("frame", "Index of the function in the stack; null: in calls that have returned.")
        .or_null(),
    text("function", "The function, or one that was inlined into it."),
    text("file", "Source file."),
    number_id("line", "Line."),
    count("distance", "Dependences between it and the place of the stop, the least number."),
    rows("reasons", kReasonFields, "Why the line is in the slice, at most four reasons."),
};
constexpr std::array kSliceFields = {
    text("missing", "Why there is no slice.").or_null(),
    rows("lines", kSliceLineFields, "Lines that may have made the thread stop, the nearest first."),
    count("blocks", "Blocks in the slice."),
    count("static_blocks", "The same of the stack alone, with what did not run."),
    count("static_lines", "Lines of the stack alone, with what did not run."),
    list_of("assumed", ValueType::text, "What was taken for granted."),
};
constexpr std::array kCoreThreadFields = {
    signed_id("pid", "Process; 0 if the core file does not say."),
    signed_id("tid", "Thread."),
    text("cut", "Why there are no further frames.").or_null(),
    rows("frames", kFrameFields, "Functions on the stack, the innermost first."),
    object("slice", kSliceFields, "With --slice: of the first thread.").sometimes(),
};
constexpr std::array kPathsMembers = {
    text("stopped_by", "The signal that stopped the process.").or_null(),
    rows("threads", kCoreThreadFields, "Threads; the one that received the signal is the first."),
};

}  // namespace

constinit const DocumentSchema kPaths{
    "paths", 1, "The paths that functions on the stacks of a stopped process ran.", true,
    kPathsMembers};

}  // namespace telltale::schemas
