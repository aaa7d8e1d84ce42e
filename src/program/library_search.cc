#include "program/library_search.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "program/recorded_program.h"

namespace telltale {
namespace {

// With those of each architecture, /usr/lib/x86_64-linux-gnu for example.
std::vector<std::string> system_folders() {
  constexpr std::array<const char*, 4> kFolders = {"/usr/lib", "/usr/lib64", "/lib", "/lib64"};
  std::vector<std::string> folders{"/usr/local/lib"};
  for (const char* const folder : kFolders) {
    folders.emplace_back(folder);
    std::error_code error;
    for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
      const std::string name = each->path().filename();
      if (name.contains("-linux-")) folders.push_back(each->path());
    }
  }
  return folders;
}

}  // namespace

std::string find_library(const std::string& name, const std::string& build_id,
                         std::span<const std::string> folders) {
  static const std::vector<std::string> kSystem = system_folders();
  if (name.empty() || name.contains('/') || build_id.empty()) return {};
  for (const std::span<const std::string> where : {folders, std::span(kSystem)}) {
    for (const std::string& folder : where) {
      std::string path = folder + "/" + name;
      if (may_open_recorded_path(path) && read_build_id(path).value_or("") == build_id) return path;
    }
  }
  return {};
}

}  // namespace telltale
