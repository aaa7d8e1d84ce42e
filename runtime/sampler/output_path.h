// Names of files as the environment gives them.
#pragma once

#include <stddef.h>

namespace telltale::sampler {

inline constexpr size_t kPathBytes = 4096;

// Writes `pattern` to `path`, which has room for `bytes`, with the process's number for every "%p"
// and "%" for "%%". False if it is too long. May be called in a signal handler.
bool expand_path(const char* pattern, char* path, size_t bytes);

// The same file's pattern from the root, as the working folder is now. False if it is too long.
bool path_from_root(const char* pattern, char* path, size_t bytes);

}  // namespace telltale::sampler
