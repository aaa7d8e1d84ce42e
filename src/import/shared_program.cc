#include "import/shared_program.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <list>
#include <tuple>
#include <utility>

namespace telltale {
namespace {

SymbolizerOptions options_with(bool places) {
  SymbolizerOptions options;
  options.places = places;
  return options;
}

// Changes if the file does.
using FileState = std::tuple<std::string, bool, dev_t, ino_t, off_t, time_t, long>;

std::optional<FileState> state_of(const std::string& path, bool places) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return FileState(path, places, file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec,
                   file.st_mtim.tv_nsec);
}

// A program and its libraries.
constexpr size_t kMostKept = 4;

struct Kept {
  FileState state;
  std::shared_ptr<SharedProgram> program;
};

}  // namespace

SharedProgram::SharedProgram(std::string path, bool places)
    : path_(std::move(path)), options_(options_with(places)), code_(path_, options_) {}

const ProgramNames* SharedProgram::map(ProblemLog& problems) {
  const std::scoped_lock lock(mutex_);
  if (!map_) {
    map_ = ProgramNames::open({{0, path_}}, options_, map_problems_);
    if (!*map_) map_problems_.add({Problem::Kind::names, 0, path_, {}, map_->error().detail, 0});
  }
  problems.merge(map_problems_);
  return *map_ ? &**map_ : nullptr;
}

std::shared_ptr<SharedProgram> shared_program(const std::string& path, bool places) {
  static std::mutex mutex;
  static std::list<Kept> kept;  // the one that was used last first
  const std::optional<FileState> state = state_of(path, places);
  if (!state) return std::make_shared<SharedProgram>(path, places);
  const std::scoped_lock lock(mutex);
  const auto known = std::ranges::find(kept, *state, &Kept::state);
  if (known != kept.end()) {
    kept.splice(kept.begin(), kept, known);
  } else {
    if (kept.size() == kMostKept) kept.pop_back();
    kept.push_front({*state, std::make_shared<SharedProgram>(path, places)});
  }
  return kept.front().program;
}

}  // namespace telltale
