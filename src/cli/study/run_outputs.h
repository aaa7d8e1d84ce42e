#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "bytes/temporary_path.h"

namespace telltale::cli {

// A temporary folder for the outputs of runs.
class TemporaryFolder {
 public:
  // Errors: io.
  static Result<std::unique_ptr<TemporaryFolder>> make();
  explicit TemporaryFolder(TemporaryPath folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::string file(size_t item, std::string_view name) const;

 private:
  TemporaryPath folder_;
};

// Whether two files have the same bytes. Errors: io, if one cannot be opened.
Result<bool> files_equal(const std::string& a, const std::string& b);

// Whether this is a pipe or socket that nobody reads any more.
bool reader_is_gone(int descriptor);

// Copies a file to a descriptor; stops if the reader has closed it.
void pass_through(const std::string& path, int to);

}  // namespace telltale::cli
