#include "cli/study/sources_of_runs.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "cli/record/child_process.h"
#include "cli/study/program_sites.h"
#include "import/open_recording.h"
#include "import/recording.h"
#include "import/stack_paths.h"
#include "program/recorded_program.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

// The program of a command in a shell's words, if it has that build-id; otherwise empty.
std::string program_of(std::string_view command, const std::string& build) {
  const std::string_view word = command.substr(0, command.find(' '));
  if (word.empty() || word.find_first_of("'\\$") != std::string_view::npos) return {};
  std::error_code failure;
  const std::string path = fs::absolute(find_in_path(std::string(word)), failure).string();
  if (failure || !may_open_recorded_path(path)) return {};
  const Result<std::string> id = read_build_id(path);
  return id && *id == build ? path : std::string();
}

// Of a recording with paths in stack frames.
BuiltSources sources_of_paths(const std::string& path, const IsolationSources& sources,
                              ProblemLog& problems) {
  OpenOptions options;
  options.files = {path};
  options.programs = programs_of_cores(sources.programs, sources.limits);
  options.other_programs = true;
  options.limits = sources.limits;
  const Result<std::unique_ptr<const Recording>> recording = open_recording(options);
  if (!recording || (*recording)->paths_in_frames() == nullptr) return {};
  return (*recording)->paths_in_frames()->built_sources(problems);
}

}  // namespace

BuiltSources sources_of_runs(const IsolationSources& sources, const IsolationInput& input,
                             ProblemLog& problems) {
  BuiltSources built;
  for (const std::string& program : sources.programs) built.add(program, program, problems);
  for (const auto& [build, run] : input.builds) {
    if (const std::string program = program_of(run.command, build); !program.empty())
      built.add(program, program, problems);
    if (!run.paths.empty()) built.merge(sources_of_paths(run.paths, sources, problems));
  }
  // Only studies record the builds of runs. Otherwise, assume that all runs have the build of the
  // first one.
  if (input.builds.empty() && !input.reports.empty())
    built.merge(sources_of_paths(input.reports.front().path, sources, problems));
  return built;
}

}  // namespace telltale::cli
