#include "collect/sender/send_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <utility>

#include "bytes/as_bytes.h"
#include "bytes/input_file.h"
#include "collect/client/redacted_paths.h"
#include "collect/client/sampling_wish_text.h"
#include "collect/client/spooled_report.h"
#include "collect/compress.h"
#include "collect/log/durable_file.h"

namespace telltale::collect {
namespace {

enum class Fate : uint8_t { sent, repeated, refused, later };

// What a reply says of the report (docs/formats/collect.md, "Replies").
Fate fate_of(const UploadReply& reply) {
  if (reply.status == 200)
    return reply.body.contains("\"duplicate\":true") ? Fate::repeated : Fate::sent;
  // 401 and 421 end when somebody mends the server's or the client's options.
  constexpr std::array kPassing = {401U, 408U, 421U, 429U};
  const bool final = reply.status >= 400 && reply.status < 500 &&
                     std::ranges::find(kPassing, reply.status) == kPassing.end();
  return final ? Fate::refused : Fate::later;
}

UploadRequest request_of(const StoredReport& report, const std::string& paths,
                         const std::string& id, const SendOptions& options, bool compressed) {
  UploadRequest request;
  request.target = "/v1/reports";
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) request.fields.emplace_back(name, std::move(value));
  };
  if (!options.token.empty()) add("Authorization", "Bearer " + options.token);
  add("Telltale-Application", report.application);
  add("Telltale-Build", report.build);
  add("Telltale-Report-Id", id);
  add("Telltale-Label", std::string(to_string(report.label)));
  add("Telltale-Rule", report.rule);
  add("Telltale-Signal", report.signal);
  if (report.status) add("Telltale-Status", fmt::format("{}", *report.status));
  if (report.seconds) add("Telltale-Seconds", fmt::format("{}", *report.seconds));
  add("Telltale-Started", report.started);
  if (report.sparsity != 0) add("Telltale-Sparsity", fmt::format("{}", report.sparsity));
  if (report.seed) add("Telltale-Seed", fmt::format("{}", *report.seed));
  add("Telltale-Version", report.version);
  request.body = options.unredacted ? report.body : redacted(as_bytes(report.body));
  if (!paths.empty()) {
    add("Telltale-Paths-Bytes", fmt::format("{}", paths.size()));
    request.body += paths;
  }
  if (!compressed) return request;
  std::string packed = gzip(as_bytes(request.body));
  if (packed.empty()) return request;
  request.body = std::move(packed);
  add("Content-Encoding", "gzip");
  return request;
}

class Sender {
 public:
  Sender(const ReportSpool& spool, const SendOptions& options, UploadConnection& connection,
         ProblemLog& problems, SendOutcome& outcome)
      : spool_(spool),
        options_(options),
        connection_(connection),
        problems_(problems),
        outcome_(outcome) {}

  // False: the others have to wait, too. Errors: io.
  Result<bool> send(const ReportSpool::Entry& entry) {
    auto report = read(entry);
    if (!report) {
      ++outcome_.unreadable;
      note(entry, report.error().detail);
      return remove(entry);
    }
    if (options_.may_send != nullptr && !options_.may_send(report->application)) {
      ++outcome_.unwanted;
      return remove(entry);
    }
    std::string paths = read_paths(entry);
    auto reply = post(*report, paths, entry.id);
    // An older server takes no path files, another one only smaller ones.
    if (reply && !paths.empty() && (reply->status == kMalformed || reply->status == kTooLarge)) {
      leave_out_paths(entry, "refused by the server: " + line_of(*reply));
      paths.clear();
      reply = post(*report, paths, entry.id);
    }
    if (!reply) {
      outcome_.trouble = to_string(reply.error());
      return false;
    }
    return settle(entry, *report, !paths.empty(), *reply);
  }

 private:
  static constexpr unsigned kMalformed = 400;
  static constexpr unsigned kTooLarge = 413;
  static constexpr unsigned kUnknownEncoding = 415;

  Result<UploadReply> post(const StoredReport& report, const std::string& paths,
                           const std::string& id) {
    auto reply = connection_.post(request_of(report, paths, id, options_, true));
    if (reply && reply->status == kUnknownEncoding)
      reply = connection_.post(request_of(report, paths, id, options_, false));
    return reply;
  }

  // The run's path file as it is sent; empty: there is none, or none that can be sent.
  std::string read_paths(const ReportSpool::Entry& entry) {
    if (entry.paths.empty()) return {};
    // Mostly zeros: compressed, it looks like a decompression bomb.
    const Result<InputFile> file = InputFile::open(entry.paths, {options_.most_paths_bytes, 0, 0});
    if (file && file->bytes().size() > options_.most_paths_bytes) {
      leave_out_paths(entry, fmt::format("has more than {} bytes", options_.most_paths_bytes));
      return {};
    }
    Result<std::string> paths = file ? redacted_paths(file->bytes(), entry.paths)
                                     : Result<std::string>(std::unexpected(file.error()));
    if (!paths) {
      leave_out_paths(entry, paths.error().detail);
      return {};
    }
    if (!options_.unredacted) return *std::move(paths);
    return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
  }

  void leave_out_paths(const ReportSpool::Entry& entry, const std::string& why) {
    ++outcome_.without_paths;
    problems_.add(
        {Problem::Kind::loss, 0, entry.paths, "", "the path file is left out: " + why, 0});
  }

  static std::string line_of(const UploadReply& reply) {
    return fmt::format("{} {}", reply.status,
                       reply.body.substr(0, reply.body.find_first_of("\r\n")));
  }

  static Result<StoredReport> read(const ReportSpool::Entry& entry) {
    const Result<InputFile> file = InputFile::open(entry.path);
    if (!file) return std::unexpected(file.error());
    return read_spooled(file->bytes(), entry.path);
  }

  Result<bool> settle(const ReportSpool::Entry& entry, const StoredReport& report, bool has_paths,
                      const UploadReply& reply) {
    const std::string line = line_of(reply);
    switch (fate_of(reply)) {
      case Fate::later:
        outcome_.trouble = fmt::format("{}: {}", options_.url.authority(), line);
        outcome_.retry_after = reply.retry_after;
        return false;
      case Fate::refused:
        ++outcome_.refused;
        note(entry, "refused by the server: " + line);
        return remove(entry);
      case Fate::repeated:
        ++outcome_.repeated;
        break;
      case Fate::sent:
        break;
    }
    ++outcome_.sent;
    outcome_.with_paths += has_paths ? 1 : 0;
    if (auto noted = note_wish(entry, report.build, reply); !noted)
      return std::unexpected(noted.error());
    return remove(entry);
  }

  // Whatever else a reply says is ignored: a server may not have known better, or not be ours.
  Result<void> note_wish(const ReportSpool::Entry& entry, const std::string& build,
                         const UploadReply& reply) {
    if (reply.sparsity.empty() && reply.rates.empty()) return {};
    sampler::SamplingWish wish;
    if (!sampler::read_wish_number(wish_text(reply.sparsity), sampler::kMostSparsity,
                                   wish.sparsity) ||
        (!reply.rates.empty() && !sampler::read_rates(wish_text(reply.rates), wish.first))) {
      ++outcome_.ignored_wishes;
      note(entry,
           fmt::format("the server's reply asks for sparsity \"{}\" and rates \"{}\"; ignored",
                       reply.sparsity, reply.rates));
      return {};
    }
    wish.has_rates = !reply.rates.empty();
    const auto noted = spool_.noted_wish(build);
    if (noted && to_text(*noted) == to_text(wish)) return {};
    return spool_.note_wish(build, wish);
  }

  static Result<bool> remove(const ReportSpool::Entry& entry) {
    if (auto removed = ReportSpool::remove(entry); !removed)
      return std::unexpected(removed.error());
    return true;
  }

  void note(const ReportSpool::Entry& entry, std::string what) {
    problems_.add({Problem::Kind::corruption, 0, entry.path, "", std::move(what), entry.bytes});
  }

  const ReportSpool& spool_;
  const SendOptions& options_;
  UploadConnection& connection_;
  ProblemLog& problems_;
  SendOutcome& outcome_;
};

// A process that adds a report and then queues is behind one that has listed the reports, or ahead
// of one that will.
Result<LockFile> take_turn(const ReportSpool& spool, bool queues) {
  if (!queues) return LockFile::take(spool.lock(), false);
  const Result<LockFile> first = LockFile::take(spool.queue_lock(), false);
  if (!first) return std::unexpected(first.error());
  return LockFile::take(spool.lock(), true);
}

}  // namespace

Result<SendOutcome> send_reports(const ReportSpool& spool, const SendOptions& options,
                                 ProblemLog& problems) {
  const Result<LockFile> lock = take_turn(spool, options.queues);
  if (!lock) return std::unexpected(lock.error());
  SendOutcome outcome;
  outcome.given_up =
      spool.remove_abandoned() + spool.give_up(options.give_up_after, options.most_bytes);
  Result<UploadConnection> connection = UploadConnection::open(options.url, options.upload);
  if (!connection) return std::unexpected(connection.error());
  Sender sender(spool, options, *connection, problems, outcome);
  // What is added meanwhile is the next attempt's.
  for (const ReportSpool::Entry& entry : spool.entries()) {
    const Result<bool> next = sender.send(entry);
    if (!next) return std::unexpected(next.error());
    if (!*next) break;
  }
  Result<void> noted;
  if (outcome.trouble.empty()) {
    noted = remove_retry(spool);
  } else {
    Retry retry;
    outcome.left = spool.entries().size();
    retry.attempts = outcome.sent != 0 ? 1 : read_retry(spool, options.url).attempts + 1;
    std::random_device random;
    const double part = static_cast<double>(random()) / 4294967296.0;
    outcome.retry_after = wait_after(retry.attempts, options.first_wait, outcome.retry_after, part);
    retry.due = std::chrono::system_clock::now() + outcome.retry_after;
    noted = write_retry(spool, options.url, retry);
  }
  if (!noted) return std::unexpected(noted.error());
  return outcome;
}

}  // namespace telltale::collect
