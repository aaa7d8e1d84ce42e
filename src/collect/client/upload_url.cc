#include "collect/client/upload_url.h"

#include <algorithm>
#include <charconv>

namespace telltale::collect {
namespace {

constexpr std::string_view kPlain = "http://";
constexpr std::string_view kTls = "https://";

bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

}  // namespace

bool UploadUrl::is_loopback() const {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string UploadUrl::authority() const {
  const std::string name = host.contains(':') ? "[" + host + "]" : host;
  return port == (tls ? "443" : "80") ? name : name + ":" + port;
}

std::string UploadUrl::text() const {
  return std::string(tls ? kTls : kPlain) + authority() + path;
}

Result<UploadUrl> parse_upload_url(std::string_view text) {
  const std::string whole(text);
  const auto complain = [&](const char* what) { return usage_error(whole + " " + what); };
  UploadUrl url;
  url.tls = text.starts_with(kTls);
  if (!url.tls && !text.starts_with(kPlain))
    return complain("is not a URL that begins with https:// or http://");
  text.remove_prefix(url.tls ? kTls.size() : kPlain.size());
  if (!std::ranges::all_of(text, is_visible) || text.find_first_of("?#@") != text.npos)
    return complain("has a user, a query, a fragment or characters that no address has");
  const size_t slash = std::min(text.find('/'), text.size());
  std::string_view place = text.substr(0, slash);
  url.path = text.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  const bool bracket = place.starts_with('[');
  const size_t host_end = bracket ? place.find(']') : std::min(place.find(':'), place.size());
  if (host_end == place.npos) return complain("has an address without its closing bracket");
  url.host = bracket ? place.substr(1, host_end - 1) : place.substr(0, host_end);
  place.remove_prefix(host_end + (bracket ? 1 : 0));
  if (url.host.empty()) return complain("names no host");
  url.port = url.tls ? "443" : "80";
  if (place.empty()) return url;
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(place.data() + 1, place.data() + place.size(), port);
  if (place[0] != ':' || error != std::errc() || end != place.data() + place.size() || port == 0)
    return complain("has no valid port");
  url.port = place.substr(1);
  return url;
}

}  // namespace telltale::collect
