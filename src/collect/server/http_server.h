#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "collect/server/http_message.h"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming): Boost's name
}

namespace telltale::collect {

// Sends the response to a request; call it once, on the server's thread.
using SendResponse = std::function<void(HttpResponse)>;

// What a server does with requests. All members are called on the server's thread.
class HttpHandler {
 public:
  struct Verdict {
    std::optional<HttpResponse> refusal;  // the body is not read, and the connection is closed
    uint64_t body_limit = 0;              // bytes
  };
  HttpHandler() = default;
  HttpHandler(const HttpHandler&) = delete;
  HttpHandler& operator=(const HttpHandler&) = delete;
  virtual ~HttpHandler() = default;
  // Whether to read the body of a request with this head.
  virtual Verdict check(const HttpRequest& head) = 0;
  virtual void handle(HttpRequest request, SendResponse send) = 0;
};

struct HttpServerOptions {
  std::string certificate;  // PEM files; empty: plain HTTP
  std::string key;
  size_t max_connections = 15000;
  // The limit for all bodies that are being received, in bytes; further ones are refused with 503.
  uint64_t max_body_bytes = uint64_t{64} << 20;
  unsigned head_seconds = 10;
  unsigned idle_seconds = 60;
  unsigned body_grace_seconds = 5;  // then a body has to arrive at kLeastBodyRate
};
inline constexpr uint64_t kLeastBodyRate = 1024;  // bytes a second

// Counts since the start.
struct HttpCounts {
  uint64_t connections = 0;  // open now
  uint64_t accepted = 0;
  uint64_t timeouts = 0;               // closed because the client was too slow
  uint64_t requests_by_class[6] = {};  // by first digit of the response's status
  uint64_t body_bytes = 0;             // being received now
};

// An address to listen at: "127.0.0.1:8080", "[::1]:8080", ":8080" for all addresses.
struct ListenAddress {
  std::string host;  // a numeric address
  uint16_t port = 0;
  [[nodiscard]] bool is_loopback() const;
};
Result<ListenAddress> parse_listen_address(const std::string& text);

// An HTTP/1.1 server on one thread, over TCP or TLS.
class HttpServer {
 public:
  // Listens. Errors: io; usage, for certificates that cannot be used. `handler` must outlive it.
  static Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& context,
                                                    const ListenAddress& address,
                                                    const HttpServerOptions& options,
                                                    HttpHandler& handler);
  virtual ~HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] virtual uint16_t port() const = 0;
  [[nodiscard]] virtual const HttpCounts& counts() const = 0;
  // Accepts no more connections and no more requests on open ones; those without a request are
  // closed, the others after their response. Calls `done` when no connection is open, or after
  // this many seconds.
  virtual void shut_down(unsigned seconds, std::function<void()> done) = 0;
  // Reads the certificate again. Errors: usage.
  virtual Result<void> reload() = 0;

 protected:
  HttpServer() = default;
};

}  // namespace telltale::collect
