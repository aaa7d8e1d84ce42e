#include "base/plain_path.h"

#include <algorithm>

namespace telltale {

std::string plain_path(std::string_view path) {
  std::string plain = path.starts_with('/') ? "/" : "";
  plain.reserve(path.size());
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (!plain.empty() && !plain.ends_with('/')) plain += '/';
    plain += name;
  }
  return plain;
}

}  // namespace telltale
