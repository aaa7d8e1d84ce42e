#pragma once

#include <cstdint>
#include <expected>

#include "bytes/input_file.h"
#include "collect/log/stored_report.h"
#include "collect/server/http_message.h"

namespace telltale::collect {

// What the headers of an upload say of the report: everything but body, times and hashes. In the
// multipart form without an id, the id is empty. Refused: headers that docs/formats/collect.md does
// not allow.
std::expected<StoredReport, HttpResponse> read_report_head(const HttpRequest& request);

// Fills in body, encoding and content hash from the request's body, which it takes. `limits` are
// those of the decompressed report; its path file may have `most_paths_bytes`. Refused: damaged or
// too large bodies, other texts than reports, and other path files than core files.
std::expected<StoredReport, HttpResponse> read_report_body(StoredReport report,
                                                           HttpRequest& request,
                                                           const InputLimits& limits,
                                                           uint64_t most_paths_bytes);
// The refusal of a path file that is too large.
HttpResponse too_large_paths(uint64_t most_bytes);

// The text of a body with a Content-Encoding.
std::expected<std::string, HttpResponse> decode_body(std::string body, std::string_view encoding,
                                                     const InputLimits& limits);

}  // namespace telltale::collect
