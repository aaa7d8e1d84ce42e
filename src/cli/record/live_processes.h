#pragma once

#include <string>
#include <utility>
#include <vector>

namespace telltale::cli {

// A process, and the name of its program.
struct LiveProcess {
  int pid = 0;
  std::string name;
};
// Running processes, other than this one, that were started with this variable in their
// environment. Those of other users may be missing.
std::vector<LiveProcess> processes_started_with(
    const std::pair<std::string, std::string>& variable);

}  // namespace telltale::cli
