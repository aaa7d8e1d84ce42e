#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "bytes/input_file.h"
#include "collect/server/http_message.h"

namespace telltale::collect {

// The value of `boundary` in a Content-Type of multipart/form-data; empty: it is none.
std::string_view multipart_boundary(std::string_view content_type);
bool is_multipart(std::string_view content_type);

// The body of an upload in the multipart form as a report: a <report id="NAME"> element for each
// part (docs/formats/collect.md). `limits` are those of the decompressed report. Safe on untrusted
// input.
std::expected<std::string, HttpResponse> report_of_parts(std::string_view body,
                                                         std::string_view boundary,
                                                         const InputLimits& limits);

}  // namespace telltale::collect
