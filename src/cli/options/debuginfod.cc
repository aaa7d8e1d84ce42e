#include "cli/options/debuginfod.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/options/message.h"
#include "cli/options/progress_line.h"
#include "output/escape.h"
#include "program/debug_file_search.h"

namespace telltale::cli {
namespace {

constexpr uint64_t kPatienceMs = 1000;

// A line about progress may be there. Not among the messages that are written after an answer.
void tell(std::string_view servers) {
  write_message(fmt::format("\r\x1b[Ktelltale: waiting for debug files from {} (DEBUGINFOD_URLS)\n",
                            visible(servers)));
}

}  // namespace

void prepare_debuginfod() {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread yet
  if (std::getenv("DEBUGINFOD_URLS") == nullptr) return;
  ::setenv("DEBUGINFOD_RETRY_LIMIT", "0", /*overwrite=*/0);
  // NOLINTEND(concurrency-mt-unsafe)
  if (::isatty(STDERR_FILENO) != 0)
    on_debuginfod_wait(tell, std::chrono::milliseconds(progress_patience_ms(kPatienceMs)));
}

}  // namespace telltale::cli
