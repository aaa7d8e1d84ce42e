#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/checkout.h"

namespace telltale::testing {

// A file of the source tree, whole; empty if it is not there.
inline std::string read_source_file(const std::string& path) {
  std::ifstream in(std::filesystem::path(kSourceFolder) / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What tests/golden/NAME holds. With TELLTALE_UPDATE_GOLDEN=1 the file is first made to hold
// `expected`; look at the difference before committing it.
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
