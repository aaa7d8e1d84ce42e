#include "cli/network/collect_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/record/child_process.h"
#include "cli/verbs/verbs.h"
#include "collect/store/roll_request.h"

namespace telltale::cli {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using collect::Collector;
using collect::HttpServer;
using collect::ListenAddress;
using collect::StoreFolder;

constexpr unsigned kDrainSeconds = 10;
// The log is folded early if it has grown to this size.
constexpr uint64_t kFoldBytes = uint64_t{1} << 30;
constexpr std::chrono::seconds kFoldCheck{1};

// As many connections as the kernel lets this process have.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t bytes_of(const StoreFolder& store) {
  uint64_t bytes = 0;
  const auto paths = collect::files_in(store.log(), ".log");
  if (!paths) return bytes;
  for (const std::string& path : *paths) {
    std::error_code failure;
    const uintmax_t size = std::filesystem::file_size(path, failure);
    bytes += failure ? 0 : size;
  }
  return bytes;
}

// A server with everything that runs beside it, on one thread.
class Service {
 public:
  Service(asio::io_context& context, const CollectOptions& options, const std::string& telltale)
      : context_(context),
        options_(options),
        telltale_(telltale),
        store_(options.store),
        signals_(context, SIGTERM, SIGINT, SIGHUP),
        children_(context, SIGCHLD),
        fold_check_(context) {}

  Result<void> start() {
    const auto address = collect::parse_listen_address(options_.listen);
    if (!address) return std::unexpected(address.error());
    collect::CollectorOptions collector = options_.collector;
    collector.serves_operator = options_.operator_listen.empty() && address->is_loopback();
    std::optional<ListenAddress> second;  // of the operator's pages
    if (!collector.serves_operator && !options_.operator_listen.empty()) {
      const auto parsed = collect::parse_listen_address(options_.operator_listen);
      if (!parsed) return std::unexpected(parsed.error());
      second = *parsed;
    }
    // If the operator's pages have their own loopback address, they need no TLS: the traffic stays
    // on this machine.
    const bool over_network = second && !second->is_loopback();
    collector.operator_tls =
        !options_.http.certificate.empty() && (collector.serves_operator || over_network);
    if (auto safe = check_address(*address); !safe) return safe;
    if (over_network && !collector.operator_tls && !options_.plain_http)
      return usage_error(
          "without TLS the operator's token is received on loopback addresses only: use "
          "--certificate and --key, or --plain-http behind a proxy");
    auto opened = Collector::open(context_, store_, collector, events_);
    if (!opened) return std::unexpected(opened.error());
    collector_ = *std::move(opened);
    collect::HttpServerOptions http = options_.http;
    http.max_connections = options_.max_connections;
    if (auto listening = listen(*address, http, *collector_); !listening) return listening;
    std::string page = collector.serves_operator ? page_of(*address, collector.operator_tls) : "";
    if (second) {
      const auto second_http =
          collector.operator_tls ? options_.http : collect::HttpServerOptions();
      if (auto listening = listen(*second, second_http, collector_->operator_routes()); !listening)
        return listening;
      page = page_of(*second, collector.operator_tls);
    }
    events_.info("ready", {{"address", address->host}, {"port", uint64_t{servers_[0]->port()}}});
    show_page(page);
    wait_for_signal();
    last_fold_ = std::chrono::steady_clock::now();
    check_fold();
    return {};
  }

 private:
  // The status page's address at the server that was started last.
  [[nodiscard]] std::string page_of(const ListenAddress& address, bool tls) const {
    const bool is_any = address.host.empty() || address.host == "0.0.0.0" || address.host == "::";
    std::string host = is_any ? "localhost" : address.host;
    if (host.contains(':')) host = "[" + host + "]";
    return fmt::format("{}://{}:{}{}", tls ? "https" : "http", host, servers_.back()->port(),
                       collector_->operator_link());
  }

  // For the person who starts the server by hand. Logs get no token.
  static void show_page(const std::string& page) {
    if (page.empty() || ::isatty(STDERR_FILENO) == 0) return;
    print_message("telltale: status page: {}\n", page);
  }

  [[nodiscard]] Result<void> check_address(const ListenAddress& address) const {
    if (address.is_loopback()) return {};
    if (options_.http.certificate.empty() && !options_.plain_http)
      return usage_error(
          "without TLS reports are received on loopback addresses only: use --certificate and "
          "--key, or --plain-http behind a proxy");
    if (options_.collector.tokens.empty())
      return usage_error("without --tokens reports are received on loopback addresses only");
    return {};
  }

  Result<void> listen(const ListenAddress& address, const collect::HttpServerOptions& http,
                      collect::HttpHandler& handler) {
    auto server = HttpServer::listen(context_, address, http, handler);
    if (!server) return std::unexpected(server.error());
    collector_->watch(**server);
    servers_.push_back(*std::move(server));
    return {};
  }

  void wait_for_signal() {
    signals_.async_wait([this](error_code failure, int signal) {
      if (failure) return;
      if (signal != SIGHUP) return shut_down();
      Result<void> read = collector_->reload();
      for (const auto& server : servers_) {
        if (read) read = server->reload();
      }
      if (read) {
        events_.info("reloaded");
      } else {
        events_.error("not_reloaded", {{"what", to_string(read.error())}});
      }
      wait_for_signal();
    });
  }

  void shut_down() {
    events_.info("stopping");
    fold_check_.cancel();
    fold_check_stopped_ = true;
    left_ = servers_.size();
    for (const auto& server : servers_) {
      server->shut_down(kDrainSeconds, [this] {
        if (--left_ != 0) return;
        children_.cancel();
        events_.info("stopped");
        context_.stop();
      });
    }
  }

  void check_fold() {
    fold_check_.expires_after(kFoldCheck);
    fold_check_.async_wait([this](error_code failure) {
      if (failure || fold_check_stopped_) return;
      if (collect::take_roll_request(store_)) collector_->roll();
      const auto now = std::chrono::steady_clock::now();
      const bool due = now - last_fold_ >= std::chrono::seconds(options_.fold_seconds) ||
                       collector_->unfolded_bytes() > kFoldBytes;
      if (options_.fold_seconds != 0 && due && !child_) fold();
      check_fold();
    });
  }

  // Folding is done by another process: its memory is not the server's, and its failure costs
  // nothing but time.
  void fold() {
    last_fold_ = std::chrono::steady_clock::now();
    if (collector_->unfolded_bytes() != 0) collector_->roll();
    children_.async_wait([this](error_code failure, int) {
      if (!failure) child_ended();
    });
    std::vector<std::string> words = {telltale_, "store", "fold", options_.store, "--quiet"};
    if (options_.keep_days != 0) {
      words.emplace_back("--keep-days");
      words.push_back(fmt::format("{}", options_.keep_days));
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    // What it prints becomes a member of an event: standard error has one JSON object a line.
    complaints_.reset(std::tmpfile());
    const int complaints = complaints_ ? ::fileno(complaints_.get()) : STDERR_FILENO;
    context_.notify_fork(asio::io_context::fork_prepare);
    const pid_t child = ::fork();
    if (child == 0) {
      // Only functions that are safe between fork and exec.
      ::setpriority(PRIO_PROCESS, 0, 10);
      ::dup2(complaints, STDERR_FILENO);
      // It must not keep the server's sockets: a server that is started again listens on them.
      constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC
      ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, kCloseOnExec);
      ::execv(telltale_.c_str(), arguments.data());
      ::_exit(127);
    }
    context_.notify_fork(asio::io_context::fork_parent);
    if (child < 0) {
      take_complaints();
      events_.error("fold", {{"what", std::string("cannot start a process")}});
    } else {
      child_ = child;
    }
  }

  void child_ended() {
    int status = 0;
    if (!child_ || ::waitpid(*child_, &status, WNOHANG) != *child_) {
      if (child_)
        children_.async_wait([this](error_code failure, int) {
          if (!failure) child_ended();
        });
      return;
    }
    child_.reset();
    const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const std::string complaints = take_complaints();
    collector_->count_fold(done);
    collector_->folded(bytes_of(store_));
    if (done && complaints.empty()) return;
    const bool exited = WIFEXITED(status);
    events_.error("fold", {{exited ? "status" : "signal",
                            static_cast<uint64_t>(exited ? WEXITSTATUS(status) : WTERMSIG(status))},
                           {"what", complaints}});
  }

  // What the process that folded printed, up to 4 KiB.
  std::string take_complaints() {
    std::string text;
    if (!complaints_) return text;
    text.resize(4096);
    const ssize_t got = ::pread(::fileno(complaints_.get()), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    complaints_.reset();
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  asio::io_context& context_;
  const CollectOptions& options_;
  const std::string& telltale_;
  const StoreFolder store_;
  collect::EventLog events_{STDERR_FILENO};
  std::unique_ptr<Collector> collector_;
  std::vector<std::unique_ptr<HttpServer>> servers_;
  asio::signal_set signals_;
  asio::signal_set children_;
  asio::steady_timer fold_check_;
  bool fold_check_stopped_ = false;
  std::chrono::steady_clock::time_point last_fold_;
  std::optional<pid_t> child_;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, CloseFile> complaints_;  // the child's standard error; null: none
  size_t left_ = 0;
};

}  // namespace

int serve_reports(const CollectOptions& options, const std::string& telltale) {
  raise_file_limit();
  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context context(1);
  Service service(context, options, telltale);
  if (const auto started = service.start(); !started) return report_error(started.error());
  context.run();
  return kDone;
}

}  // namespace telltale::cli
