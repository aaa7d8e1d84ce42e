#include "collect/sender/upload_connection.h"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/version.hpp>
#include <charconv>
#include <optional>

namespace telltale::collect {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr uint64_t kMostReplyBytes = 65536;

}  // namespace

struct UploadConnection::State {
  State(UploadUrl where, const UploadOptions& chosen) : url(std::move(where)), options(chosen) {}

  using Request = http::request<http::string_body>;
  using Parser = http::response_parser<http::string_body>;
  using Tls = ssl::stream<beast::tcp_stream>;

  // Runs an asynchronous operation to its end: only these have time limits.
  template <typename Begin>
  error_code run(Begin begin) {
    error_code result;
    begin([&result](error_code failure, auto&&...) { result = failure; });
    context.restart();
    context.run();
    return result;
  }

  beast::tcp_stream& socket() { return tls ? beast::get_lowest_layer(*tls) : *plain; }

  error_code connect() {
    buffer.clear();
    error_code failure;
    tcp::resolver resolver(context);
    const auto places = resolver.resolve(url.host, url.port, failure);
    if (failure) return failure;
    if (url.tls) {
      tls.emplace(context, certificates);
      tls->set_verify_callback(ssl::host_name_verification(url.host), failure);
      if (failure) return failure;
      // Servers with several names choose the certificate by this one.
      ::SSL_set_tlsext_host_name(tls->native_handle(), url.host.c_str());
    } else {
      plain.emplace(context);
    }
    socket().expires_after(options.timeout);
    failure = run([&](auto done) { socket().async_connect(places, done); });
    if (failure || !url.tls) return failure;
    return run([&](auto done) { tls->async_handshake(ssl::stream_base::client, done); });
  }

  template <typename Stream>
  error_code exchange(Stream& stream, const Request& request, Parser& parser) {
    socket().expires_after(options.timeout);
    // A server may reply, and close, before it has read all of the request.
    const error_code written = run([&](auto done) { http::async_write(stream, request, done); });
    const error_code read = run([&](auto done) { http::async_read(stream, buffer, parser, done); });
    return read ? (written ? written : read) : read;
  }

  error_code attempt(const Request& request, Parser& parser) {
    if (!open) {
      if (const error_code failure = connect()) return failure;
      open = true;
    }
    const error_code failure =
        tls ? exchange(*tls, request, parser) : exchange(*plain, request, parser);
    if (failure || !parser.get().keep_alive()) close();
    return failure;
  }

  void close() {
    open = false;
    tls.reset();
    plain.reset();
  }

  asio::io_context context{1};
  ssl::context certificates{ssl::context::tls_client};
  const UploadUrl url;
  const UploadOptions options;
  std::optional<Tls> tls;
  std::optional<beast::tcp_stream> plain;
  beast::flat_buffer buffer;
  bool open = false;
};

UploadConnection::UploadConnection(std::unique_ptr<State> state) : state_(std::move(state)) {}
UploadConnection::UploadConnection(UploadConnection&& other) noexcept = default;
UploadConnection::~UploadConnection() = default;

Result<UploadConnection> UploadConnection::open(const UploadUrl& url,
                                                const UploadOptions& options) {
  auto state = std::make_unique<State>(url, options);
  error_code failure;
  if (url.tls) {
    state->certificates.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 |
                                    ssl::context::no_tlsv1_1);
    state->certificates.set_verify_mode(ssl::verify_peer);
    if (options.authorities.empty()) {
      state->certificates.set_default_verify_paths(failure);
    } else {
      state->certificates.load_verify_file(options.authorities, failure);
    }
    if (failure)
      return usage_error(fmt::format(
          "{}: cannot be used as certificates: {}",
          options.authorities.empty() ? "the system's authorities" : options.authorities,
          failure.message()));
  }
  return UploadConnection(std::move(state));
}

Result<UploadReply> UploadConnection::post(const UploadRequest& asked) {
  State::Request request(http::verb::post, state_->url.path + asked.target, 11);
  request.set(http::field::host, state_->url.authority());
  for (const auto& [name, value] : asked.fields) request.set(name, value);
  request.body() = asked.body;
  request.prepare_payload();
  std::optional<State::Parser> parser;
  error_code failure;
  // A connection that waited may have been closed by the server meanwhile.
  for (int attempts = state_->open ? 2 : 1; attempts > 0; --attempts) {
    parser.emplace();
    parser->body_limit(kMostReplyBytes);
    failure = state_->attempt(request, *parser);
    if (!failure) break;
  }
  if (failure)
    return std::unexpected(
        Error{Error::Cause::io, state_->url.authority(), {}, failure.message(), {}});
  const auto& answer = parser->get();
  UploadReply reply;
  reply.status = answer.result_int();
  reply.body = answer.body();
  const auto sparsity = answer["Telltale-Sparsity"];
  reply.sparsity.assign(sparsity.data(), sparsity.size());
  const auto rates = answer["Telltale-Rates"];
  reply.rates.assign(rates.data(), rates.size());
  const auto wait = answer[http::field::retry_after];
  unsigned seconds = 0;
  if (std::from_chars(wait.data(), wait.data() + wait.size(), seconds).ec == std::errc())
    reply.retry_after = std::chrono::seconds(seconds);
  return reply;
}

}  // namespace telltale::collect
