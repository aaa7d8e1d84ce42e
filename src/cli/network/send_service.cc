#include "cli/network/send_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "bytes/input_file.h"
#include "cli/collect/consent.h"
#include "cli/collect/kept_back.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/study/run_row.h"
#include "cli/verbs/verbs.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

using collect::ReportSpool;
using collect::SendOutcome;
using Clock = std::chrono::system_clock;

bool may_send(const std::string& application) {
  return read_consent(application).value_or(Consent::off) != Consent::off;
}

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
  add(outcome.with_paths, "of them with path files");
  add(outcome.without_paths, "path files left out");
  add(outcome.refused, "refused");
  add(outcome.unwanted, "removed without consent");
  add(outcome.unreadable, "unreadable");
  add(outcome.given_up, "given up");
  add(outcome.ignored_wishes, "replies with an invalid sampling rate ignored");
  add(outcome.left, "left");
  print_message("telltale: {}\n", line);
  if (outcome.trouble.empty()) return;
  print_message("telltale: {}; next attempt in {} s\n", visible(outcome.trouble),
                outcome.retry_after.count());
}

}  // namespace

int send_spool(SendVerbOptions options) {
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
  if (options.if_due && print_kept_back(spool, *url, options.to, options.token_file, options.quiet))
    return kDone;
  const auto end = Clock::now() + std::chrono::duration<double>(*patience);
  for (;;) {
    // Reports without consent are removed, which is no answer to a file that cannot be read.
    if (const auto readable = read_consent(""); !readable) return report_error(readable.error());
    ProblemLog problems;
    const Result<SendOutcome> outcome = collect::send_reports(spool, options.send, problems);
    if (!outcome) return report_error(outcome.error());
    if (!options.quiet) {
      for (const Problem& problem : problems.kept())
        print_message("telltale: {}: {}\n", visible(problem.file), visible(problem.message));
      say(*outcome);
    }
    if (outcome->left == 0) return outcome->refused + outcome->unreadable == 0 ? kDone : kFinding;
    if (Clock::now() + outcome->retry_after > end) return kFinding;
    std::this_thread::sleep_for(outcome->retry_after);
  }
}

}  // namespace telltale::cli
