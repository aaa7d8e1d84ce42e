#include "cli/record/live_processes.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "cli/record/proc_text.h"

namespace telltale::cli {
namespace fs = std::filesystem;

std::vector<LiveProcess> processes_started_with(
    const std::pair<std::string, std::string>& variable) {
  // Variables end with a zero; the first one follows none.
  const std::string sought = '\0' + variable.first + '=' + variable.second + '\0';
  std::vector<LiveProcess> found;
  std::error_code failure;
  for (fs::directory_iterator at("/proc", failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string number = at->path().filename().string();
    LiveProcess process;
    const char* const last = number.data() + number.size();
    if (std::from_chars(number.data(), last, process.pid).ptr != last || process.pid == ::getpid())
      continue;
    if (!('\0' + read_text(at->path() / "environ")).contains(sought)) continue;
    process.name = read_text(at->path() / "comm");
    if (process.name.ends_with('\n')) process.name.pop_back();
    found.push_back(std::move(process));
  }
  return found;
}

}  // namespace telltale::cli
