#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace telltale {

// Core files that systemd-coredump keeps, as their names describe them:
// core.COMM.UID.BOOT.PID.TIME, and .zst, .lz4 or .xz if the file is compressed
// (coredump.conf(5), Storage=external).

// The folder in which systemd-coredump stores core files.
inline constexpr const char* kStoredCores = "/var/lib/systemd/coredump";

struct StoredCore {
  std::string path;
  std::string command;        // name of the thread that crashed, at most 15 bytes; never trusted
  uint64_t uid = 0;           // of the user
  std::string boot;           // id of the boot, 32 hexadecimal digits
  uint64_t pid = 0;           // of the process
  uint64_t microseconds = 0;  // since 1970
};

// Those of a folder, the newest first; files with other names are left out. Errors: io.
Result<std::vector<StoredCore>> list_stored_cores(const std::string& folder);

// The newest one of a folder that `which` selects: "last", the id of a process, or the name of a
// command, of which 15 bytes count. Errors: io; usage, if there is none.
Result<StoredCore> find_stored_core(const std::string& folder, std::string_view which);

}  // namespace telltale
