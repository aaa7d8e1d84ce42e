#pragma once

#include <expected>

#include "bytes/input_file.h"
#include "collect/log/stored_report.h"
#include "collect/server/http_message.h"

namespace telltale::collect {

// What the headers of an upload say of the report: everything but body, times and hashes. In the
// multipart form without an id, the id is empty. Refused: headers that docs/formats/collect.md does
// not allow.
std::expected<StoredReport, HttpResponse> read_report_head(const HttpRequest& request);

// Fills in body, encoding and content hash from the request's body, which it takes. Refused:
// damaged or too large bodies, and other texts than reports.
std::expected<StoredReport, HttpResponse> read_report_body(StoredReport report,
                                                           HttpRequest& request,
                                                           const InputLimits& limits);

// The text of a body with a Content-Encoding.
std::expected<std::string, HttpResponse> decode_body(std::string body, std::string_view encoding,
                                                     const InputLimits& limits);

}  // namespace telltale::collect
