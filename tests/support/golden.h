#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/checkout.h"

namespace telltale::testing {

// A whole file of the source tree; empty if it does not exist.
inline std::string read_source_file(const std::string& path) {
  std::ifstream in(std::filesystem::path(kSourceFolder) / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The contents of tests/golden/NAME. With TELLTALE_UPDATE_GOLDEN=1 the file is first overwritten
// with `expected`; review the difference before committing it.
inline std::string golden(const std::string& name, std::string_view expected) {
  const std::string path = "tests/golden/" + name;
  if (std::getenv("TELLTALE_UPDATE_GOLDEN") != nullptr) {
    const std::filesystem::path file = std::filesystem::path(kSourceFolder) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << expected;
  }
  return read_source_file(path);
}

}  // namespace telltale::testing
