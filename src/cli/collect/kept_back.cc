#include "cli/collect/kept_back.h"

#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "base/counted.h"
#include "base/utc_time.h"
#include "cli/options/message.h"
#include "cli/options/shell_command.h"
#include "output/escape.h"

namespace telltale::cli {

bool print_kept_back(const collect::ReportSpool& spool, const collect::UploadUrl& url,
                     const std::string& to, const std::string& token_file, bool quiet) {
  using Clock = std::chrono::system_clock;
  const collect::Retry retry = collect::read_retry(spool, url);
  if (Clock::now() >= retry.due) return false;
  const size_t reports = quiet ? 0 : spool.entries().size();
  if (reports == 0) return true;
  std::vector<std::string> now = {"telltale", "send", spool.folder(), "--to", to};
  if (!token_file.empty()) now.insert(now.end(), {"--token-file", token_file});
  print_message("telltale: {} kept back until {}, because {} to send to {} failed; now: {}\n",
                counted(reports, "report"), utc_words(Clock::to_time_t(retry.due)),
                retry.attempts == 1 ? "an attempt" : fmt::format("{} attempts", retry.attempts),
                visible(url.text()), visible(shell_command(now)));
  return true;
}

}  // namespace telltale::cli
