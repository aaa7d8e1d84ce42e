#include "collect/server/multipart.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/trimmed.h"
#include "bytes/as_bytes.h"
#include "bytes/decompress.h"
#include "collect/log/stored_report.h"

namespace telltale::collect {
namespace {

constexpr size_t kMaxParts = 64;
constexpr size_t kMaxBoundary = 70;  // RFC 2046
constexpr size_t kMaxPartHead = 4096;
constexpr std::string_view kPathsPart = "paths";

std::unexpected<HttpResponse> refuse(unsigned status, std::string line) {
  return std::unexpected(HttpResponse::text(status, std::move(line)));
}

// The parameter `name` of a header value: form-data; name="x". Empty: it has none.
std::string_view parameter(std::string_view value, std::string_view name) {
  for (size_t at = value.find(';'); at != std::string_view::npos;) {
    value.remove_prefix(at + 1);
    // A semicolon between quotation marks ends nothing.
    const size_t open = value.find('"');
    at = value.find(';');
    if (open < at) {
      const size_t close = value.find('"', open + 1);
      if (close == std::string_view::npos) return {};
      at = value.find(';', close);
    }
    const std::string_view item = value.substr(0, at);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos ||
        !equal_ignoring_case(trimmed(item.substr(0, equals)), name))
      continue;
    std::string_view found = trimmed(item.substr(equals + 1));
    if (found.size() >= 2 && found.front() == '"' && found.back() == '"')
      found = found.substr(1, found.size() - 2);
    return found;
  }
  return {};
}

HttpFields read_fields(std::string_view head) {
  HttpFields fields;
  while (!head.empty()) {
    const size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      fields.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 2);
  }
  return fields;
}

// A part's name and decompressed content.
struct Part {
  std::string name;
  std::string text;
};

// `allowed` gives the largest content of the part with a name.
template <typename Allowed>
std::expected<Part, HttpResponse> read_part(std::string_view part, InputLimits limits,
                                            Allowed allowed) {
  const size_t end = part.find("\r\n\r\n");
  if (end > kMaxPartHead) return refuse(400, "a part has no headers");
  const HttpFields fields = read_fields(part.substr(0, end));
  part.remove_prefix(end + 4);
  Part read{std::string(parameter(find_field(fields, "Content-Disposition"), "name")), {}};
  if (!is_part_name(read.name))
    return refuse(400, "a part has no name, or one that is not allowed");
  limits.max_decompressed_bytes = allowed(read.name);
  const std::string_view encoding = find_field(fields, "Content-Encoding");
  if (encoding.empty()) {
    read.text = part;
  } else if (equal_ignoring_case(encoding, "gzip")) {
    if (compression_of(as_bytes(part)) != "gzip")
      return refuse(400, fmt::format("part {} is not compressed with gzip", read.name));
    Result<std::string> text = decompress_whole("gzip", as_bytes(part), limits);
    if (!text)
      return refuse(text.error().cause == Error::Cause::limit ? 413 : 400,
                    fmt::format("part {}: {}", read.name, text.error().detail));
    read.text = *std::move(text);
  } else {
    return refuse(415, "a part has an unknown Content-Encoding");
  }
  if (read.text.size() > limits.max_decompressed_bytes)
    return refuse(413, fmt::format("part {} is larger than allowed", read.name));
  return read;
}

// Adds a part: as an element of the report, or as the path file.
std::optional<HttpResponse> add_part(std::string_view bytes, const InputLimits& limits,
                                     uint64_t most_paths_bytes, UploadParts& parts) {
  const auto allowed = [&](std::string_view name) {
    return name == kPathsPart
               ? most_paths_bytes
               : limits.max_decompressed_bytes -
                     std::min<uint64_t>(parts.report.size(), limits.max_decompressed_bytes);
  };
  auto part = read_part(bytes, limits, allowed);
  if (!part) return std::move(part.error());
  if (part->name == kPathsPart) {
    if (!parts.paths.empty()) return HttpResponse::text(400, "there are two parts paths");
    parts.paths = std::move(part->text);
    return std::nullopt;
  }
  parts.report += fmt::format("<report id=\"{}\">\n{}", part->name, part->text);
  if (parts.report.back() != '\n') parts.report += '\n';
  parts.report += "</report>\n";
  if (parts.report.size() > limits.max_decompressed_bytes)
    return HttpResponse::text(413, "the report is larger than allowed");
  return std::nullopt;
}

}  // namespace

bool is_multipart(std::string_view content_type) {
  return equal_ignoring_case(trimmed(content_type.substr(0, content_type.find(';'))),
                             "multipart/form-data");
}

std::string_view multipart_boundary(std::string_view content_type) {
  const std::string_view boundary = parameter(content_type, "boundary");
  return boundary.size() <= kMaxBoundary ? boundary : std::string_view();
}

std::expected<UploadParts, HttpResponse> report_of_parts(std::string_view body,
                                                         std::string_view boundary,
                                                         const InputLimits& limits,
                                                         uint64_t most_paths_bytes) {
  if (boundary.empty()) return refuse(400, "the Content-Type has no boundary");
  // The first boundary has no line end before it.
  const std::string first = fmt::format("--{}", boundary);
  const std::string next = "\r\n" + first;
  size_t at = body.starts_with(first) ? 0 : body.find(next);
  if (at == std::string_view::npos) return refuse(400, "the body has no boundary");
  at += at == 0 ? first.size() : next.size();
  UploadParts parts;
  for (size_t count = 0;; ++count) {
    std::string_view rest = body.substr(at);
    if (rest.starts_with("--")) return parts;
    if (count == kMaxParts) return refuse(400, fmt::format("more than {} parts", kMaxParts));
    rest = rest.substr(0, rest.find("\r\n"));
    if (!trimmed(rest).empty() || body.size() - at < rest.size() + 2)
      return refuse(400, "a boundary is not followed by a line end");
    at += rest.size() + 2;
    const size_t end = body.find(next, at);
    if (end == std::string_view::npos) return refuse(400, "the last part has no end");
    if (auto refused = add_part(body.substr(at, end - at), limits, most_paths_bytes, parts))
      return std::unexpected(*std::move(refused));
    at = end + next.size();
  }
}

}  // namespace telltale::collect
