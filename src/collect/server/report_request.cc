#include "collect/server/report_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/signal_name.h"
#include "bytes/as_bytes.h"
#include "bytes/decompress.h"
#include "collect/compress.h"
#include "collect/server/multipart.h"
#include "collect/server/sha256.h"
#include "formats/sampler/recognise.h"
#include "program/core_file.h"

namespace telltale::collect {
namespace {

constexpr size_t kMaxText = 64;
constexpr int kMaxStatus = 255;
constexpr size_t kContentHashBytes = 16;

std::string content_hash_of(std::string_view text) {
  return sha256(text).substr(0, kContentHashBytes);
}

// Reads fields; the first one that is not allowed is kept.
class FieldReader {
 public:
  explicit FieldReader(const HttpRequest& request) : request_(request) {}

  std::string name(std::string_view field, bool (*allowed)(std::string_view)) {
    const std::string_view text = request_.field(field);
    if (!allowed(text)) complain(field, text.empty() ? "is missing" : "is not allowed");
    return std::string(text);
  }
  template <typename Number>
  std::optional<Number> number(std::string_view field) {
    const std::string_view text = request_.field(field);
    if (text.empty()) return std::nullopt;
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      complain(field, "is not a number");
      return std::nullopt;
    }
    return value;
  }
  // Visible ASCII.
  std::string text(std::string_view field) {
    const std::string_view text = request_.field(field);
    const bool visible = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    if (!visible || text.size() > kMaxText) complain(field, "is not allowed");
    return std::string(text);
  }
  void complain(std::string_view field, std::string_view what) {
    if (!complaint_) complaint_ = fmt::format("{} {}", field, what);
  }
  [[nodiscard]] const std::optional<std::string>& complaint() const { return complaint_; }

 private:
  const HttpRequest& request_;
  std::optional<std::string> complaint_;
};

// A name or a number. The same crash has one name in the store, however its sender calls it: a
// number with a name becomes that. Empty for 0, none.
std::string read_signal(FieldReader& in, std::string_view field) {
  std::string text = in.text(field);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_number = !text.empty() && std::ranges::all_of(text, is_digit);
  const bool is_name = std::ranges::all_of(
      text, [&](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '+'; });
  if (text.size() > 16 || !is_name) in.complain(field, "is not a signal");
  if (!is_number) return text;
  const int number = in.number<int>(field).value_or(0);
  return number == 0 ? "" : signal_name(number).value_or(fmt::format("{}", number));
}

// The store has it as a signed number.
uint64_t read_sparsity(FieldReader& in, std::string_view field) {
  const uint64_t sparsity = in.number<uint64_t>(field).value_or(0);
  if (sparsity > std::numeric_limits<int64_t>::max()) in.complain(field, "is not a sparsity");
  return sparsity;
}

void read_label(const HttpRequest& request, FieldReader& in, StoredReport& report) {
  if (report.status && (*report.status < 0 || *report.status > kMaxStatus))
    in.complain("the exit status", "is not from 0 to 255");
  if (!report.signal.empty() && report.status.value_or(0) != 0)
    in.complain("the run", "has both a signal and an exit status");
  if (!report.signal.empty()) report.status.reset();
  report.rule = in.text("Telltale-Rule");
  const std::string_view label = request.field("Telltale-Label");
  if (label.empty()) {
    const bool failed = !report.signal.empty() || report.status.value_or(0) != 0;
    report.label = failed ? RunLabel::failed : RunLabel::passed;
  } else if (const auto parsed = parse_run_label(label)) {
    report.label = *parsed;
  } else {
    in.complain("Telltale-Label", "is not failed, passed or skipped");
  }
  if (report.rule.empty()) report.rule = report.signal.empty() ? "status" : "signal";
}

// The build of the multipart form: name and numbers of the version, in allowed characters.
std::string build_of_version(const HttpRequest& request) {
  std::string build;
  for (const std::string_view field : {"sampler-application-version", "sampler-application-release",
                                       "sampler-build-distribution"}) {
    const std::string_view text = request.field(field);
    if (text.empty()) continue;
    if (!build.empty()) build += '-';
    for (const char c : text)
      build += is_build({&c, 1}) || std::string_view("._+-").contains(c) ? c : '_';
  }
  return build;
}

// What is wrong with a decompressed body, the path file at its end included.
std::optional<HttpResponse> check_body(const StoredReport& report, std::string_view text,
                                       uint64_t most_report_bytes, uint64_t most_paths_bytes) {
  if (report.paths_bytes > most_paths_bytes) return too_large_paths(most_paths_bytes);
  if (report.paths_bytes > text.size())
    return HttpResponse::text(
        400, fmt::format("the body has {} bytes, fewer than Telltale-Paths-Bytes", text.size()));
  const std::string_view sent = text.substr(0, text.size() - report.paths_bytes);
  if (sent.size() > most_report_bytes)
    return HttpResponse::text(413, "the report is larger than allowed");
  if (!sent.empty() && !sampler::looks_like_report(as_bytes(sent)))
    return HttpResponse::text(400, "the body is not a feedback report");
  if (report.paths_bytes == 0) return std::nullopt;
  ProblemLog torn;  // what is left of a torn file is worth keeping
  const auto core = CoreFile::read(as_bytes(text.substr(sent.size())), "the path file", torn);
  if (core) return std::nullopt;
  return HttpResponse::text(400, to_string(core.error()));
}

std::expected<StoredReport, HttpResponse> finish(const FieldReader& in, StoredReport report) {
  if (in.complaint()) return std::unexpected(HttpResponse::text(400, *in.complaint()));
  return report;
}

std::expected<StoredReport, HttpResponse> read_multipart_head(const HttpRequest& request) {
  FieldReader in(request);
  StoredReport report;
  report.application = in.name("sampler-application-name", is_application);
  if (!request.field("Telltale-Build").empty()) {
    report.build = in.name("Telltale-Build", is_build);
  } else {
    report.build = build_of_version(request);
    if (!is_build(report.build)) in.complain("sampler-application-version", "is missing");
  }
  if (!request.field("Telltale-Report-Id").empty())
    report.id = in.name("Telltale-Report-Id", is_report_id);
  report.version = in.text("sampler-application-version");
  report.sparsity = read_sparsity(in, "sampler-sparsity");
  report.status = in.number<int>("sampler-exit-status");
  report.signal = read_signal(in, "sampler-exit-signal");
  read_label(request, in, report);
  return finish(in, std::move(report));
}

}  // namespace

HttpResponse too_large_paths(uint64_t most_bytes) {
  return HttpResponse::text(413, fmt::format("the path file has more than {} bytes", most_bytes));
}

std::expected<StoredReport, HttpResponse> read_report_head(const HttpRequest& request) {
  if (is_multipart(request.field("Content-Type"))) return read_multipart_head(request);
  FieldReader in(request);
  StoredReport report;
  report.application = in.name("Telltale-Application", is_application);
  report.build = in.name("Telltale-Build", is_build);
  report.id = in.name("Telltale-Report-Id", is_report_id);
  report.status = in.number<int>("Telltale-Status");
  report.signal = read_signal(in, "Telltale-Signal");
  report.seconds = in.number<double>("Telltale-Seconds");
  if (report.seconds && !(std::isfinite(*report.seconds) && *report.seconds >= 0))
    in.complain("Telltale-Seconds", "is not a time");
  report.started = in.text("Telltale-Started");
  if (!report.started.empty() && !is_utc_time(report.started))
    in.complain("Telltale-Started", "is not a time like 2026-11-22T22:44:17Z");
  report.sparsity = read_sparsity(in, "Telltale-Sparsity");
  report.seed = in.number<uint64_t>("Telltale-Seed");
  report.version = in.text("Telltale-Version");
  report.paths_bytes = in.number<uint64_t>("Telltale-Paths-Bytes").value_or(0);
  read_label(request, in, report);
  return finish(in, std::move(report));
}

std::expected<std::string, HttpResponse> decode_body(std::string body, std::string_view encoding,
                                                     const InputLimits& limits) {
  if (encoding.empty() || equal_ignoring_case(encoding, "identity")) {
    if (body.size() > limits.max_decompressed_bytes)
      return std::unexpected(HttpResponse::text(413, "the body is larger than allowed"));
    return body;
  }
  const bool gzip = equal_ignoring_case(encoding, "gzip");
  if (!gzip && !equal_ignoring_case(encoding, "zstd"))
    return std::unexpected(
        HttpResponse::text(415, "unknown Content-Encoding; gzip and zstd are known"));
  const std::string_view name = gzip ? "gzip" : "zstd";
  if (compression_of(as_bytes(body)) != name)
    return std::unexpected(
        HttpResponse::text(400, fmt::format("the body is not compressed with {}", name)));
  Result<std::string> text = decompress_whole(name, as_bytes(body), limits);
  if (text) return *std::move(text);
  return std::unexpected(HttpResponse::text(text.error().cause == Error::Cause::limit ? 413 : 400,
                                            to_string(text.error())));
}

std::expected<StoredReport, HttpResponse> read_report_body(StoredReport report,
                                                           HttpRequest& request,
                                                           const InputLimits& limits,
                                                           uint64_t most_paths_bytes) {
  if (report.paths_bytes > most_paths_bytes)
    return std::unexpected(too_large_paths(most_paths_bytes));
  InputLimits whole_limits = limits;
  whole_limits.max_decompressed_bytes += report.paths_bytes;
  const std::string_view type = request.field("Content-Type");
  const std::string_view encoding = request.field("Content-Encoding");
  std::string text;
  if (is_multipart(type)) {
    whole_limits.max_decompressed_bytes += most_paths_bytes;
    auto whole = decode_body(std::move(request.body), encoding, whole_limits);
    if (!whole) return std::unexpected(whole.error());
    auto parts = report_of_parts(*whole, multipart_boundary(type), limits, most_paths_bytes);
    if (!parts) return std::unexpected(parts.error());
    report.paths_bytes = parts->paths.size();
    text = std::move(parts->report) + parts->paths;
    report.content_hash = content_hash_of(text);
    // Path files are mostly zeros, which would fill the log.
    std::string packed = report.paths_bytes != 0 ? gzip(as_bytes(text)) : std::string();
    report.encoding = packed.empty() ? "" : "gzip";
    report.body = packed.empty() ? text : std::move(packed);
  } else if (encoding.empty() || equal_ignoring_case(encoding, "identity")) {
    auto whole = decode_body(std::move(request.body), {}, whole_limits);
    if (!whole) return std::unexpected(whole.error());
    report.body = *std::move(whole);
    report.content_hash = content_hash_of(report.body);
  } else {
    auto whole = decode_body(request.body, encoding, whole_limits);
    if (!whole) return std::unexpected(whole.error());
    text = *std::move(whole);
    report.content_hash = content_hash_of(text);
    report.encoding = equal_ignoring_case(encoding, "gzip") ? "gzip" : "zstd";
    report.body = std::move(request.body);
  }
  const std::string_view checked = report.encoding.empty() ? report.body : text;
  if (auto refused = check_body(report, checked, limits.max_decompressed_bytes, most_paths_bytes))
    return std::unexpected(*std::move(refused));
  return report;
}

}  // namespace telltale::collect
