#include "collect/server/operator_token.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "bytes/input_file.h"
#include "collect/log/durable_file.h"
#include "collect/server/access.h"
#include "collect/server/sha256.h"
#include "output/escape.h"

namespace telltale::collect {
namespace {

constexpr size_t kTokenBytes = 16;
constexpr size_t kCookieNameBytes = 4;
constexpr std::string_view kLink = "/?token=";

std::string hex(std::string_view bytes) {
  std::string digits;
  append_hex(digits, bytes);
  return digits;
}

bool is_token(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 2 * kTokenBytes && std::ranges::all_of(text, is_digit);
}

Result<std::string> make_token(const std::string& path) {
  std::array<char, kTokenBytes> bytes{};
  // Small requests are answered as a whole.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return io_error(path, "no random numbers for it", errno);
  std::string token = hex({bytes.data(), bytes.size()});
  if (auto written = replace_file(path, token + "\n"); !written)
    return std::unexpected(written.error());
  return token;
}

// The value of a cookie; empty: there is none.
std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view cookie = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    const size_t equals = cookie.find('=');
    if (equals != std::string_view::npos && cookie.substr(0, equals) == name)
      return cookie.substr(equals + 1);
  }
  return {};
}

}  // namespace

OperatorToken::OperatorToken(std::string token)
    : token_(std::move(token)),
      hash_(sha256(token_)),
      cookie_("telltale-" + hex(std::string_view(hash_).substr(0, kCookieNameBytes))) {}

Result<OperatorToken> OperatorToken::read_or_make(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return io_error(path, "cannot read", errno);
    Result<std::string> made = make_token(path);
    if (!made) return std::unexpected(made.error());
    return OperatorToken(*std::move(made));
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return usage_error(path + " is open to other users: chmod go=");
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  const Bytes bytes = file->bytes();
  std::optional<OperatorToken> token =
      parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!token)
    return std::unexpected(
        Error{Error::Cause::bad_field, path, "token",
              "is not 32 hexadecimal digits; without this file the server makes a new one", 0});
  return *std::move(token);
}

std::optional<OperatorToken> OperatorToken::parse(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!is_token(text)) return std::nullopt;
  return OperatorToken(std::string(text));
}

bool OperatorToken::is(std::string_view token) const {
  return ::CRYPTO_memcmp(sha256(token).data(), hash_.data(), hash_.size()) == 0;
}

bool OperatorToken::is_in(const HttpRequest& head) const {
  return is(token_of(head.field("Authorization"))) ||
         is(cookie_value(head.field("Cookie"), cookie_));
}

bool OperatorToken::is_linked_by(const HttpRequest& head) const {
  const std::string_view target = head.target;
  return target.starts_with(kLink) && is(target.substr(kLink.size()));
}

HttpResponse OperatorToken::redirect(bool tls) const {
  HttpResponse response = HttpResponse::text(303, "see /");
  response.fields.emplace_back("Location", "/");
  response.fields.emplace_back(
      "Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}", cookie_, token_,
                                tls ? "; Secure" : ""));
  return response;
}

std::string OperatorToken::link() const { return std::string(kLink) + token_; }

}  // namespace telltale::collect
