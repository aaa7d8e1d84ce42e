#include "collect/log/stored_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "bytes/as_bytes.h"
#include "bytes/byte_writer.h"

namespace telltale::collect {
namespace {

constexpr uint8_t kPayloadVersion = 1;
constexpr uint8_t kPayloadVersionWithPaths = 2;
constexpr int32_t kNoStatus = -1;
constexpr size_t kHashBytes = 16;

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool consists_of(std::string_view text, std::string_view others, size_t least, size_t most) {
  return text.size() >= least && text.size() <= most && std::ranges::all_of(text, [&](char c) {
           return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
         });
}

void put(ByteWriter& out, std::string_view text) {
  out.write(static_cast<uint32_t>(text.size())).write(as_bytes(text));
}

std::string take(Cursor& in, std::string_view field) {
  const Bytes text = in.take(in.read<uint32_t>(field), field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

bool is_sound(const StoredReport& report) {
  return is_application(report.application) && is_build(report.build) && is_report_id(report.id) &&
         (report.encoding.empty() || report.encoding == "gzip" || report.encoding == "zstd");
}

}  // namespace

bool is_application(std::string_view text) {
  return consists_of(text, "._+-", 1, 64) && is_letter_or_digit(text.front());
}
bool is_build(std::string_view text) {
  return consists_of(text, "._+-", 1, 128) && is_letter_or_digit(text.front());
}
bool is_report_id(std::string_view text) { return consists_of(text, "_-", 8, 64); }
bool is_part_name(std::string_view text) { return consists_of(text, "_-", 1, 64); }

bool is_utc_time(std::string_view text) {
  constexpr std::string_view kPattern = "0000-00-00T00:00:00Z";
  if (text.size() != kPattern.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kPattern[i] == '0' ? !digit : text[i] != kPattern[i]) return false;
  }
  return true;
}

std::string to_payload(const StoredReport& report) {
  ByteWriter out;
  const bool has_paths = report.paths_bytes != 0;
  out.write(has_paths ? kPayloadVersionWithPaths : kPayloadVersion).write(report.received_us);
  out.write(static_cast<uint8_t>(report.label));
  out.write(report.status ? static_cast<int32_t>(*report.status) : kNoStatus);
  const double seconds = report.seconds.value_or(std::numeric_limits<double>::quiet_NaN());
  out.write(std::bit_cast<uint64_t>(seconds)).write(report.sparsity);
  out.write(static_cast<uint8_t>(report.seed ? 1 : 0)).write(report.seed.value_or(0));
  if (has_paths) out.write(report.paths_bytes);
  for (const std::string* text :
       {&report.application, &report.build, &report.id, &report.rule, &report.signal,
        &report.started, &report.version, &report.content_hash, &report.encoding, &report.body})
    put(out, *text);
  return out.take();
}

Result<PayloadView> read_payload(Bytes payload) {
  Cursor in(payload);
  in.begin_record("Report");
  PayloadView view;
  StoredReport& report = view.head;
  const auto version = in.read<uint8_t>("version");
  if (!in.error() && version != kPayloadVersion && version != kPayloadVersionWithPaths)
    in.fail(Error::Cause::unsupported_version, fmt::format("version {}", version));
  report.received_us = in.read<uint64_t>("received");
  const auto label = in.read<uint8_t>("label");
  if (label > static_cast<uint8_t>(RunLabel::skipped))
    in.fail(Error::Cause::bad_field, fmt::format("label {}", label));
  else
    report.label = static_cast<RunLabel>(label);
  const auto status = in.read<int32_t>("status");
  if (status != kNoStatus) report.status = status;
  const auto seconds = std::bit_cast<double>(in.read<uint64_t>("seconds"));
  if (!std::isnan(seconds)) report.seconds = seconds;
  report.sparsity = in.read<uint64_t>("sparsity");
  const bool has_seed = in.read<uint8_t>("has seed") != 0;
  const auto seed = in.read<uint64_t>("seed");
  if (has_seed) report.seed = seed;
  if (version == kPayloadVersionWithPaths) report.paths_bytes = in.read<uint64_t>("paths bytes");
  report.application = take(in, "application");
  report.build = take(in, "build");
  report.id = take(in, "id");
  report.rule = take(in, "rule");
  report.signal = take(in, "signal");
  report.started = take(in, "started");
  report.version = take(in, "version");
  report.content_hash = take(in, "content hash");
  report.encoding = take(in, "encoding");
  view.body = in.take(in.read<uint32_t>("body"), "body");
  if (!in.error() && (!is_sound(report) || report.content_hash.size() != kHashBytes))
    in.fail(Error::Cause::bad_field, "a name is not one that reports have");
  if (!in.error() && !in.at_end()) in.fail(Error::Cause::bad_field, "bytes follow the report");
  if (in.error()) return std::unexpected(*in.error());
  return view;
}

std::string day_of(uint64_t time_us) {
  const std::chrono::sys_days day(std::chrono::floor<std::chrono::days>(
      std::chrono::microseconds(static_cast<int64_t>(time_us))));
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace telltale::collect
