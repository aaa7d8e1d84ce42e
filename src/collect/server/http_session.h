#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "collect/server/http_server.h"
#include "collect/server/request_parser.h"

namespace telltale::collect {

class HttpSession;

// What the sessions of a server share. They run on one thread.
struct HttpSessions {
  HttpSessions(const HttpServerOptions& chosen, HttpHandler& requests)
      : options(chosen), handler(requests) {}

  const HttpServerOptions options;
  HttpHandler& handler;
  HttpCounts counts;
  std::unordered_set<HttpSession*> open;
  bool shutting_down = false;
  std::function<void()> on_closed;  // after a session ended
};

// One connection: reads requests, has them handled, sends responses. Derived classes move the
// bytes. Owned by its pending operations.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Clock = std::chrono::steady_clock;

  explicit HttpSession(std::shared_ptr<HttpSessions> all);
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;
  virtual ~HttpSession();

  virtual void start() = 0;
  // Closes the connection if its client is too slow.
  void check_deadline(Clock::time_point now);
  // Closes it if it waits for a request.
  void close_if_idle();
  void close();

 protected:
  // To be called when a connection is ready, after bytes were appended to in(), after write() is
  // done, and when the connection failed or ended.
  void begin();
  void received();
  void written();
  void failed();
  [[nodiscard]] std::string& in() { return in_; }
  [[nodiscard]] const std::string& out() const { return out_; }
  // False: what was read is not wanted any more.
  [[nodiscard]] bool wants_bytes() const;

  virtual void read_some() = 0;     // appends to in(), then received()
  virtual void write_out() = 0;     // all of out(), then written()
  virtual void cancel_read() = 0;   // the pending one; received() is not called for it
  virtual void end_sending() = 0;   // tells the client that nothing follows
  virtual void close_socket() = 0;  // pending operations fail

 private:
  enum class Phase : uint8_t {
    starting,
    idle,  // no byte of a request is here
    head,
    body,
    invited,  // writes "100 Continue"
    handled,  // by the handler
    writing,
    leaving,  // the response is sent; reads and discards, so that the client gets it
    closed,
  };
  void proceed();
  bool accept_head();  // false: a response is under way
  void read_on(Phase phase);
  void dispatch();
  void respond(const HttpResponse& response, bool keep_alive);
  void write(Phase phase);
  void reserve(uint64_t bytes);  // of the body, in all

  std::shared_ptr<HttpSessions> all_;
  Phase phase_ = Phase::starting;
  Clock::time_point deadline_;
  Clock::time_point body_began_;
  std::unique_ptr<RequestParser> parser_;
  std::string in_;
  std::string out_;
  uint64_t reserved_ = 0;
  bool keep_alive_ = true;
};

}  // namespace telltale::collect
