#include "collect/server/http_session.h"

#include <algorithm>

namespace telltale::collect {
namespace {

using std::chrono::seconds;

constexpr seconds kStartTime{10};  // for a TLS handshake
constexpr seconds kWriteTime{30};
constexpr seconds kHandleTime{60};
constexpr seconds kLeaveTime{2};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

HttpSession::HttpSession(std::shared_ptr<HttpSessions> all)
    : all_(std::move(all)), deadline_(Clock::now() + kStartTime) {
  all_->open.insert(this);
  ++all_->counts.accepted;
  all_->counts.connections = all_->open.size();
}

HttpSession::~HttpSession() {
  reserve(0);
  all_->open.erase(this);
  all_->counts.connections = all_->open.size();
  if (all_->on_closed) all_->on_closed();
}

void HttpSession::begin() {
  if (phase_ == Phase::starting) read_on(Phase::idle);
}

bool HttpSession::wants_bytes() const {
  return phase_ == Phase::idle || phase_ == Phase::head || phase_ == Phase::body ||
         phase_ == Phase::leaving;
}

void HttpSession::reserve(uint64_t bytes) {
  all_->counts.body_bytes += bytes - reserved_;
  reserved_ = bytes;
}

void HttpSession::read_on(Phase phase) {
  const Clock::time_point now = Clock::now();
  const HttpServerOptions& options = all_->options;
  if (phase == Phase::idle) {
    deadline_ = now + seconds(options.idle_seconds);
  } else if (phase == Phase::head && phase_ != Phase::head) {
    deadline_ = now + seconds(options.head_seconds);
  } else if (phase == Phase::body) {
    deadline_ = body_began_ + seconds(options.body_grace_seconds) +
                std::chrono::milliseconds(parser_->body_bytes() * 1000 / kLeastBodyRate);
  } else if (phase == Phase::leaving && phase_ != Phase::leaving) {
    deadline_ = now + kLeaveTime;
  }
  phase_ = phase;
  read_some();
}

void HttpSession::received() {
  if (phase_ == Phase::leaving) {
    in_.clear();
    return read_on(Phase::leaving);
  }
  if (wants_bytes()) proceed();
}

void HttpSession::proceed() {
  if (in_.empty() && !parser_) {
    in_.shrink_to_fit();  // an idle connection needs no buffers
    out_.clear();
    out_.shrink_to_fit();
    if (all_->shutting_down) return close();
    return read_on(Phase::idle);
  }
  if (!parser_) parser_ = std::make_unique<RequestParser>();
  parser_->feed(in_);
  if (parser_->state() == RequestParser::State::checked && !accept_head()) return;
  if (parser_->state() == RequestParser::State::body) {
    parser_->feed(in_);
    reserve(std::max<uint64_t>(reserved_, parser_->body_bytes()));
    if (all_->counts.body_bytes > all_->options.max_body_bytes)
      return respond(retry_later(503, "too many bodies at once", 1), false);
  }
  switch (parser_->state()) {
    case RequestParser::State::head:
      return read_on(Phase::head);
    case RequestParser::State::body:
      return read_on(Phase::body);
    case RequestParser::State::done:
      return dispatch();
    default:
      return respond(parser_->refusal(), false);
  }
}

bool HttpSession::accept_head() {
  const HttpRequest& request = parser_->request();
  const HttpHandler::Verdict verdict = all_->handler.check(request);
  const bool unread = parser_->has_body();
  if (verdict.refusal) {
    respond(*verdict.refusal, parser_->keep_alive() && !unread);
    return false;
  }
  if (parser_->accept_body(verdict.body_limit) != RequestParser::State::body) return true;
  body_began_ = Clock::now();
  // A body of known size is reserved at once, as long as it is not larger than what a slow client
  // could hold back from others.
  constexpr uint64_t kReserveAtOnce = 256 << 10;
  reserve(std::min(request.content_length.value_or(0), kReserveAtOnce));
  if (all_->counts.body_bytes > all_->options.max_body_bytes) {
    respond(retry_later(503, "too many bodies at once", 1), false);
    return false;
  }
  if (parser_->expects_continue() && in_.empty()) {
    out_ = kContinue;
    write(Phase::invited);
    return false;
  }
  return true;
}

void HttpSession::dispatch() {
  phase_ = Phase::handled;
  deadline_ = Clock::now() + kHandleTime;
  keep_alive_ = parser_->keep_alive();
  const bool head_only = parser_->request().method == "HEAD";
  all_->handler.handle(parser_->take_request(),
                       [self = shared_from_this(), head_only](const HttpResponse& response) {
                         if (self->phase_ != Phase::handled) return;  // the client is gone
                         if (head_only) {
                           self->out_ = serialize(response, false, true);
                           self->keep_alive_ = false;
                           return self->write(Phase::writing);
                         }
                         self->respond(response, self->keep_alive_);
                       });
}

void HttpSession::respond(const HttpResponse& response, bool keep_alive) {
  keep_alive_ = keep_alive && !all_->shutting_down;
  ++all_->counts.requests_by_class[std::min(response.status / 100, 5U)];
  out_ = serialize(response, keep_alive_, false);
  write(Phase::writing);
}

void HttpSession::write(Phase phase) {
  phase_ = phase;
  deadline_ = Clock::now() + kWriteTime;
  write_out();
}

void HttpSession::written() {
  if (phase_ == Phase::invited) return read_on(Phase::body);
  if (phase_ != Phase::writing) return;
  reserve(0);
  parser_.reset();
  if (keep_alive_) {
    phase_ = Phase::idle;
    return proceed();
  }
  in_.clear();
  end_sending();
  read_on(Phase::leaving);
}

void HttpSession::failed() { close(); }

void HttpSession::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  close_socket();
}

void HttpSession::close_if_idle() {
  if (phase_ == Phase::idle || phase_ == Phase::starting) close();
}

void HttpSession::check_deadline(Clock::time_point now) {
  if (phase_ == Phase::closed || now < deadline_) return;
  if (phase_ == Phase::head || phase_ == Phase::body) {
    ++all_->counts.timeouts;
    cancel_read();
    return respond(HttpResponse::text(408, "the request came too slowly"), false);
  }
  if (phase_ != Phase::idle && phase_ != Phase::leaving) ++all_->counts.timeouts;
  close();
}

}  // namespace telltale::collect
