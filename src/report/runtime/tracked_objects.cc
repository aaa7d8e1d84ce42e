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

#include "analysis/object_tracking.h"
#include "report/runtime/mono_sections.h"

namespace telltale {
namespace {

std::optional<uint64_t> parse_address(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  uint64_t address = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), address, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return address;
}

Result<TrackedObjects> parse_wishes(const RuntimeReportOptions& options) {
  TrackedObjects wanted;
  wanted.by_address = options.like_mprof;
  const std::string_view track = options.track;
  for (size_t at = 0; at < track.size();) {
    const size_t comma = std::min(track.find(',', at), track.size());
    const auto address = parse_address(track.substr(at, comma - at));
    if (!address) return usage_error("--track wants addresses of objects, not " + options.track);
    wanted.addresses.push_back(*address);
    at = comma + 1;
  }
  if (options.find.starts_with("S:")) {
    const auto bytes = parse_address(std::string_view(options.find).substr(2));
    if (!bytes || *bytes == 0) return usage_error("--find S: wants a size, not " + options.find);
    wanted.min_bytes = *bytes;
  } else if (options.find.starts_with("T:") && options.find.size() > 2) {
    wanted.type_part = options.find.substr(2);
  } else if (!options.find.empty()) {
    return usage_error("--find wants S:SIZE or T:PART_OF_A_NAME, not " + options.find);
  }
  return wanted;
}

}  // namespace

Result<Section> track_objects(const RuntimeEvents& source, const RuntimeReportOptions& options) {
  Result<TrackedObjects> wanted = parse_wishes(options);
  if (!wanted) return std::unexpected(wanted.error());
  std::vector<uint64_t> ids;  // of the addresses in every file
  for (const uint64_t address : wanted->addresses)
    std::ranges::copy(source.ids_of(address), std::back_inserter(ids));
  wanted->addresses = std::move(ids);
  const auto type_name = [&](TypeId type) {
    return std::string(source.types().describe(type).name);
  };
  ObjectTracking tracking(*std::move(wanted), type_name);
  source.track_objects(tracking);

  static constexpr std::array<const char*, 6> kWords = {"created",    "moved",  "came",
                                                        "referenced", "handle", "gone"};
  std::vector<Table::Column> columns = {{"object", "OBJECT"},
                                        {"event", "EVENT", Show::text},
                                        {"at_ns", "AT", Show::duration},
                                        {"address", "ADDRESS", Show::text},
                                        {"other", "TO, FROM, BY", Show::text},
                                        {"handle", "HANDLE"},
                                        {"bytes", "BYTES"},
                                        {"type", "TYPE", Show::text}};
  if (options.traces) columns.push_back({"stack", "STACK", Show::text});
  Table table(std::move(columns));
  using What = ObjectTracking::What;
  for (const ObjectTracking::Line& line : tracking.lines()) {
    if (options.rows && table.rows() >= *options.rows) break;
    const bool has_type = line.what == What::created || line.what == What::referenced;
    const Table::Cell none;
    std::vector<Table::Cell> cells = {
        line.object,
        std::string(kWords[static_cast<size_t>(line.what)]),
        static_cast<int64_t>(line.time - zero_time(source, options)),
        hex(source.address_of(line.address)),
        line.other == 0 ? none : Table::Cell(hex(source.address_of(line.other))),
        line.what == What::handle ? Table::Cell(line.handle) : none,
        line.what == What::created ? Table::Cell(line.bytes) : none,
        has_type ? Table::Cell(type_name(line.type)) : none};
    if (options.traces) {
      std::string stack;
      for (const FunctionId function : line.stack)
        stack += (stack.empty() ? "" : " > ") + source.calls().functions().describe(function).name;
      cells.emplace_back(std::move(stack));
    }
    table.add_row(cells);
  }
  Section section{"objects", "Objects", {}, {}};
  section.add("objects", "Objects", tracking.objects());
  section.add("events", "", std::move(table));
  return section;
}

}  // namespace telltale
