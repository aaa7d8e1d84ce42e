// `telltale store`: folds, describes and prunes the store of `telltale collect`.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/folder_access.h"
#include "bytes/input_file.h"
#include "cli/collect/status_page.h"
#include "cli/options/message.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/study/program_sites.h"
#include "cli/verbs/verbs.h"
#include "collect/log/durable_file.h"
#include "collect/store/fold.h"
#include "collect/store/report_parts.h"
#include "collect/store/roll_request.h"
#include "collect/store/store_paths.h"
#include "collect/store/store_summary.h"
#include "output/escape.h"
#include "output/output_file.h"
#include "output/table/json_document.h"
#include "output/table/table.h"
#include "report/schemas/schemas.h"
#include "report/schemas/store_schemas.h"

namespace telltale::cli {
namespace {

using collect::StoreFolder;

struct StoreVerbOptions {
  std::string action;
  std::string store;
  std::vector<std::string> arguments;
  std::string application;
  OutputOption output;
  uint64_t keep_days = 0;
  bool quiet = false;
  bool json = false;
};

int show_info(const StoreVerbOptions& options, const StoreFolder& store) {
  const auto summary = collect::summarize(store);
  if (!summary) return report_error(summary.error());
  Table table{TableSchema(schemas::store_columns())};
  for (const collect::BuildSummary& build : summary->builds) {
    table.add_row({build.application, build.build, build.version, build.first_day, build.last_day,
                   build.runs, build.failed, build.passed, build.skipped, build.without_report,
                   build.has_sites ? "yes" : "no"});
  }
  const bool printed =
      print(options.json ? rows_document(schemas::kStore, "", table, summary->problems)
                         : table.to_text());
  if (store.has_unfolded().value_or(false)) {
    print_message(
        "telltale: {}: it has reports that are not folded yet, and not counted: telltale "
        "store fold {}\n",
        visible(options.store), visible(options.store));
  }
  const int status = report_problems({}, summary->problems);
  return printed ? status : kUnreadable;
}

std::string day_before(uint64_t days) {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const auto then = now - std::chrono::days(static_cast<int64_t>(days));
  return collect::day_of(static_cast<uint64_t>(std::max<int64_t>(then.count(), 0)));
}

// After this time the fold goes on without the segment of a server that does not answer.
constexpr std::chrono::seconds kServerPatience{10};

int fold(const StoreVerbOptions& options, const StoreFolder& store) {
  const auto rolled = collect::request_roll(store, kServerPatience);
  if (!rolled) return report_error(rolled.error());
  const auto folded = collect::fold(store);
  if (!folded) return report_error(folded.error());
  uint64_t removed = 0;
  if (options.keep_days != 0) {
    const auto old = collect::remove_before(store, day_before(options.keep_days));
    if (!old) return report_error(old.error());
    removed = *old;
  }
  if (auto written = write_status_page(store); !written) return report_error(written.error());
  if (options.quiet) return kDone;
  if (!*rolled) {
    print_message(
        "telltale: {}: the server did not end the segment that it writes; its newest "
        "reports are not folded\n",
        visible(options.store));
  }
  print_message("telltale: {}: {} of {} in {}", visible(options.store),
                counted(folded->reports, "report"), counted(folded->segments, "segment"),
                counted(folded->files, "new file"));
  if (folded->duplicates != 0) print_message(", {} repeated ones", folded->duplicates);
  if (folded->deleted != 0) print_message(", {} deleted ones", folded->deleted);
  if (removed != 0) print_message("; {} removed", counted(removed, "old file"));
  print_message("\n");
  return report_problems({}, folded->problems, "");
}

int remove_reports(const StoreVerbOptions& options, const StoreFolder& store) {
  if (options.application.empty() || options.arguments.empty())
    return report_error(usage_error("delete needs --application and ids of reports").error());
  const auto deleted = collect::delete_reports(store, options.application, options.arguments);
  if (!deleted) return report_error(deleted.error());
  print_message("telltale: {} of {} deleted\n", *deleted,
                counted(options.arguments.size(), "report"));
  return kDone;
}

// The sites of a program, if it has some.
Result<void> add_site_table(const StoreVerbOptions& options, const StoreFolder& store,
                            const std::string& program) {
  ProblemLog problems;
  const auto sites = read_program_sites(program, problems);
  if (!sites) return std::unexpected(sites.error());
  const std::string path = store.sites_of(options.application, sites->build);
  if (auto made = collect::make_folder(std::filesystem::path(path).parent_path().string()); !made)
    return made;
  if (auto written = collect::replace_file(path, sites->text); !written) return written;
  print_message("telltale: {}: site information of build {}\n", visible(options.store),
                sites->build);
  report_problems({}, problems, "");
  return {};
}

// Stores the site information of programs under their build-ids, and those programs that path files
// are read with.
int add_sites(const StoreVerbOptions& options, const StoreFolder& store) {
  if (!collect::is_application(options.application) || options.arguments.empty())
    return report_error(usage_error("sites needs --application and programs").error());
  for (const std::string& program : options.arguments) {
    const Result<std::string> traced = traced_build_of(program);
    if (!traced) return report_error(traced.error());
    const auto added = add_site_table(options, store, program);
    // Path tracing alone has no sites.
    if (!added && (traced->empty() || added.error().cause == Error::Cause::io))
      return report_error(added.error());
    if (traced->empty()) continue;
    const auto kept = collect::store_program(store, options.application, *traced, program);
    if (!kept) return report_error(kept.error());
    print_message("telltale: {}: program of build {}, for its path files\n", visible(options.store),
                  *traced);
  }
  return kDone;
}

// Writes what a store keeps of a report.
int get_part(const StoreVerbOptions& options, const StoreFolder& store) {
  if (options.application.empty() || options.arguments.size() != 1)
    return report_error(
        usage_error(options.action + " needs --application and the id of a report").error());
  const std::string& id = options.arguments.front();
  const bool wants_paths = options.action == "paths";
  const auto part = collect::read_report_part(
      store, options.application, id,
      wants_paths ? collect::ReportPart::paths : collect::ReportPart::report);
  if (!part) return report_error(part.error());
  if (!*part)
    return report_error(usage_error(fmt::format("{} has no folded report {} of {}", options.store,
                                                id, options.application))
                            .error());
  if (wants_paths && (*part)->empty())
    return report_error(usage_error(fmt::format("report {} has no path file", id)).error());
  auto out = open_output(options.output);
  if (!out) return report_error(out.error());
  out->keep_private();
  auto written = out->write(**part);
  if (written) written = out->finish();
  return written ? kDone : report_error(written.error());
}

int run(const StoreVerbOptions& options) {
  const StoreFolder store(options.store);
  if (auto allowed = check_folder_access(options.store); !allowed)
    return report_error(allowed.error());
  if (!store.exists()) return report_error(usage_error(options.store + " is not a store").error());
  const bool is_whole = options.action == "info" || options.action == "fold";
  if (is_whole && !options.arguments.empty())
    return report_error(usage_error(options.action + " takes one store").error());
  // DuckDB creates files by the umask; a store is private.
  ::umask(S_IRWXG | S_IRWXO);
  if (options.action == "info") return show_info(options, store);
  if (options.action == "fold") return fold(options, store);
  if (options.action == "delete") return remove_reports(options, store);
  if (options.action == "sites") return add_sites(options, store);
  return get_part(options, store);
}

}  // namespace

void add_store_verb(Command app, int& status) {
  Command verb =
      app.add_verb("store", "fold, describe or prune the reports kept by `telltale collect`");
  const auto options = std::make_shared<StoreVerbOptions>();
  verb.add_option("ACTION", options->action,
                  "info: runs by application and build; fold: move reports from the log into "
                  "Parquet files; delete: delete reports by id; sites: add site information of "
                  "programs, and keep those with path tracing; report, paths: write a report, or "
                  "its path file, as it was sent")
      .required()
      .one_of({"info", "fold", "delete", "sites", "report", "paths"});
  verb.add_option("STORE", options->store, "folder of a store").required();
  verb.add_option("ARGUMENT", options->arguments,
                  "delete: ids of reports; sites: programs; report, paths: the id of a report");
  verb.add_option("--application", options->application,
                  "delete, sites, report, paths: of this application")
      .type_name("NAME");
  add_output_option(verb, options->output, "report, paths: the file; - is standard output")
      .show_default();
  verb.add_option("--keep-days", options->keep_days,
                  "fold: also remove reports that were received longer ago; 0: keep all. Site "
                  "information and programs stay")
      .in_range(uint64_t{0}, collect::kMostKeptDays)
      .type_name("N");
  verb.add_flag("-q,--quiet", options->quiet, "fold: print errors only");
  verb.add_flag("--json", options->json, "info: print JSON");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
