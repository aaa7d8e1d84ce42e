#pragma once

#include <string>

#include "bytes/input_file.h"

namespace telltale::cli {

// A file of /proc; empty without permission, or if it is gone.
inline std::string read_text(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return {};
  const Bytes bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace telltale::cli
