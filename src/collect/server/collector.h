#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "bytes/input_file.h"
#include "collect/log/durable_file.h"
#include "collect/log/report_log.h"
#include "collect/log/stored_ids.h"
#include "collect/server/access.h"
#include "collect/server/event_log.h"
#include "collect/server/http_server.h"
#include "collect/server/operator_token.h"
#include "collect/store_folder.h"

namespace boost::asio {
class io_context;   // NOLINT(readability-identifier-naming): Boost's names
class thread_pool;  // NOLINT(readability-identifier-naming)
}  // namespace boost::asio

namespace telltale::collect {

struct CollectorOptions {
  std::string tokens;                              // file; empty: anybody may send
  std::string sampling;                            // file; empty: no rules
  uint64_t max_body_bytes = uint64_t{20} << 20;    // as sent
  uint64_t max_report_bytes = uint64_t{20} << 20;  // decompressed
  uint64_t max_paths_bytes = uint64_t{32} << 20;   // of a path file, decompressed
  uint64_t max_sites_bytes = uint64_t{256} << 20;  // decompressed, and as sent
  uint64_t reports_per_second = 0;  // of a token, or of an application; 0: any number
  uint64_t bytes_per_second = 0;
  uint64_t segment_bytes = uint64_t{64} << 20;
  uint64_t max_waiting_bytes = uint64_t{48} << 20;  // for the disk; then 503
  // The operator's routes (/metrics and the status page) are served beside the others. Otherwise
  // only operator_routes() serves them.
  bool serves_operator = true;
  bool operator_tls = false;  // the operator's routes are served over TLS only
  // Names, in lower case, by which the server may be called where no token protects it: for the
  // operator's routes, and without `tokens` for all that receive. Addresses and localhost always
  // may.
  std::vector<std::string> own_hosts;
};

// Receives reports and stores them in the log of a store: the routes of docs/formats/collect.md.
// All members are called on the server's thread.
class Collector final : public HttpHandler {
 public:
  // Locks the store, and reads which reports it has. Errors: usage; io; those of the files.
  static Result<std::unique_ptr<Collector>> open(boost::asio::io_context& context,
                                                 const StoreFolder& store,
                                                 const CollectorOptions& options, EventLog& events);
  ~Collector() override;  // what waits for the disk is written

  Verdict check(const HttpRequest& head) override;
  void handle(HttpRequest request, SendResponse send) override;
  // The same, with the operator's routes only.
  HttpHandler& operator_routes() { return operator_routes_; }

  // Reads tokens and rules again. If one cannot be read, the earlier ones stay. Errors: as open().
  Result<void> reload();
  // Ends the current segment, so that it can be folded.
  void roll() { log_->roll(); }
  // Bytes in the log that are not folded yet, about.
  [[nodiscard]] uint64_t unfolded_bytes() const;
  // After folding: the log has this many bytes.
  void folded(uint64_t log_bytes);
  void count_fold(bool done) { ++(done ? counts_.folds : counts_.failed_folds); }
  // The target that opens the status page, with the operator's token.
  [[nodiscard]] std::string operator_link() const { return operator_token_->link(); }
  // The servers whose connections /metrics counts.
  void watch(const HttpServer& server) { servers_.push_back(&server); }

 private:
  class OperatorRoutes final : public HttpHandler {
   public:
    explicit OperatorRoutes(Collector& collector) : collector_(collector) {}
    Verdict check(const HttpRequest& head) override;
    void handle(HttpRequest request, SendResponse send) override;

   private:
    Collector& collector_;
  };
  enum class Route : uint8_t { reports, sites, health, metrics, page, unknown };
  struct Counts {
    uint64_t stored = 0;
    uint64_t duplicates = 0;
    uint64_t conflicts = 0;
    uint64_t stored_bytes = 0;
    uint64_t stored_paths = 0;
    uint64_t refused_paths = 0;
    uint64_t unauthorized = 0;
    uint64_t other_hosts = 0;
    uint64_t pages = 0;
    uint64_t over_rate = 0;
    uint64_t overloads = 0;
    uint64_t disk_failures = 0;
    uint64_t folds = 0;
    uint64_t failed_folds = 0;
  };
  struct Limits {
    RateLimit reports;
    RateLimit bytes;
  };

  Collector(boost::asio::io_context& context, StoreFolder store, const CollectorOptions& options,
            EventLog& events, LockFile lock);
  static Route route_of(const HttpRequest& request);
  std::optional<HttpResponse> check_host(const HttpRequest& head, Route route);
  std::optional<HttpResponse> check_operator(const HttpRequest& head, Route route);
  std::optional<HttpResponse> check_method(const HttpRequest& head, Route route) const;
  // Who sends, for limits: the application, and its token if the server has tokens. Or the refusal.
  std::expected<std::string, HttpResponse> check_access(const HttpRequest& head,
                                                        std::string_view application,
                                                        Tokens::Right right);
  std::optional<HttpResponse> check_rate(const HttpRequest& head, const std::string& sender);
  Verdict check_report(const HttpRequest& head);
  Verdict check_sites(const HttpRequest& head);
  void receive_report(HttpRequest request, SendResponse send);
  void store(StoredReport report, bool original, SendResponse send);
  void written(const ReportKey& key, const Result<void>& result);
  HttpResponse confirm(const StoredReport& report, bool duplicate, bool original) const;
  void receive_sites(HttpRequest request, SendResponse send);
  HttpResponse store_sites(const std::string& application, const std::string& build,
                           std::string_view text);
  HttpResponse serve_operator(const HttpRequest& request);
  [[nodiscard]] std::string metrics() const;
  [[nodiscard]] HttpResponse disk_trouble(const Error& error);

  boost::asio::io_context& context_;
  const StoreFolder store_;
  const CollectorOptions options_;
  EventLog& events_;
  const LockFile lock_;
  OperatorRoutes operator_routes_{*this};
  std::optional<Tokens> tokens_;
  std::optional<OperatorToken> operator_token_;  // since open()
  SamplingRules sampling_;
  StoredIds ids_;
  // Reports on their way to the disk, and what to do when they are there.
  using Waiter = std::function<void(const Result<void>&)>;
  struct Pending {
    uint64_t content = 0;
    std::vector<Waiter> waiters;
  };
  std::map<std::array<uint64_t, 2>, Pending> pending_;
  std::unordered_map<std::string, Limits> limits_;  // by sender
  std::unordered_set<std::string> with_sites_;      // "application/build" that have sites
  uint64_t unfolded_before_ = 0;
  uint64_t written_before_ = 0;
  std::optional<RateLimit::Clock::time_point> disk_failed_;
  Counts counts_;
  std::vector<const HttpServer*> servers_;
  std::unique_ptr<boost::asio::thread_pool> decoders_;
  std::unique_ptr<ReportLog> log_;  // last: its callbacks use the members above
};

}  // namespace telltale::collect
