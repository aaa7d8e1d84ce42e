// Names of output files from the environment.
#pragma once

#include <stddef.h>

namespace telltale::sampler {

inline constexpr size_t kPathBytes = 4096;

// Expands "%p" to the process id and "%%" to "%", into `path` of `bytes` bytes. False if it is too
// long. Async-signal-safe.
bool expand_path(const char* pattern, char* path, size_t bytes);

// Makes a pattern absolute, for the current working directory. False if it is too long.
bool path_from_root(const char* pattern, char* path, size_t bytes);

}  // namespace telltale::sampler
