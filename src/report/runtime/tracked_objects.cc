#include "report/runtime/tracked_objects.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/heap/object_tracking.h"
#include "report/runtime/process_columns.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using namespace reports;
using field::address;
using field::bytes;
using field::count;
using field::number_id;
using field::object;
using field::rows;
using field::text;

constexpr std::array kTrackedEvents = {
    kPidOrNone,
    kProcessNumber,
    number_id("object", "Number of the object, from 0."),
    text("event", "created, moved, came, referenced, handle or gone."),
    kAt,
    address("address", "Where the object is."),
    address("other", "Where it moved to or came from, or what refers to it.")
        .titled("TO, FROM, BY")
        .or_null(),
    number_id("handle", "The handle.").or_null(),
    bytes("bytes", "Its size.").or_null(),
    kType.or_null(),
    kStack.sometimes(),
};
constexpr std::array kTrackedMembers = {
    count("objects", "Objects that were found.").titled("Objects"),
    rows("events", kTrackedEvents, "What happened to them, in file order."),
};
constexpr std::array kDocumentMembers = {
    object("objects", kTrackedMembers, "Objects of --track and --find.")};

std::optional<uint64_t> parse_address(std::string_view text_of_it) {
  const bool is_hex = text_of_it.starts_with("0x");
  if (is_hex) text_of_it.remove_prefix(2);
  const char* const end_of_text = text_of_it.data() + text_of_it.size();
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text_of_it.data(), end_of_text, number, is_hex ? 16 : 10);
  if (error != std::errc() || end != end_of_text) return std::nullopt;
  return number;
}

Result<TrackedObjects> parse_wishes(const RuntimeReportOptions& options) {
  TrackedObjects wanted;
  wanted.by_address = options.like_mprof;
  const std::string_view track = options.track;
  for (size_t at = 0; at < track.size();) {
    const size_t comma = std::min(track.find(',', at), track.size());
    const auto parsed = parse_address(track.substr(at, comma - at));
    if (!parsed) return usage_error("--track needs addresses of objects, but got " + options.track);
    wanted.addresses.push_back(*parsed);
    at = comma + 1;
  }
  if (options.find.starts_with("S:")) {
    const auto size = parse_address(std::string_view(options.find).substr(2));
    if (!size || *size == 0) return usage_error("--find S: needs a size, but got " + options.find);
    wanted.min_bytes = *size;
  } else if (options.find.starts_with("T:") && options.find.size() > 2) {
    wanted.type_part = options.find.substr(2);
  } else if (!options.find.empty()) {
    return usage_error("--find needs S:SIZE or T:PART_OF_A_NAME, but got " + options.find);
  }
  return wanted;
}

}  // namespace

Result<Section> track_objects(const RuntimeEvents& source, const RuntimeReportOptions& options) {
  Result<TrackedObjects> wanted = parse_wishes(options);
  if (!wanted) return std::unexpected(wanted.error());
  std::vector<uint64_t> ids;  // of the addresses in every file
  for (const uint64_t at : wanted->addresses)
    std::ranges::copy(source.ids_of(at), std::back_inserter(ids));
  wanted->addresses = std::move(ids);
  const auto type_name = [&](TypeId type) {
    return std::string(source.types().describe(type).name);
  };
  ObjectTracking tracking(*std::move(wanted), type_name);
  source.track_objects(tracking);

  static constexpr std::array<const char*, 6> kWords = {"created",    "moved",  "came",
                                                        "referenced", "handle", "gone"};
  const Ticks zero = options.like_mprof ? source.first_buffer_time() : source.calls().first_time();
  const ProcessColumns processes(source);
  Table table(processes.in(options.traces ? TableSchema(kTrackedEvents)
                                          : TableSchema(kTrackedEvents).without({"stack"})));
  using What = ObjectTracking::What;
  for (const ObjectTracking::Line& line : tracking.lines()) {
    if (options.rows && table.rows() >= *options.rows) break;
    const bool has_type = line.what == What::created || line.what == What::referenced;
    const Table::Cell none;
    std::string stack;
    for (const FunctionId function : line.stack)
      stack += (stack.empty() ? "" : " > ") + source.calls().functions().describe(function).name;
    auto [pid, number] = processes.cells_of(line.address);
    table.add_row({std::move(pid), std::move(number), line.object,
                   std::string(kWords[static_cast<size_t>(line.what)]),
                   static_cast<int64_t>(line.time - zero), hex(source.address_of(line.address)),
                   line.other == 0 ? none : Table::Cell(hex(source.address_of(line.other))),
                   line.what == What::handle ? Table::Cell(line.handle) : none,
                   line.what == What::created ? Table::Cell(line.bytes) : none,
                   has_type ? Table::Cell(type_name(line.type)) : none, std::move(stack)});
  }
  Section section("objects", "Objects", kTrackedMembers);
  section.add("objects", tracking.objects());
  section.add("events", std::move(table));
  return section;
}

constinit const DocumentSchema schemas::kReportObjects{
    "report-objects", 1, "What happened to single objects.", true, kDocumentMembers};

}  // namespace telltale
