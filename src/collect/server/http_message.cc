#include "collect/server/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>

namespace telltale::collect {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view find_field(const HttpFields& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return {};
}

HttpResponse HttpResponse::text(unsigned status, std::string line) {
  return {status, "text/plain; charset=utf-8", std::move(line) + "\n"};
}

HttpResponse retry_later(unsigned status, std::string line, unsigned seconds) {
  HttpResponse response = HttpResponse::text(status, std::move(line));
  response.fields.emplace_back("Retry-After", fmt::format("{}", seconds));
  return response;
}

std::string serialize(const HttpResponse& response, bool keep_alive, bool head_only) {
  namespace http = boost::beast::http;
  const auto reason = http::obsolete_reason(http::int_to_status(response.status));
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", response.status,
                                std::string_view(reason.data(), reason.size()));
  const auto add = [&](std::string_view name, std::string_view value) {
    out += fmt::format("{}: {}\r\n", name, value);
  };
  add("Content-Length", fmt::format("{}", response.body.size()));
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  for (const auto& [name, value] : response.fields) add(name, value);
  // Pages bring a policy of their own, which is stricter for their scripts.
  if (find_field(response.fields, "Content-Security-Policy").empty())
    add("Content-Security-Policy",
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Cache-Control", "no-store");
  if (!keep_alive) add("Connection", "close");
  out += "\r\n";
  if (!head_only) out += response.body;
  return out;
}

}  // namespace telltale::collect
