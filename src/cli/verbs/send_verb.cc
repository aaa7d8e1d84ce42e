// `telltale send`: sends the reports of a spool to a server.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "bytes/input_file.h"
#include "cli/collect/consent.h"
#include "cli/options/reading_options.h"
#include "cli/study/run_row.h"
#include "cli/verbs/verbs.h"
#include "collect/client/send_reports.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

using collect::ReportSpool;
using collect::SendOutcome;
using Clock = std::chrono::system_clock;

struct SendVerbOptions {
  std::string spool;
  std::string to;
  std::string token_file;
  std::string keep_trying;
  uint64_t first_wait = 60;
  uint64_t give_up_days = 30;
  uint64_t most_bytes = uint64_t{256} << 20;
  bool if_due = false;
  bool plain_http = false;
  bool quiet = false;
  collect::SendOptions send;
};

bool may_send(const std::string& application) { return read_consent(application) != Consent::off; }

// A file with the token alone, or the variable TELLTALE_TOKEN: command lines are not secret.
Result<std::string> read_token(const std::string& path) {
  std::string token;
  if (path.empty()) {
    const char* const variable = ::secure_getenv("TELLTALE_TOKEN");
    token = variable == nullptr ? "" : variable;
  } else {
    const Result<InputFile> file = InputFile::open(path);
    if (!file) return std::unexpected(file.error());
    token.assign(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  }
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; }))
    return usage_error("the token has characters that are not visible");
  return token;
}

std::string counted(uint64_t number, const char* what) {
  return fmt::format("{} report{} {}", number, number == 1 ? "" : "s", what);
}

void say(const SendOutcome& outcome) {
  std::string line = counted(outcome.sent, "sent");
  const auto add = [&](uint64_t number, const char* what) {
    if (number != 0) line += ", " + fmt::format("{} {}", number, what);
  };
  add(outcome.refused, "refused");
  add(outcome.unwanted, "removed without consent");
  add(outcome.unreadable, "unreadable");
  add(outcome.given_up, "given up");
  add(outcome.left, "left");
  fmt::print(stderr, "telltale: {}\n", line);
  if (outcome.trouble.empty()) return;
  fmt::print(stderr, "telltale: {}; next attempt in {} s\n", visible(outcome.trouble),
             outcome.retry_after.count());
}

int send(SendVerbOptions& options) {
  const auto url = collect::parse_upload_url(options.to);
  if (!url) return report_error(url.error());
  if (!url->tls && !url->is_loopback() && !options.plain_http)
    return report_error(
        usage_error("reports are sent over https, or to this machine; --plain-http allows others")
            .error());
  if (options.spool.empty()) {
    Result<std::string> usual = usual_spool();
    if (!usual) return report_error(usual.error());
    options.spool = *std::move(usual);
  }
  Result<std::string> token = read_token(options.token_file);
  if (!token) return report_error(token.error());
  const Result<double> patience =
      options.keep_trying.empty() ? Result<double>(0.0) : parse_timeout(options.keep_trying);
  if (!patience) return report_error(patience.error());
  const ReportSpool spool(options.spool);
  std::error_code failure;
  if (!std::filesystem::is_directory(options.spool, failure))
    return report_error(io_error(options.spool, "cannot be read", ENOENT).error());

  options.send.url = *url;
  options.send.token = *std::move(token);
  options.send.first_wait = std::chrono::seconds(options.first_wait);
  options.send.give_up_after = std::chrono::days(options.give_up_days);
  options.send.most_bytes = options.most_bytes;
  options.send.may_send = may_send;
  options.send.queues = options.if_due;
  if (options.if_due && Clock::now() < collect::read_retry(spool).due) return kDone;
  const auto end = Clock::now() + std::chrono::duration<double>(*patience);
  for (;;) {
    ProblemLog problems;
    const Result<SendOutcome> outcome = collect::send_reports(spool, options.send, problems);
    if (!outcome) return report_error(outcome.error());
    if (!options.quiet) {
      for (const Problem& problem : problems.kept())
        fmt::print(stderr, "telltale: {}: {}\n", visible(problem.file), visible(problem.message));
      say(*outcome);
    }
    if (outcome->left == 0) return outcome->refused + outcome->unreadable == 0 ? kDone : kFinding;
    if (Clock::now() + outcome->retry_after > end) return kFinding;
    std::this_thread::sleep_for(outcome->retry_after);
  }
}

}  // namespace

void add_send_verb(Command app, int& status) {
  Command verb =
      app.add_verb("send", "send reports that wait in a folder to a server (telltale collect)");
  const auto options = std::make_shared<SendVerbOptions>();
  verb.add_option("SPOOL", options->spool,
                  "folder of reports (default: TELLTALE_COLLECT, or telltale/spool in the user's "
                  "folder for state)");
  verb.add_option("--to", options->to, "the server, such as https://reports.example:8443")
      .type_name("URL")
      .required();
  verb.add_option("--token-file", options->token_file,
                  "file with the token that the server asks for (default: TELLTALE_TOKEN)")
      .type_name("FILE");
  verb.add_option("--authorities", options->send.upload.authorities,
                  "PEM file of the certificates that vouch for the server (default: the system's)")
      .type_name("FILE");
  verb.add_flag("--plain-http", options->plain_http,
                "allow http without TLS to other machines than this one");
  verb.add_flag("--unredacted", options->send.unredacted,
                "send folders in backtraces too, and parts of reports that telltale does not know");
  verb.add_option("--keep-trying", options->keep_trying,
                  "if the server cannot be reached, try again until this time has passed, such as "
                  "2h: after a minute, two, four, up to six hours")
      .type_name("TIME");
  verb.add_option("--first-wait", options->first_wait,
                  "seconds after the first attempt that failed")
      .in_range(uint64_t{1}, uint64_t{21600})
      .type_name("N")
      .show_default();
  verb.add_flag("--if-due", options->if_due,
                "do nothing if the last attempt failed and its wait is not over; if another "
                "process is sending, wait for it");
  verb.add_option("--give-up-days", options->give_up_days, "remove reports that are older")
      .in_range(uint64_t{1}, uint64_t{3650})
      .type_name("N")
      .show_default();
  verb.add_option("--max-bytes", options->most_bytes,
                  "remove the oldest reports while there are more bytes than this")
      .type_name("N")
      .show_default();
  verb.add_flag("-q,--quiet", options->quiet, "print errors only");
  verb.footer(
      "Exit status: 0 all reports are sent; 1 some wait for the next attempt, or were\n"
      "refused. A report is removed when the server has stored it. Reports of\n"
      "applications for which the user's consent is off are removed and not sent.\n");
  verb.callback([options, &status] { status = send(*options); });
}

}  // namespace telltale::cli
