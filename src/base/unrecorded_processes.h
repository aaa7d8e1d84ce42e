#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <system_error>

namespace telltale {

// What a recording says about `count` forked processes that could not create recordings of their
// own, the last one because of `error` (an errno value; 0: unknown).
inline std::string unrecorded_processes_words(uint64_t count, int error) {
  const std::string reason =
      error == 0 ? std::string() : fmt::format(" ({})", std::generic_category().message(error));
  return fmt::format("{} forked {} not recorded: no file could be created{}", count,
                     count == 1 ? "process is" : "processes are", reason);
}

}  // namespace telltale
