// What the recording is: its header, and what the file is made of.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utc_time.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::address;
using field::bytes;
using field::count;
using field::ms;
using field::ns;
using field::number_id;
using field::rows;
using field::text;

constexpr std::array kHeaderMembers = {
    count("processes", "Processes, if there are several: all else is of the first.")
        .titled("Processes; this is the first")
        .sometimes(),
    text("profiler_version", "Version of the profiler.").titled("Profiler version"),
    number_id("data_version", "Version of the format.").titled("Data version"),
    bytes("pointer_bytes", "Size of a pointer.").titled("Bytes of a pointer"),
    text("arguments", "Arguments of the profiler.").titled("Arguments").sometimes(),
    text("architecture", "Architecture.").titled("Architecture").sometimes(),
    text("operating_system", "Operating system.").titled("Operating system").sometimes(),
    ns("timer_overhead_ns", "Mean time to read the clock.").titled("Mean timer overhead"),
    ms("startup_ms", "Start of the program, since 1970.").titled("Program startup, ms since 1970"),
    text("startup", "The same as a date in UTC.").titled("Program startup").sometimes(),
    number_id("pid", "Process.").titled("Program id").sometimes(),
    number_id("port", "Port that takes commands.").titled("Server listening on").sometimes(),
};

void make_header(const ReportInput& input, Section& section) {
  const RuntimeHeader header = input.runtime->source().header();
  if (const size_t processes = input.runtime->processes(); processes > 1)
    section.add("processes", uint64_t{processes});
  section.add("profiler_version", header.profiler_version);
  section.add("data_version", header.data_version);
  section.add("pointer_bytes", header.pointer_bytes);
  if (const auto& environment = header.environment) {
    section.add("arguments", environment->arguments);
    section.add("architecture", environment->architecture);
    section.add("operating_system", environment->operating_system);
  }
  section.add("timer_overhead_ns", header.timer_overhead_ns);
  section.add("startup_ms", header.startup_ms);
  if (header.startup_ms != 0) {
    section.add("startup", utc_iso(static_cast<int64_t>(header.startup_ms / 1000)));
  }
  if (header.pid != 0) section.add("pid", header.pid);
  if (header.port != 0) section.add("port", uint64_t{header.port});
}

constexpr std::array kEvents = {
    count("count", "Events."),
    bytes("bytes", "Their bytes."),
    bytes("least", "Bytes of the shortest."),
    bytes("most", "Bytes of the longest."),
    address("first_byte", "First byte of the event, in hexadecimal digits.").titled("BYTE"),
    text("event", "Kind of event."),
    text("variant", "Which variant of it."),
};
constexpr std::array kStatsMembers = {
    count("buffers", "Buffers of the file.").titled("Buffers"),
    bytes("header_bytes", "Bytes of their headers.").titled("Bytes of their headers"),
    rows("events", kEvents, "Events by kind."),
};

void make_stats(const ReportInput& input, Section& section) {
  const EventSizes& sizes = *input.runtime->sizes;
  section.add("buffers", sizes.buffers);
  section.add("header_bytes", sizes.header_bytes);
  Table events(kEvents);
  for (const EventSizes::Row& row : sizes.rows) {
    if (events.rows() == input.runtime->all_rows()) break;
    events.add_row({row.count, row.bytes, row.least, row.most,
                    fmt::format("0x{:02x}", row.first_byte), std::string(row.event), row.variant});
  }
  section.add("events", std::move(events));
}

}  // namespace

constinit const Report kHeader{.name = "header",
                               .title = "Recording",
                               .sentence = "What the file's header says.",
                               .needs = Capability::runtime_events,
                               .members = kHeaderMembers,
                               .make = make_header,
                               .by_default = true,
                               .reads = RuntimeReadings::facts_read};

constinit const Report kStats{
    .name = "stats",
    .title = "Contents of the recording",
    .sentence = "Contents of the recording.",
    .needs = Capability::runtime_events,
    .members = kStatsMembers,
    .make = make_stats,
    .by_default = false,
    .reads = RuntimeReadings::facts_read | RuntimeReadings::event_sizes_read};

}  // namespace telltale::reports
