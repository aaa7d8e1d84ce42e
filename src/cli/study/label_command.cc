#include "cli/study/label_command.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/record/shell_status.h"

namespace telltale::cli {

std::vector<std::pair<std::string, std::string>> label_environment(const StudyRun& run,
                                                                   const std::string& report) {
  return {{"TELLTALE_RUN", fmt::format("{}", run.number)},
          {"TELLTALE_STATUS", run.status ? fmt::format("{}", *run.status) : ""},
          {"TELLTALE_SIGNAL", run.signal},
          {"TELLTALE_SECONDS", fmt::format("{:.6f}", run.seconds)},
          {"TELLTALE_LABEL", std::string(to_string(run.label))},
          {"TELLTALE_COMMAND", run.command},
          {"TELLTALE_REPORT", report}};
}

Result<RunLabel> label_of(const std::string& command, int wait_status) {
  constexpr int kSkip = 125;
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kNotRunnable;
  if (status >= kNotRunnable) {
    return std::unexpected(Error{
        Error::Cause::bad_field,
        {},
        {},
        fmt::format("the command that labels runs could not be run, or was killed: {}", command),
        {}});
  }
  if (status == kSkip) return RunLabel::skipped;
  return status == 0 ? RunLabel::passed : RunLabel::failed;
}

}  // namespace telltale::cli
