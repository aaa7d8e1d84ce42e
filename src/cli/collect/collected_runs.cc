#include "cli/collect/collected_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "bytes/input_file.h"
#include "cli/collect/consent.h"
#include "cli/collect/kept_back.h"
#include "cli/options/message.h"
#include "collect/client/upload_url.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

// A run of a study as a report. Signals without a name are numbers there.
collect::StoredReport report_of(const StudyRun& run, const std::string& application,
                                const std::string& file) {
  constexpr std::string_view kUnnamed = "signal ";
  collect::StoredReport report;
  report.application = application;
  report.build = run.build;
  report.label = run.label;
  report.rule = run.rule;
  report.status = run.status;
  report.signal =
      run.signal.starts_with(kUnnamed) ? run.signal.substr(kUnnamed.size()) : run.signal;
  report.seconds = run.seconds;
  report.started = run.started;
  report.sparsity = run.sparsity;
  report.seed = run.seed;
  report.version = run.version;
  const Result<InputFile> text = InputFile::open(file);
  if (text)
    report.body.assign(reinterpret_cast<const char*>(text->bytes().data()), text->bytes().size());
  return report;
}

}  // namespace

void print_not_reported(const Error& error) {
  print_message("telltale: not reported: {}\n", visible(to_string(error)));
}

CollectedRuns::CollectedRuns(collect::ReportSpool spool, std::string application,
                             const StudyOptions& options)
    : spool_(std::move(spool)),
      application_(std::move(application)),
      url_(options.collect_url),
      token_file_(options.token_file),
      quiet_(options.quiet),
      with_paths_(options.collect_paths) {}

Result<std::optional<CollectedRuns>> CollectedRuns::begin(const StudyOptions& options,
                                                          const std::string& program) {
  const auto url = collect::parse_upload_url(options.collect_url);
  if (!url) return std::unexpected(url.error());
  if (!url->tls && !url->is_loopback())
    return usage_error("--collect sends reports over https, or to this machine");
  std::string application = application_of(program);
  if (application.empty())
    return usage_error(program + " has no letter or digit in its name, as applications need");
  // What the user's machine lacks is no reason to keep the program from running.
  const auto not_reported = [&](const Error& error) -> std::optional<CollectedRuns> {
    if (!options.quiet) print_not_reported(error);
    return std::nullopt;
  };
  Result<Consent> consent = read_consent(application);
  if (consent && *consent == Consent::unsaid && options.ask)
    consent = ask_consent(application, url->authority(), options.collect_paths);
  if (!consent) return not_reported(consent.error());
  if (*consent == Consent::off) return std::nullopt;
  const Result<std::string> folder =
      options.spool.empty() ? usual_spool() : Result<std::string>(options.spool);
  if (!folder) return not_reported(folder.error());
  std::error_code failure;
  collect::ReportSpool spool(std::filesystem::absolute(*folder, failure).string());
  if (auto made = spool.create(); !made) return not_reported(made.error());
  return CollectedRuns(std::move(spool), std::move(application), options);
}

sampler::SamplingWish CollectedRuns::wish(const std::string& build) const {
  return spool_.wish(application_, build)
      .value_or(sampler::SamplingWish{.sparsity = sampler::kSpoolSparsity});
}

void CollectedRuns::add(const StudyRun& run, const std::string& report, const std::string& paths) {
  const Result<void> added =
      spool_.add(report_of(run, application_, report), with_paths_ ? paths : "");
  if (!added && !failed_ && !quiet_) print_not_reported(added.error());
  failed_ = failed_ || !added;
}

void CollectedRuns::send() const {
  const auto url = collect::parse_upload_url(url_);
  if (url && print_kept_back(spool_, *url, url_, token_file_, quiet_)) return;
  std::error_code failure;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failure).string();
  std::vector<std::string> words = {program, "send",     spool_.folder(), "--to",
                                    url_,    "--if-due", "--quiet"};
  if (!token_file_.empty()) {
    words.emplace_back("--token-file");
    words.push_back(token_file_);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (::fork() != 0) return;
  // A new session: neither the terminal's signals nor readers of our output concern it.
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR);  // NOLINT(*-vararg)
  if (nothing < 0) ::_exit(127);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::execv(program.c_str(), arguments.data());
  ::_exit(127);
}

}  // namespace telltale::cli
