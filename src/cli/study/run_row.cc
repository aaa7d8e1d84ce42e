#include "cli/study/run_row.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/signal_name.h"
#include "base/utc_time.h"
#include "cli/record/child_process.h"
#include "cli/study/program_sites.h"

namespace telltale::cli {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  return utc_iso(now);
}

void note_ending(StudyRun& run, const JobOutcome& outcome) {
  run.seconds = outcome.elapsed_seconds;
  const bool exited = WIFEXITED(outcome.wait_status);
  if (exited) {
    run.status = WEXITSTATUS(outcome.wait_status);
  } else {
    run.signal = signal_words(WTERMSIG(outcome.wait_status));
  }
  run.rule = exited ? "status" : "signal";
  run.label = exited && *run.status == 0 ? RunLabel::passed : RunLabel::failed;
  if (outcome.timed_out) {
    run.rule = kTimeoutRule;
    run.label = RunLabel::failed;
  }
}

Result<double> parse_timeout(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}}};
  const auto* const known =
      std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  if (error != std::errc() || known == kUnits.end() || !(number > 0) || number > 1e9)
    return usage_error("--timeout needs a time such as 10s, 500ms or 2m, but got " + text);
  return number * known->second;
}

Result<uint64_t> seed_or_random(const std::optional<uint64_t>& given) {
  if (given) return *given;
  uint32_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != sizeof seed)
    return io_error("getrandom", "gives no seed", errno);
  return seed;
}

namespace {

bool is_instrumented(const std::string& program) {
  ProblemLog ignored;  // those of its sites are told when they are added
  return read_program_sites(program, ignored).has_value() ||
         !traced_build_of(program).value_or(std::string()).empty();
}

}  // namespace

Result<std::vector<std::string>> find_programs(const std::vector<std::string>& command,
                                               std::vector<std::string> programs) {
  std::string found = find_in_path(command.front());
  if (!programs.empty()) {
    std::error_code failure;
    const size_t named = std::erase_if(programs, [&](const std::string& program) {
      return std::filesystem::equivalent(program, found, failure);
    });
    if (named != 0 || (!found.empty() && is_instrumented(found)))
      programs.insert(programs.begin(), std::move(found));
    return programs;
  }
  if (found.empty()) return start_error(command.front(), why_not_in_path(command.front()));
  return std::vector<std::string>{std::move(found)};
}

Result<StudyBuild> add_all_programs(StudyFolder& study, const std::vector<std::string>& programs,
                                    bool of_command) {
  StudyBuild build;
  ProblemLog problems;
  for (const std::string& program : programs) {
    const bool is_library = &program != &programs.front();
    const Result<std::string> traced = traced_build_of(program);
    if (!traced) return std::unexpected(traced.error());
    Result<std::string> name = study.add_sites(program, is_library, problems);
    if (!name && of_command)
      name.error().detail += "; if it starts such a program, use --program for that one";
    if (!name && (traced->empty() || name.error().cause != Error::Cause::bad_field)) {
      return std::unexpected(name.error());
    }
    build.is_traced = build.is_traced || !traced->empty();
    if (build.name.empty()) build.name = name ? *std::move(name) : *traced;
  }
  return build;
}

void leave_no_cores() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace telltale::cli
