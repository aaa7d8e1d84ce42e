#include "program/stored_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/sort_rows.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> parse_whole(std::string_view text, int base = 10) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// systemd writes dots, slashes, spaces and control characters of the command as \x2e.
std::string unescape(std::string_view text) {
  constexpr size_t kEscape = 4;
  std::string command;
  while (!text.empty()) {
    const bool is_escape = text.size() >= kEscape && text.starts_with("\\x");
    const auto code = is_escape ? parse_whole(text.substr(2, 2), 16) : std::nullopt;
    command += code ? static_cast<char>(*code) : text.front();
    text.remove_prefix(code ? kEscape : 1);
  }
  return command;
}

std::optional<StoredCore> parse_core_name(std::string_view name) {
  for (const std::string_view suffix : {".zst", ".lz4", ".xz"}) {
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    break;
  }
  std::array<std::string_view, 6> fields;  // core, COMM, UID, BOOT, PID, TIME
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t dot = name.find('.');
    if ((dot == std::string_view::npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = name.substr(0, dot);
    name.remove_prefix(std::min(fields[i].size() + 1, name.size()));
  }
  constexpr size_t kBootDigits = 32;
  const auto uid = parse_whole(fields[2]);
  const auto pid = parse_whole(fields[4]);
  const auto time = parse_whole(fields[5]);
  if (fields[0] != "core" || !uid || !pid || !time || fields[3].size() != kBootDigits)
    return std::nullopt;
  return StoredCore{.path = {},
                    .command = unescape(fields[1]),
                    .uid = *uid,
                    .boot = std::string(fields[3]),
                    .pid = *pid,
                    .microseconds = *time};
}

}  // namespace

Result<std::vector<StoredCore>> list_stored_cores(const std::string& folder) {
  std::vector<StoredCore> cores;
  std::error_code failure;
  fs::directory_iterator at(folder, failure);
  for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
    auto core = parse_core_name(at->path().filename().string());
    if (!core) continue;
    core->path = at->path().string();
    cores.push_back(*std::move(core));
  }
  if (failure) return io_error(folder, "cannot be listed", failure.value());
  // Of one time, the name decides, so that the answer does not depend on the folder's order.
  sort_rows(cores, [](const StoredCore& a, const StoredCore& b) {
    return a.microseconds != b.microseconds ? a.microseconds > b.microseconds : a.path < b.path;
  });
  return cores;
}

Result<StoredCore> find_stored_core(const std::string& folder, std::string_view which) {
  constexpr size_t kCommandBytes = 15;  // TASK_COMM_LEN of Linux, without the end
  auto cores = list_stored_cores(folder);
  if (!cores) return std::unexpected(cores.error());
  const auto pid = parse_whole(which);
  const auto found = std::ranges::find_if(*cores, [&](const StoredCore& core) {
    if (which == "last") return true;
    return pid ? core.pid == *pid : core.command == which.substr(0, kCommandBytes);
  });
  if (found != cores->end()) return *std::move(found);
  const std::string wanted = which == "last" ? ""
                             : pid           ? fmt::format(" of process {}", *pid)
                                             : fmt::format(" of {}", which);
  return usage_error(
      fmt::format("{} has no core file{}; if the journal has it: coredumpctl dump{} | telltale "
                  "paths -",
                  folder, wanted, which == "last" ? "" : fmt::format(" {}", which)));
}

}  // namespace telltale
