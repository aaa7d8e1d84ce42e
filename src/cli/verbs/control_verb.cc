// `telltale control`: stops, starts and changes the recording of a running program.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/problem.h"
#include "cli/command_line.h"
#include "cli/options/reading_options.h"
#include "cli/record/recorder_control.h"
#include "cli/record/recorder_plan.h"
#include "cli/record/recorder_settings.h"
#include "cli/verbs/verbs.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "output/table/object_writer.h"
#include "output/table/show_units.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

struct ControlOptions {
  uint64_t pid = 0;
  std::string action;
  RecorderOptions filters;  // functions, without, depth, min
  bool json = false;
};

bool has_filters(const RecorderOptions& filters) { return filters != RecorderOptions(); }

// The request that says what the options say.
Result<std::string> control_request(const ControlOptions& options) {
  if (options.action != "filter") {
    if (has_filters(options.filters))
      return usage_error("--function, --without, --depth and --min need the action filter");
    return options.action;
  }
  std::string settings;
  const auto add = [&settings](const char* origin, const char* key,
                               const std::string& value) -> Result<void> {
    if (value.empty()) return {};
    settings += fmt::format("{}{}={}", settings.empty() ? "" : ",", key, value);
    return check_setting(RecorderKind::xray, key, value, fmt::format("{} {}", origin, value));
  };
  const RecorderOptions& filters = options.filters;
  for (const Result<void>& added :
       {add("--function and --without", "functions", function_list(filters)),
        add("--depth", "depth", filters.depth == 0 ? "" : std::to_string(filters.depth)),
        add("--min", "min", filters.min)}) {
    if (!added) return std::unexpected(added.error());
  }
  return "filter " + settings;
}

std::string status_json(uint64_t pid, const RecorderStatus& status) {
  std::string out;
  JsonWriter json(out, 2);
  DocumentWriter document(json, schemas::kControl, {});
  document.add("pid", pid).add("state", status.state).add("mode", status.mode);
  document.text_or_null("file", status.file).text_or_null("snapshot", status.snapshot);
  document.add("part", status.part).add("recorded_bytes", status.bytes);
  document.add("lost", status.lost).add("overwritten", status.overwritten);
  document.add("functions", status.functions).add("min_ns", status.min_ns);
  document.add("depth", status.depth);
  document.finish(ProblemLog());
  return out;
}

std::string status_text(const RecorderStatus& status) {
  std::string out;
  const auto line = [&out](const char* key, const std::string& value) {
    out += fmt::format("{:<10}{}\n", key, visible(value));
  };
  if (!status.snapshot.empty()) line("snapshot", status.snapshot);
  line("state", status.state == "waiting" ? "waiting for the first event" : status.state);
  line("mode", status.mode);
  if (!status.file.empty()) line("file", status.file);
  if (status.part > 1) line("part", fmt::format("recording {} of the process", status.part));
  line("recorded", counted(status.bytes, "byte"));
  line("lost", counted(status.lost, "event"));
  if (status.overwritten != 0) line("", counted(status.overwritten, "event") + " overwritten");
  line("functions", status.functions.empty() ? "all" : status.functions);
  if (status.min_ns != 0) line("min", show_duration(static_cast<double>(status.min_ns)));
  if (status.depth != 0) line("depth", std::to_string(status.depth));
  return out;
}

int control(const ControlOptions& options) {
  const Result<std::string> request = control_request(options);
  if (!request) return report_error(request.error());
  const Result<RecorderStatus> status = ask_recorder(static_cast<int64_t>(options.pid), *request);
  if (!status) return report_error(status.error());
  const std::string out = options.json                   ? status_json(options.pid, *status)
                          : options.action == "snapshot" ? status->snapshot + "\n"
                                                         : status_text(*status);
  return print(out) ? kDone : kUnreadable;
}

}  // namespace

void add_control_verb(Command app, int& status) {
  Command verb =
      app.add_verb("control", "stop, start or change the recording of a program that runs");
  const auto options = std::make_shared<ControlOptions>();
  verb.add_option("PID", options->pid, "process that `telltale run --control` records")
      .in_range(uint64_t{1}, uint64_t{INT32_MAX})
      .required();
  verb.add_option("ACTION", options->action,
                  "status: whether it records, into which file, how much. stop: finish the file; "
                  "calls pass unrecorded. start: record again, into another file. snapshot: write "
                  "what is recorded so far into a separate file. filter: replace all filters by "
                  "these options; what follows is another file")
      .one_of({"status", "stop", "start", "snapshot", "filter"})
      .required();
  verb.add_option("--function", options->filters.functions,
                  "record only functions whose linkage or demangled name, with or without return "
                  "type and parameters, matches this shell pattern")
      .type_name("GLOB")
      .one_value_each();
  verb.add_option("--without", options->filters.without, "skip functions that match this pattern")
      .type_name("GLOB")
      .one_value_each();
  verb.add_option("--depth", options->filters.depth, "skip calls nested deeper than this")
      .in_range(uint64_t{1}, uint64_t{UINT32_MAX})
      .type_name("N");
  verb.add_option("--min", options->filters.min, "skip calls shorter than this, such as 5us")
      .type_name("TIME");
  verb.add_flag("--json", options->json, "print JSON with stable keys");
  verb.callback([options, &status] { status = control(*options); });
}

}  // namespace telltale::cli
