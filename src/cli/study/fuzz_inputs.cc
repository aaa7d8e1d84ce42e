#include "cli/study/fuzz_inputs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/sort_rows.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, FuzzKind>, 3> kAflFolders = {
    {{"queue", FuzzKind::corpus}, {"crashes", FuzzKind::crash}, {"hangs", FuzzKind::hang}}};
constexpr std::array<std::string_view, 3> kNoInputs = {"README.txt", "README",
                                                       "HONGGFUZZ.REPORT.TXT"};

bool is_input(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with('.') && std::ranges::find(kNoInputs, name) == kNoInputs.end();
}

// Whether it is the folder of one instance of AFL.
bool is_afl_instance(const fs::path& folder) {
  std::error_code failure;
  return fs::is_directory(folder / "queue", failure) ||
         fs::is_directory(folder / "crashes", failure);
}

Result<void> add_files(const fs::path& folder, FuzzKind kind, std::vector<FuzzInput>& inputs) {
  std::error_code failure;
  fs::directory_iterator at(folder, failure);
  for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
    if (at->is_regular_file() && is_input(at->path()))
      inputs.push_back({at->path().string(), kind});
  }
  if (failure) return io_error(folder.string(), "cannot be listed", failure.value());
  return {};
}

Result<void> add_instance(const fs::path& folder, std::vector<FuzzInput>& inputs) {
  for (const auto& [name, kind] : kAflFolders) {
    std::error_code failure;
    if (!fs::is_directory(folder / name, failure)) continue;
    if (auto added = add_files(folder / name, kind, inputs); !added) return added;
  }
  return {};
}

// All files below it; symbolic links to folders are not followed.
Result<void> add_tree(const fs::path& folder, std::vector<FuzzInput>& inputs) {
  std::error_code failure;
  fs::recursive_directory_iterator at(folder, failure);
  for (; !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
    const fs::path& path = at->path();
    std::error_code ignored;
    if (at->is_directory(ignored) && !is_input(path)) at.disable_recursion_pending();
    if (at->is_regular_file(ignored) && is_input(path))
      inputs.push_back({path.string(), kind_of_file(path.filename().string())});
  }
  if (failure) return io_error(folder.string(), "cannot be listed", failure.value());
  return {};
}

Result<void> add_folder(const fs::path& folder, std::vector<FuzzInput>& inputs) {
  if (is_afl_instance(folder)) return add_instance(folder, inputs);
  std::error_code failure;
  bool has_instances = false;
  fs::directory_iterator at(folder, failure);
  for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
    if (!at->is_directory() || !is_afl_instance(at->path())) continue;
    has_instances = true;
    if (auto added = add_instance(at->path(), inputs); !added) return added;
  }
  if (failure) return io_error(folder.string(), "cannot be listed", failure.value());
  return has_instances ? Result<void>() : add_tree(folder, inputs);
}

}  // namespace

FuzzKind kind_of_file(std::string_view name) {
  if (name.starts_with("timeout-") || name.starts_with("slow-unit-")) return FuzzKind::hang;
  const bool is_crash = name.starts_with("crash-") || name.starts_with("leak-") ||
                        name.starts_with("oom-") ||
                        (name.starts_with("SIG") && name.contains(".PC."));
  return is_crash ? FuzzKind::crash : FuzzKind::corpus;
}

Result<std::vector<FuzzInput>> find_fuzz_inputs(const std::string& path) {
  std::error_code failure;
  std::vector<FuzzInput> inputs;
  if (!fs::exists(path, failure)) return io_error(path, "cannot be read", ENOENT);
  if (!fs::is_directory(path, failure)) {
    inputs.push_back({path, kind_of_file(fs::path(path).filename().string())});
  } else if (auto added = add_folder(path, inputs); !added) {
    return std::unexpected(added.error());
  }
  if (inputs.empty()) return usage_error(path + " contains no input of a fuzzer");
  sort_rows(inputs, {}, &FuzzInput::path);
  return inputs;
}

}  // namespace telltale::cli
