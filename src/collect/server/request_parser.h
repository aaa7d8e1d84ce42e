#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "collect/server/http_message.h"

namespace telltale::collect {

// Reads one HTTP/1.1 request from pieces of a stream. Boost.Beast parses; this adds the strictness
// of docs/formats/collect.md. Safe on untrusted input.
class RequestParser {
 public:
  static constexpr size_t kMaxHeadBytes = 16384;
  static constexpr size_t kMaxFields = 100;

  enum class State : uint8_t {
    head,     // more bytes are needed
    checked,  // the head is read; accept_body() or nothing more
    body,     // more bytes are needed
    done,
    refused,  // see refusal(); the connection is of no further use
  };

  RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  // Takes bytes from the front of `in`, and removes them. Stops after the head, and after the body.
  State feed(std::string& in);
  // Allows a body of this many bytes. REQUIRES: state() is checked.
  State accept_body(uint64_t limit);

  [[nodiscard]] State state() const { return state_; }
  // Complete when the head is; the body when done.
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  HttpRequest take_request() { return std::move(request_); }
  [[nodiscard]] size_t body_bytes() const;  // so far
  [[nodiscard]] bool has_body() const;
  [[nodiscard]] bool keep_alive() const;
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] const HttpResponse& refusal() const { return refusal_; }

 private:
  struct Parser;
  State refuse(unsigned status, std::string line);
  State feed_head(std::string& in);
  State read_head();
  State feed_body(std::string& in);

  std::unique_ptr<Parser> parser_;
  State state_ = State::head;
  size_t scanned_ = 0;  // of the head, for line ends
  HttpRequest request_;
  HttpResponse refusal_;
};

}  // namespace telltale::collect
