#include "collect/server/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>
#include <string_view>

namespace telltale::collect {
namespace {

namespace http = boost::beast::http;

// Of the line of a chunk's size, with its extensions.
constexpr size_t kMaxChunkLine = 4096;

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

// Whether `rest`, from the end of a chunk on, has the whole line of the next one's size. Not that
// of the last chunk, which fields may follow.
bool has_size_line(std::string_view rest) {
  if (rest.starts_with("\r\n")) rest.remove_prefix(2);
  const std::string_view size = rest.substr(0, rest.find_first_not_of("0123456789abcdefABCDEF"));
  return size.find_first_not_of('0') != std::string_view::npos && rest.contains("\r\n");
}

// "http://host/path", which clients send to proxies and every server must accept (RFC 9112, 3.2.2),
// becomes "/path". False if its host is not that of the field, by which access is decided.
bool make_origin_form(HttpRequest& request) {
  const size_t colon = request.target.find("://");
  if (colon == std::string::npos) return true;
  const std::string_view scheme = std::string_view(request.target).substr(0, colon);
  if (!equal_ignoring_case(scheme, "http") && !equal_ignoring_case(scheme, "https")) return true;
  const size_t host = colon + 3;
  const size_t path = std::min(request.target.find_first_of("/?", host), request.target.size());
  if (!equal_ignoring_case(std::string_view(request.target).substr(host, path - host),
                           request.field("Host")))
    return false;
  request.target.erase(0, path);
  if (!request.target.starts_with('/')) request.target.insert(0, "/");
  return true;
}

}  // namespace

struct RequestParser::Parser {
  http::request_parser<http::string_body> http;
};

RequestParser::RequestParser() : parser_(std::make_unique<Parser>()) {
  parser_->http.header_limit(static_cast<uint32_t>(kMaxHeadBytes + 1));
  parser_->http.eager(false);
  // accept_body() sets it. ("None" refuses all lengths in Boost 1.74.)
  parser_->http.body_limit(std::numeric_limits<uint64_t>::max());
}
RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::refuse(unsigned status, std::string line) {
  refusal_ = HttpResponse::text(status, std::move(line));
  return state_ = State::refused;
}

RequestParser::State RequestParser::feed(std::string& in) {
  switch (state_) {
    case State::head:
      return feed_head(in);
    case State::body:
      return feed_body(in);
    default:
      return state_;
  }
}

RequestParser::State RequestParser::feed_head(std::string& in) {
  // Line ends are checked here, because the parser accepts folded lines.
  size_t end = std::string::npos;
  for (; scanned_ < in.size() && end == std::string::npos; ++scanned_) {
    if (in[scanned_] == '\0') return refuse(400, "the head has a NUL");
    if (in[scanned_] != '\n') continue;
    if (scanned_ == 0 || in[scanned_ - 1] != '\r')
      return refuse(400, "a line of the head ends without CR");
    if (scanned_ >= 3 && in[scanned_ - 2] == '\n') end = scanned_ + 1;
  }
  const size_t head_bytes = std::min(end, in.size());
  for (size_t at = in.find('\n'); at < head_bytes; at = in.find('\n', at + 1)) {
    if (at + 1 < head_bytes && (in[at + 1] == ' ' || in[at + 1] == '\t'))
      return refuse(400, "a line of the head is folded");
  }
  if (head_bytes > kMaxHeadBytes)
    return refuse(431, fmt::format("the head has more than {} bytes", kMaxHeadBytes));
  if (end == std::string::npos) return state_;
  boost::system::error_code failure;
  const size_t used = parser_->http.put(boost::asio::const_buffer(in.data(), end), failure);
  if (failure || !parser_->http.is_header_done()) {
    if (failure == http::error::header_limit) return refuse(431, "the head is too large");
    return refuse(400, fmt::format("malformed request: {}",
                                   failure ? failure.message() : "the head is not whole"));
  }
  in.erase(0, used);
  return read_head();
}

RequestParser::State RequestParser::read_head() {
  const auto& head = parser_->http.get();
  request_.method = text_of(head.method_string());
  request_.target = text_of(head.target());
  size_t lengths = 0;
  size_t encodings = 0;
  size_t hosts = 0;
  for (const auto& field : head) {
    lengths += field.name() == http::field::content_length ? 1 : 0;
    encodings += field.name() == http::field::transfer_encoding ? 1 : 0;
    hosts += field.name() == http::field::host ? 1 : 0;
    request_.fields.emplace_back(text_of(field.name_string()), text_of(field.value()));
  }
  if (request_.fields.size() > kMaxFields)
    return refuse(431, fmt::format("the head has more than {} fields", kMaxFields));
  // The parser accepts a list of equal lengths.
  const std::string_view length_text = request_.field("Content-Length");
  if (lengths > 1 || length_text.find_first_not_of("0123456789") != std::string_view::npos)
    return refuse(400, "more than one Content-Length");
  if (lengths != 0 && encodings != 0)
    return refuse(400, "both Content-Length and Transfer-Encoding");
  if (encodings != 0 &&
      (encodings > 1 || !equal_ignoring_case(request_.field("Transfer-Encoding"), "chunked") ||
       head.version() < 11))
    return refuse(400, "a Transfer-Encoding other than chunked");
  if (hosts > 1 || (hosts == 0 && head.version() >= 11)) return refuse(400, "needs one Host");
  if (!make_origin_form(request_)) return refuse(400, "the target names another host than Host");
  if (const auto length = parser_->http.content_length()) request_.content_length = *length;
  return state_ = State::checked;
}

bool RequestParser::has_body() const {
  return parser_->http.chunked() || request_.content_length.value_or(0) != 0;
}
bool RequestParser::keep_alive() const { return parser_->http.get().keep_alive(); }
bool RequestParser::expects_continue() const {
  return equal_ignoring_case(request_.field("Expect"), "100-continue");
}
size_t RequestParser::body_bytes() const {
  return state_ == State::done ? request_.body.size() : parser_->http.get().body().size();
}

RequestParser::State RequestParser::accept_body(uint64_t limit) {
  if (request_.content_length.value_or(0) > limit)
    return refuse(413, fmt::format("the body has more than {} bytes", limit));
  if (!has_body()) return state_ = State::done;
  parser_->http.body_limit(limit);
  parser_->http.eager(true);
  return state_ = State::body;
}

RequestParser::State RequestParser::feed_body(std::string& in) {
  size_t used = 0;
  while (used < in.size() && !parser_->http.is_done()) {
    boost::system::error_code failure;
    const size_t taken =
        parser_->http.put(boost::asio::const_buffer(in.data() + used, in.size() - used), failure);
    used += taken;
    if (failure == http::error::need_more) {
      // Quotes after the size that do not end in its line: the parser would look for their end in
      // what follows, and count the chunk again each time.
      if (has_size_line(std::string_view(in).substr(used)))
        return refuse(400, "malformed body: the line of a chunk's size has no end");
      break;
    }
    if (failure == http::error::body_limit) return refuse(413, "the body is larger than allowed");
    if (failure) return refuse(400, fmt::format("malformed body: {}", failure.message()));
    if (taken == 0) break;
  }
  in.erase(0, used);
  if (parser_->http.is_done()) {
    request_.body = std::move(parser_->http.get().body());
    return state_ = State::done;
  }
  if (in.size() > kMaxChunkLine) return refuse(400, "the line of a chunk's size is too long");
  return state_;
}

}  // namespace telltale::collect
