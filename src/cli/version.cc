#include "cli/version.h"

#include <fmt/format.h>

#include "telltale_commit.h"

namespace telltale::cli {

std::string_view version_number() { return TELLTALE_VERSION; }

std::string version_text() {
  return fmt::format("telltale {} (commit {}, {}, {})", TELLTALE_VERSION, TELLTALE_COMMIT,
                     TELLTALE_BUILD_TYPE, TELLTALE_COMPILER);
}

}  // namespace telltale::cli
