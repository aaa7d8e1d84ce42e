#include "collect/client/spooled_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "bytes/as_bytes.h"
#include "formats/sampler/backtrace.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/wire.h"

namespace telltale::collect {
namespace {

using sampler::ReportItem;

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Calls `use` for each line without its line feed.
template <typename Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "KEY VALUE" lines of the two parts. Unknown keys are of later releases.
void note_line(std::string_view line, StoredReport& report, bool& has_label) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view key = line.substr(0, blank);
  const std::string value(line.substr(blank + 1));
  if (key == "application") report.application = value;
  if (key == "build") report.build = value;
  if (key == "started") report.started = value;
  if (key == "version") report.version = value;
  if (key == "sparsity") report.sparsity = number_of<uint64_t>(value).value_or(0);
  if (key == "seed") report.seed = number_of<uint64_t>(value);
  if (key == "status") report.status = number_of<int>(value);
  if (key == "signal") report.signal = value;
  if (key == "seconds") report.seconds = number_of<double>(value);
  if (key == "rule") report.rule = value;
  if (const auto label = parse_run_label(value); key == "label" && label) {
    report.label = *label;
    has_label = true;
  }
}

Result<void> check(const StoredReport& report, bool ended, const std::string& name) {
  const auto complain = [&](std::string what) {
    return std::unexpected(Error{Error::Cause::bad_field, name, {}, std::move(what), {}});
  };
  if (!ended) return complain("does not say how the run ended");
  if (!is_application(report.application)) return complain("names no application");
  if (!is_build(report.build)) return complain("names no build: the program has no build-id");
  if (!report.started.empty() && !is_utc_time(report.started))
    return complain("has no valid time of its start");
  return {};
}

void put_part(std::string& out, std::string_view id, std::string_view lines) {
  out += fmt::format("<report id=\"{}\">\n{}</report>\n", id, lines);
}

// The module of a line of a backtrace without its folders; nothing, if the line is of another form.
std::string without_folders(std::string_view line) {
  const auto frame = sampler::parse_backtrace_frame(line);
  if (!frame) return {};
  const size_t folders = frame->module.rfind('/') + 1;  // 0: there is none
  const size_t module_at =
      frame->module.empty() ? 0 : static_cast<size_t>(frame->module.data() - line.data());
  return fmt::format("{}\n", line.substr(module_at + folders));
}

}  // namespace

bool is_ending_by_wish(std::string_view signal) {
  constexpr std::array<std::string_view, 6> kWishes = {"SIGINT",  "SIGTERM", "SIGHUP",
                                                       "SIGQUIT", "SIGPIPE", "SIGXCPU"};
  return std::ranges::find(kWishes, signal) != kWishes.end();
}

std::string to_spooled(const StoredReport& report) {
  std::string run = fmt::format("application {}\nbuild {}\n", report.application, report.build);
  if (!report.started.empty()) run += fmt::format("started {}\n", report.started);
  if (!report.version.empty()) run += fmt::format("version {}\n", report.version);
  if (report.sparsity != 0) run += fmt::format("sparsity {}\n", report.sparsity);
  if (report.seed) run += fmt::format("seed {}\n", *report.seed);
  std::string outcome;
  if (!report.signal.empty()) outcome += fmt::format("signal {}\n", report.signal);
  if (report.status) outcome += fmt::format("status {}\n", *report.status);
  if (report.seconds) outcome += fmt::format("seconds {:.6f}\n", *report.seconds);
  outcome += fmt::format("label {}\n", to_string(report.label));
  if (!report.rule.empty()) outcome += fmt::format("rule {}\n", report.rule);
  std::string text;
  put_part(text, sampler::kRunReport, run);
  text += report.body;
  if (!text.ends_with('\n')) text += '\n';  // of a torn report
  put_part(text, sampler::kOutcomeReport, outcome);
  return text;
}

Result<StoredReport> read_spooled(Bytes file, const std::string& name) {
  StoredReport report;
  bool has_label = false;
  bool ended = false;
  bool ours = false;
  sampler::ReportReader reader(file);
  while (const auto item = reader.next()) {
    if (item->kind == ReportItem::Kind::report_begin) {
      const bool outcome = item->id == sampler::kOutcomeReport;
      ours = outcome || item->id == sampler::kRunReport;
      if (outcome) {
        ended = true;  // of several the last one counts
        report.status.reset();
        report.signal.clear();
      }
    }
    if (!ours) {
      report.body += item->bytes;
    } else if (item->kind == ReportItem::Kind::text) {
      for_each_line(item->bytes,
                    [&](std::string_view line) { note_line(line, report, has_label); });
    }
    if (item->kind == ReportItem::Kind::report_end) ours = false;
  }
  if (auto checked = check(report, ended, name); !checked) return std::unexpected(checked.error());
  if (!has_label) {
    const bool failed = !report.signal.empty() || report.status.value_or(0) != 0;
    report.label = failed ? RunLabel::failed : RunLabel::passed;
    if (is_ending_by_wish(report.signal)) report.label = RunLabel::skipped;
  }
  return report;
}

std::string redacted(Bytes report) {
  std::string text;
  bool kept = false;
  bool backtrace = false;
  sampler::ReportReader reader(report, sampler::ReportReader::Sections::all);
  while (const auto item = reader.next()) {
    switch (item->kind) {
      case ReportItem::Kind::report_begin:
        backtrace = item->id == sampler::kBacktraceReport;
        kept = backtrace || item->id == sampler::kSamplesReport ||
               item->id == sampler::kFirstSamplesReport;
        if (kept) text += item->bytes;
        break;
      case ReportItem::Kind::report_end:
        if (kept) text += item->bytes;
        kept = false;
        break;
      case ReportItem::Kind::text:
        if (kept && backtrace)
          for_each_line(item->bytes, [&](std::string_view line) { text += without_folders(line); });
        break;
      case ReportItem::Kind::samples:
      case ReportItem::Kind::timestamps:
        if (kept) text += item->bytes;
        break;
      case ReportItem::Kind::skipped:
        break;
    }
  }
  return text;
}

}  // namespace telltale::collect
