#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telltale::collect {

using HttpFields = std::vector<std::pair<std::string, std::string>>;

// Names of fields are compared without regard to case; the first field of a name counts.
std::string_view find_field(const HttpFields& fields, std::string_view name);
bool equal_ignoring_case(std::string_view a, std::string_view b);

struct HttpRequest {
  std::string method;
  std::string target;
  HttpFields fields;
  std::optional<uint64_t> content_length;  // none: chunked, or no body
  std::string body;

  [[nodiscard]] std::string_view field(std::string_view name) const {
    return find_field(fields, name);
  }
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type;
  std::string body;
  HttpFields fields{};

  // One line of text.
  static HttpResponse text(unsigned status, std::string line);
};
// A response to a client that should come back later.
HttpResponse retry_later(unsigned status, std::string line, unsigned seconds);

// The bytes of a response. `head_only`: for HEAD.
std::string serialize(const HttpResponse& response, bool keep_alive, bool head_only);

}  // namespace telltale::collect
