#include "base/repeated_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <utility>

namespace telltale {

Result<void> refuse_repeated(const std::vector<std::string>& paths) {
  std::map<std::pair<dev_t, ino_t>, const std::string*> seen;
  for (const std::string& path : paths) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) continue;
    const auto [first, added] = seen.try_emplace({status.st_dev, status.st_ino}, &path);
    if (added) continue;
    return usage_error(*first->second == path
                           ? path + " is given twice"
                           : fmt::format("{} and {} are the same file", *first->second, path));
  }
  return {};
}

}  // namespace telltale
