#include "collect/server/http_server.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <vector>

#include "collect/server/http_session.h"

namespace telltale::collect {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kReadBytes = 65536;
constexpr size_t kTlsReadBytes = 16384;  // a TLS record
constexpr std::chrono::milliseconds kSweep{200};
constexpr std::chrono::milliseconds kAcceptPause{100};

// Reads into one buffer that all sessions share: a connection that waits has none of its own.
class PlainSession final : public HttpSession {
 public:
  PlainSession(std::shared_ptr<HttpSessions> all, tcp::socket socket, std::string& buffer)
      : HttpSession(std::move(all)), socket_(std::move(socket)), buffer_(buffer) {}

  void start() override { begin(); }

 private:
  std::shared_ptr<PlainSession> self() {
    return std::static_pointer_cast<PlainSession>(shared_from_this());
  }
  void read_some() override {
    socket_.async_wait(tcp::socket::wait_read, [self = self()](error_code failure) {
      if (failure == asio::error::operation_aborted || !self->wants_bytes()) return;
      if (failure) return self->failed();
      const size_t size = self->socket_.read_some(asio::buffer(self->buffer_), failure);
      if (failure == asio::error::would_block) return self->read_some();
      if (failure) return self->failed();
      self->in().append(self->buffer_, 0, size);
      self->received();
    });
  }
  void write_out() override {
    asio::async_write(socket_, asio::buffer(out()), [self = self()](error_code failure, size_t) {
      if (failure) return self->failed();
      self->written();
    });
  }
  void cancel_read() override {
    error_code ignored;
    socket_.cancel(ignored);
  }
  void end_sending() override {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void close_socket() override {
    error_code ignored;
    socket_.close(ignored);
  }

  tcp::socket socket_;
  std::string& buffer_;
};

class TlsSession final : public HttpSession {
 public:
  TlsSession(std::shared_ptr<HttpSessions> all, tcp::socket socket,
             std::shared_ptr<ssl::context> context)
      : HttpSession(std::move(all)),
        context_(std::move(context)),
        stream_(std::move(socket), *context_) {}

  void start() override {
    stream_.async_handshake(ssl::stream_base::server, [self = self()](error_code failure) {
      if (failure) return self->failed();
      self->begin();
    });
  }

 private:
  std::shared_ptr<TlsSession> self() {
    return std::static_pointer_cast<TlsSession>(shared_from_this());
  }
  void read_some() override {
    if (reading_ || ending_) return;  // a read that was given up still waits
    reading_ = true;
    stream_.async_read_some(asio::buffer(buffer_),
                            [self = self()](error_code failure, size_t size) {
                              self->reading_ = false;
                              if (!self->wants_bytes()) return;
                              if (failure) return self->failed();
                              self->in().append(self->buffer_.data(), size);
                              self->received();
                            });
  }
  void write_out() override {
    asio::async_write(stream_, asio::buffer(out()), [self = self()](error_code failure, size_t) {
      if (failure) return self->failed();
      self->written();
    });
  }
  // A TLS stream cannot give up a read and go on; the session does not want its bytes any more.
  void cancel_read() override {}
  void end_sending() override {
    ending_ = true;
    // Also waits for the client's closing alert, for as long as the session's deadline allows.
    stream_.async_shutdown([self = self()](error_code) { self->failed(); });
  }
  void close_socket() override {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

  std::shared_ptr<ssl::context> context_;
  ssl::stream<tcp::socket> stream_;
  std::array<char, kTlsReadBytes> buffer_{};
  bool reading_ = false;
  bool ending_ = false;
};

Result<std::shared_ptr<ssl::context>> make_tls(const HttpServerOptions& options) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  error_code failure;
  context->use_certificate_chain_file(options.certificate, failure);
  if (failure)
    return usage_error(
        fmt::format("{}: not a certificate: {}", options.certificate, failure.message()));
  context->use_private_key_file(options.key, ssl::context::pem, failure);
  if (failure)
    return usage_error(
        fmt::format("{}: not the certificate's key: {}", options.key, failure.message()));
  return context;
}

class AsioServer final : public HttpServer {
 public:
  AsioServer(asio::io_context& context, const HttpServerOptions& options, HttpHandler& handler,
             std::shared_ptr<ssl::context> tls)
      : acceptor_(context),
        sweep_(context),
        pause_(context),
        all_(std::make_shared<HttpSessions>(options, handler)),
        tls_(std::move(tls)),
        buffer_(kReadBytes, '\0') {
    all_->on_closed = [this] { closed(); };
  }
  ~AsioServer() override { all_->on_closed = nullptr; }
  AsioServer(const AsioServer&) = delete;
  AsioServer& operator=(const AsioServer&) = delete;

  Result<void> open(const ListenAddress& address) {
    error_code failure;
    const tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
    acceptor_.open(endpoint.protocol(), failure);
    if (!failure) acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) acceptor_.bind(endpoint, failure);
    if (!failure) acceptor_.listen(4096, failure);
    if (!failure) acceptor_.non_blocking(true, failure);
    if (failure)
      return io_error(fmt::format("{}:{}", address.host, address.port), "cannot listen",
                      failure.value());
    accept();
    sweep();
    return {};
  }

  [[nodiscard]] uint16_t port() const override {
    error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }
  [[nodiscard]] const HttpCounts& counts() const override { return all_->counts; }

  void shut_down(unsigned seconds, std::function<void()> done) override {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    all_->shutting_down = true;
    done_ = std::move(done);
    for (HttpSession* session : sessions()) session->close_if_idle();
    end_ = HttpSession::Clock::now() + std::chrono::seconds(seconds);
  }

  Result<void> reload() override {
    if (!tls_) return {};
    auto fresh = make_tls(all_->options);
    if (!fresh) return std::unexpected(fresh.error());
    tls_ = *std::move(fresh);
    return {};
  }

 private:
  [[nodiscard]] std::vector<HttpSession*> sessions() const {
    return {all_->open.begin(), all_->open.end()};
  }

  void accept() {
    if (all_->shutting_down || accepting_) return;
    if (all_->open.size() >= all_->options.max_connections) return;  // until one is closed
    accepting_ = true;
    acceptor_.async_accept([this](error_code failure, tcp::socket socket) {
      accepting_ = false;
      if (failure == asio::error::operation_aborted) return;
      // Without free descriptors, trying at once again would spin.
      if (failure) return accept_later();
      serve(std::move(socket));
      accept();
    });
  }
  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](error_code failure) {
      if (!failure) accept();
    });
  }
  void serve(tcp::socket socket) {
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.set_option(tcp::no_delay(true), ignored);
    if (tls_) {
      std::make_shared<TlsSession>(all_, std::move(socket), tls_)->start();
    } else {
      std::make_shared<PlainSession>(all_, std::move(socket), buffer_)->start();
    }
  }
  void closed() {
    if (acceptor_.is_open()) accept();
  }
  void sweep() {
    sweep_.expires_after(kSweep);
    sweep_.async_wait([this](error_code failure) {
      if (failure) return;
      const HttpSession::Clock::time_point now = HttpSession::Clock::now();
      for (HttpSession* session : sessions()) {
        // An earlier one may have ended it.
        if (!all_->open.contains(session)) continue;
        if (done_) session->close_if_idle();
        session->check_deadline(now);
      }
      if (done_ && (all_->open.empty() || now >= end_)) {
        for (HttpSession* session : sessions()) session->close();
        return std::exchange(done_, nullptr)();
      }
      sweep();
    });
  }

  tcp::acceptor acceptor_;
  asio::steady_timer sweep_;
  asio::steady_timer pause_;
  std::shared_ptr<HttpSessions> all_;
  std::shared_ptr<ssl::context> tls_;  // null: plain HTTP
  std::string buffer_;
  bool accepting_ = false;
  std::function<void()> done_;
  HttpSession::Clock::time_point end_;
};

}  // namespace

bool ListenAddress::is_loopback() const {
  error_code failure;
  const auto address = asio::ip::make_address(host, failure);
  return !failure && address.is_loopback();
}

Result<ListenAddress> parse_listen_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return usage_error(fmt::format(
        "{} is not an address and a port, such as 127.0.0.1:8080, [::1]:8080 or :8080", text));
  };
  if (colon == std::string::npos) return wrong();
  ListenAddress address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host.empty()) address.host = "::";
  if (address.host == "localhost") address.host = "127.0.0.1";
  error_code failure;
  asio::ip::make_address(address.host, failure);
  const char* const end = text.data() + text.size();
  const auto port = std::from_chars(text.data() + colon + 1, end, address.port);
  if (failure || port.ec != std::errc() || port.ptr != end) return wrong();
  return address;
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(asio::io_context& context,
                                                       const ListenAddress& address,
                                                       const HttpServerOptions& options,
                                                       HttpHandler& handler) {
  std::shared_ptr<ssl::context> tls;
  if (!options.certificate.empty()) {
    auto made = make_tls(options);
    if (!made) return std::unexpected(made.error());
    tls = *std::move(made);
  }
  auto server = std::make_unique<AsioServer>(context, options, handler, std::move(tls));
  if (auto opened = server->open(address); !opened) return std::unexpected(opened.error());
  return server;
}

}  // namespace telltale::collect
