#include "cli/study/watched_programs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

namespace telltale::cli {
namespace {

std::string state_of(const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{} {} {} {}.{}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

WatchedPrograms::WatchedPrograms(std::vector<std::string> programs)
    : programs_(std::move(programs)) {
  for (const std::string& program : programs_) states_.push_back(state_of(program));
}

bool WatchedPrograms::changed() {
  bool any = false;
  for (size_t i = 0; i < programs_.size(); ++i) {
    std::string now = state_of(programs_[i]);
    if (now.empty() || now == states_[i]) continue;
    states_[i] = std::move(now);
    any = true;
  }
  return any;
}

}  // namespace telltale::cli
