#include "collect/server/collector.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "bytes/as_bytes.h"
#include "collect/client/sampling_wish_text.h"
#include "collect/server/multipart.h"
#include "collect/server/report_request.h"
#include "formats/sampler/recognise.h"
#include "output/escape.h"
#include "output/json_writer.h"

namespace telltale::collect {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr std::string_view kReports = "/v1/reports";
constexpr std::string_view kSites = "/v1/sites/";
constexpr uint64_t kMaxWindow = uint64_t{8} << 20;  // of a zstd frame: what its decoder allocates
// Above what gzip can reach, so that it only concerns zstd.
constexpr uint64_t kMaxRatio = 2000;
constexpr unsigned kRetrySeconds = 5;
constexpr std::chrono::seconds kDiskTrouble{5};
constexpr size_t kToldProblems = 10;

uint64_t now_us() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

std::string random_id() {
  std::array<unsigned char, 16> bytes{};
  ::RAND_bytes(bytes.data(), static_cast<int>(bytes.size()));
  std::string id;
  append_hex(id, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return id;
}

InputLimits limits_of(uint64_t bytes) { return {bytes, kMaxRatio, kMaxWindow}; }

// The path of a target, without a query.
std::string_view path_of(const HttpRequest& request) {
  const std::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

HttpResponse not_found() { return HttpResponse::text(404, "no such path"); }

}  // namespace

Collector::Collector(asio::io_context& context, StoreFolder store, const CollectorOptions& options,
                     EventLog& events, LockFile lock)
    : context_(context),
      store_(std::move(store)),
      options_(options),
      events_(events),
      lock_(std::move(lock)),
      decoders_(std::make_unique<asio::thread_pool>(1)) {}

Collector::~Collector() {
  decoders_->join();
  log_.reset();
}

Result<std::unique_ptr<Collector>> Collector::open(asio::io_context& context,
                                                   const StoreFolder& store,
                                                   const CollectorOptions& options,
                                                   EventLog& events) {
  if (auto created = store.create(); !created) return std::unexpected(created.error());
  Result<LockFile> lock = LockFile::take(store.server_lock(), false);
  if (!lock) return std::unexpected(lock.error());
  std::unique_ptr<Collector> collector(
      new Collector(context, store, options, events, *std::move(lock)));
  if (auto read = collector->reload(); !read) return std::unexpected(read.error());
  ProblemLog problems;
  auto ids = store.read_ids(problems, collector->unfolded_before_);
  if (!ids) return std::unexpected(ids.error());
  collector->ids_ = *std::move(ids);
  const std::vector<Problem> kept = problems.kept();
  for (size_t i = 0; i < std::min(kept.size(), kToldProblems); ++i)
    events.warning("damage", {{"what", to_string(kept[i])}});
  const auto number = store.next_segment(now_us());
  if (!number) return std::unexpected(number.error());
  std::error_code failure;
  for (fs::recursive_directory_iterator at(store.sites(), failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().extension() == ".sites")
      collector->with_sites_.insert(at->path().parent_path().filename().string() + "/" +
                                    at->path().stem().string());
  }
  // What a crash left; only this server makes them.
  const auto unlocked = files_in(store.log(), kUnlockedSegment);
  if (!unlocked) return std::unexpected(unlocked.error());
  for (const std::string& path : *unlocked) fs::remove(path, failure);
  collector->log_ = std::make_unique<ReportLog>(store.log(), *number, options.segment_bytes);
  return collector;
}

Result<void> Collector::reload() {
  std::optional<Tokens> tokens;
  SamplingRules sampling;
  if (!options_.tokens.empty()) {
    auto read = Tokens::read(options_.tokens);
    if (!read) return std::unexpected(read.error());
    tokens = *std::move(read);
  }
  if (!options_.sampling.empty()) {
    auto read = SamplingRules::read(options_.sampling);
    if (!read) return std::unexpected(read.error());
    sampling = *std::move(read);
  }
  auto operator_token = OperatorToken::read_or_make(store_.operator_token());
  if (!operator_token) return std::unexpected(operator_token.error());
  tokens_ = std::move(tokens);
  operator_token_ = *std::move(operator_token);
  sampling_ = std::move(sampling);
  return {};
}

uint64_t Collector::unfolded_bytes() const {
  return unfolded_before_ + log_->written_bytes() - written_before_;
}
void Collector::folded(uint64_t log_bytes) {
  unfolded_before_ = log_bytes;
  written_before_ = log_->written_bytes();
}

Collector::Route Collector::route_of(const HttpRequest& request) {
  const std::string_view path = path_of(request);
  if (path == kReports) return Route::reports;
  // The original launcher may post to the root.
  if (path == "/") return request.method == "POST" ? Route::reports : Route::page;
  if (path.starts_with(kSites) && is_build(path.substr(kSites.size()))) return Route::sites;
  if (path == "/healthz") return Route::health;
  if (path == "/metrics") return Route::metrics;
  return Route::unknown;
}

std::optional<HttpResponse> Collector::check_method(const HttpRequest& head, Route route) const {
  if (route == Route::unknown) return not_found();
  if ((route == Route::metrics || route == Route::page) && !options_.serves_operator)
    return not_found();
  const std::string_view allowed = route == Route::reports ? "POST"
                                   : route == Route::sites ? "PUT"
                                                           : "GET, HEAD";
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (allowed.starts_with("GET") ? reads : head.method == allowed) return std::nullopt;
  HttpResponse response = HttpResponse::text(405, fmt::format("the method is not {}", allowed));
  response.fields.emplace_back("Allow", allowed);
  return response;
}

std::expected<std::string, HttpResponse> Collector::check_access(const HttpRequest& head,
                                                                 std::string_view application,
                                                                 Tokens::Right right) {
  if (!tokens_) return std::string(application);
  if (const auto token = tokens_->find(application, head.field("Authorization"), right))
    return fmt::format("{} {}", application, *token);
  ++counts_.unauthorized;
  HttpResponse response =
      HttpResponse::text(401, "the token is missing, or not one of this application");
  response.fields.emplace_back("WWW-Authenticate", "Bearer");
  return std::unexpected(std::move(response));
}

std::optional<HttpResponse> Collector::check_rate(const HttpRequest& head,
                                                  const std::string& sender) {
  if (options_.reports_per_second == 0 && options_.bytes_per_second == 0) return std::nullopt;
  Limits& limits = limits_
                       .try_emplace(sender, Limits{RateLimit(options_.reports_per_second),
                                                   RateLimit(options_.bytes_per_second)})
                       .first->second;
  const auto now = RateLimit::Clock::now();
  // A body of unknown length counts as the largest one.
  const auto bytes = static_cast<double>(head.content_length.value_or(options_.max_body_bytes));
  auto wait = limits.reports.take(1, now);
  if (!wait) wait = limits.bytes.take(bytes, now);
  if (!wait) return std::nullopt;
  ++counts_.over_rate;
  return retry_later(
      429, tokens_ ? "too many reports with this token" : "too many reports of this application",
      *wait);
}

HttpHandler::Verdict Collector::check_report(const HttpRequest& head) {
  const auto report = read_report_head(head);
  if (!report) return {report.error()};
  auto sender = check_access(head, report->application, Tokens::Right::report);
  if (!sender) return {std::move(sender.error())};
  if (!head.content_length && head.field("Transfer-Encoding").empty())
    return {HttpResponse::text(411, "needs a Content-Length")};
  if (head.content_length.value_or(0) > options_.max_body_bytes)
    return {HttpResponse::text(
        413, fmt::format("the body has more than {} bytes", options_.max_body_bytes))};
  if (report->paths_bytes > options_.max_paths_bytes) {
    ++counts_.refused_paths;
    return {too_large_paths(options_.max_paths_bytes)};
  }
  if (auto refused = check_rate(head, *sender)) return {std::move(refused)};
  if (log_->waiting_bytes() > options_.max_waiting_bytes) {
    ++counts_.overloads;
    return {retry_later(503, "the disk is too slow", 1)};
  }
  return {std::nullopt, options_.max_body_bytes};
}

HttpHandler::Verdict Collector::check_sites(const HttpRequest& head) {
  const std::string_view application = head.field("Telltale-Application");
  if (!is_application(application))
    return {HttpResponse::text(400, "Telltale-Application is missing or not allowed")};
  if (auto sender = check_access(head, application, Tokens::Right::sites); !sender)
    return {std::move(sender.error())};
  return {std::nullopt, options_.max_sites_bytes};
}

// What no token protects is for those who call the server by its own name. Browsers let the page of
// a stranger talk to us under a name of the stranger that leads here.
std::optional<HttpResponse> Collector::check_host(const HttpRequest& head, Route route) {
  const bool is_operators = route == Route::metrics || route == Route::page;
  const bool is_open = !tokens_ && (route == Route::reports || route == Route::sites);
  if (!is_operators && !is_open) return std::nullopt;
  if (!is_own_host(head.field("Host"), options_.own_hosts)) {
    ++counts_.other_hosts;
    return HttpResponse::text(421, "this server is not called by this name; see --host");
  }
  // A page can also send a form to our address itself. Browsers then say where the page is from;
  // programs that report do not.
  if (is_open && !head.field("Origin").empty()) {
    ++counts_.pages;
    return HttpResponse::text(403, "pages send nothing to this server; see --tokens");
  }
  return std::nullopt;
}

// Every user of the machine can connect to a loopback address, so that is no protection.
std::optional<HttpResponse> Collector::check_operator(const HttpRequest& head, Route route) {
  if (route != Route::metrics && route != Route::page) return std::nullopt;
  if (operator_token_->is_in(head) || operator_token_->is_linked_by(head)) return std::nullopt;
  ++counts_.unauthorized;
  HttpResponse response = HttpResponse::text(
      401, "the operator's token is missing or wrong: it is in the store, in operator-token");
  response.fields.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

HttpHandler::Verdict Collector::check(const HttpRequest& head) {
  const Route route = route_of(head);
  if (auto refused = check_method(head, route)) return {std::move(refused)};
  if (auto refused = check_host(head, route)) return {std::move(refused)};
  if (auto refused = check_operator(head, route)) return {std::move(refused)};
  if (route == Route::reports) return check_report(head);
  if (route == Route::sites) return check_sites(head);
  return {};
}

void Collector::handle(HttpRequest request, SendResponse send) {
  switch (route_of(request)) {
    case Route::reports:
      return receive_report(std::move(request), std::move(send));
    case Route::sites:
      return receive_sites(std::move(request), std::move(send));
    default:
      return send(serve_operator(request));
  }
}

void Collector::receive_report(HttpRequest request, SendResponse send) {
  // Decompression and hashes take a thread of their own, so that one bomb delays nobody else's
  // connection.
  const auto kept = std::make_shared<HttpRequest>(std::move(request));
  asio::post(*decoders_, [this, kept, send = std::move(send)] {
    auto report = read_report_head(*kept);
    if (report) {
      report = read_report_body(*std::move(report), *kept, limits_of(options_.max_report_bytes),
                                options_.max_paths_bytes);
    }
    const bool original = is_multipart(kept->field("Content-Type"));
    const auto read = std::make_shared<decltype(report)>(std::move(report));
    asio::post(context_, [this, read, original, send] {
      if (!*read) return send(read->error());
      store(*std::move(*read), original, send);
    });
  });
}

void Collector::store(StoredReport report, bool original, SendResponse send) {
  if (report.id.empty()) report.id = random_id();
  report.received_us = now_us();
  const ReportKey key = key_of(report);
  const auto pending = pending_.find(key.name);
  const std::optional<uint64_t> content =
      pending != pending_.end() ? pending->second.content : ids_.find(key);
  if (content && *content != key.content) {
    ++counts_.conflicts;
    return send(HttpResponse::text(409, "a different report has this id"));
  }
  if (content && pending == pending_.end()) {
    ++counts_.duplicates;
    return send(confirm(report, true, original));
  }
  std::string payload = content ? std::string() : to_payload(report);
  report.body = {};
  const uint64_t bytes = payload.size();
  const bool duplicate = content.has_value();
  Pending& entry = pending_[key.name];
  entry.content = key.content;
  entry.waiters.push_back([this, report = std::move(report), original, duplicate, bytes,
                           send = std::move(send)](const Result<void>& result) {
    if (!result) return send(disk_trouble(result.error()));
    ++(duplicate ? counts_.duplicates : counts_.stored);
    if (!duplicate && report.paths_bytes != 0) ++counts_.stored_paths;
    counts_.stored_bytes += bytes;
    send(confirm(report, duplicate, original));
  });
  if (duplicate) return;  // the first one's completion serves both
  log_->append(std::move(payload), [this, key](const Result<void>& result) {
    asio::post(context_, [this, key, result] { written(key, result); });
  });
}

void Collector::written(const ReportKey& key, const Result<void>& result) {
  auto entry = pending_.extract(key.name);
  if (result) {
    ids_.add(key);
    ids_.settle();
    disk_failed_.reset();
  } else {
    const auto now = RateLimit::Clock::now();
    if (!disk_failed_) events_.error("disk", {{"what", to_string(result.error())}});
    disk_failed_ = now;
    ++counts_.disk_failures;
  }
  for (const Waiter& waiter : entry.mapped().waiters) waiter(result);
}

HttpResponse Collector::disk_trouble(const Error& error) {
  const auto says = [&](int number) {
    return error.detail.contains(std::generic_category().message(number));
  };
  const bool full = says(ENOSPC) || says(EDQUOT);
  return retry_later(full ? 507 : 503, full ? "the disk is full" : "the disk failed",
                     kRetrySeconds);
}

HttpResponse Collector::confirm(const StoredReport& report, bool duplicate, bool original) const {
  HttpResponse response;
  const std::optional<sampler::SamplingWish> wish =
      sampling_.find(report.application, report.build);
  if (original) {
    response.fields.emplace_back("Sampler-unique-id", report.id);
    if (wish)
      response.fields.emplace_back("sampler-change-sparsity", fmt::format("{}", wish->sparsity));
    return response;
  }
  response.content_type = "application/json";
  JsonWriter json(response.body);
  json.begin_object().member("id", report.id).member("duplicate", duplicate).end_object();
  response.body += '\n';
  if (wish) response.fields.emplace_back("Telltale-Sparsity", fmt::format("{}", wish->sparsity));
  if (wish && wish->has_rates) response.fields.emplace_back("Telltale-Rates", rates_text(*wish));
  if (!with_sites_.contains(report.application + "/" + report.build))
    response.fields.emplace_back("Telltale-Sites", "wanted");
  return response;
}

void Collector::receive_sites(HttpRequest request, SendResponse send) {
  const auto kept = std::make_shared<HttpRequest>(std::move(request));
  asio::post(*decoders_, [this, kept, send = std::move(send)] {
    const auto text = std::make_shared<std::expected<std::string, HttpResponse>>(
        decode_body(std::move(kept->body), kept->field("Content-Encoding"),
                    limits_of(options_.max_sites_bytes)));
    asio::post(context_, [this, kept, text, send] {
      if (!*text) return send(text->error());
      send(store_sites(std::string(kept->field("Telltale-Application")),
                       std::string(path_of(*kept).substr(kSites.size())), **text));
    });
  });
}

HttpResponse Collector::store_sites(const std::string& application, const std::string& build,
                                    std::string_view text) {
  if (sampler::kind_of(as_bytes(text)) != sampler::TextKind::sites)
    return HttpResponse::text(400, "the body is not site information");
  const std::string path = store_.sites_of(application, build);
  std::error_code failure;
  if (fs::exists(path, failure)) {
    const Result<InputFile> file = InputFile::open(path);
    if (!file) return disk_trouble(file.error());
    if (std::ranges::equal(file->bytes(), as_bytes(text)))
      return HttpResponse::text(200, "the same site information was there before");
    return HttpResponse::text(409, "the build has other site information");
  }
  Result<void> written = make_folder(fs::path(path).parent_path().string());
  if (written) written = replace_file(path, text);
  if (!written) return disk_trouble(written.error());
  with_sites_.insert(application + "/" + build);
  return HttpResponse::text(201, "stored");
}

HttpResponse Collector::serve_operator(const HttpRequest& request) {
  const Route route = route_of(request);
  if (route == Route::metrics) return {200, "text/plain; version=0.0.4; charset=utf-8", metrics()};
  if (route == Route::health) {
    if (disk_failed_ && RateLimit::Clock::now() - *disk_failed_ < kDiskTrouble)
      return retry_later(503, "the disk fails", kRetrySeconds);
    return HttpResponse::text(200, "ok");
  }
  if (route != Route::page) return not_found();
  if (operator_token_->is_linked_by(request))
    return operator_token_->redirect(options_.operator_tls);
  const Result<InputFile> page = InputFile::open(store_.page());
  if (!page) return HttpResponse::text(200, "no reports have been folded yet: come back later");
  const Bytes bytes = page->bytes();
  HttpResponse response{
      200, "text/html; charset=utf-8", {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  // The page's own policy names its script and style by their hashes.
  response.fields.emplace_back("Content-Security-Policy",
                               "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  return response;
}

HttpHandler::Verdict Collector::OperatorRoutes::check(const HttpRequest& head) {
  const Route route = route_of(head);
  if (route != Route::health && route != Route::metrics && route != Route::page)
    return {not_found()};
  if (head.method != "GET" && head.method != "HEAD")
    return {HttpResponse::text(405, "the method is not GET, HEAD")};
  if (auto refused = collector_.check_host(head, route)) return {std::move(refused)};
  return {collector_.check_operator(head, route)};
}

void Collector::OperatorRoutes::handle(HttpRequest request, SendResponse send) {
  send(collector_.serve_operator(request));
}

}  // namespace telltale::collect
