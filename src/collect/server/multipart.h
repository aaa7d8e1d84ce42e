#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "bytes/input_file.h"
#include "collect/server/http_message.h"

namespace telltale::collect {

// The value of `boundary` in a Content-Type of multipart/form-data; empty: it is none.
std::string_view multipart_boundary(std::string_view content_type);
bool is_multipart(std::string_view content_type);

struct UploadParts {
  std::string report;  // a <report id="NAME"> element for each part
  std::string paths;   // the part `paths`, the run's path file; empty: there is none
};
// The body of an upload in the multipart form (docs/formats/collect.md). `limits` are those of the
// decompressed report; the path file may have `most_paths_bytes`. Safe on untrusted input.
std::expected<UploadParts, HttpResponse> report_of_parts(std::string_view body,
                                                         std::string_view boundary,
                                                         const InputLimits& limits,
                                                         uint64_t most_paths_bytes);

}  // namespace telltale::collect
