#include "collect/client/report_spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <tuple>

#include "base/sort_rows.h"
#include "bytes/as_bytes.h"
#include "bytes/input_file.h"
#include "bytes/write_all.h"
#include "collect/client/sampling_wish_text.h"
#include "collect/client/spooled_report.h"
#include "collect/compress.h"
#include "collect/log/durable_file.h"
#include "collect/store_folder.h"
#include "formats/sampler/wire.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

constexpr std::chrono::hours kAbandoned{48};
constexpr std::chrono::hours kLongestWait{6};
constexpr mode_t kOwnFile = 0600;
constexpr mode_t kOwnFolder = 0700;

std::string sparsity_folder(const std::string& spool) {
  return spool + "/" + sampler::kSpoolSparsities;
}
std::string retry_path(const ReportSpool& spool) { return spool.folder() + "/retry"; }

Result<std::string> new_id() {
  std::array<std::byte, sampler::kIdDigits / 2> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return io_error("getrandom", "gives no id", errno);
  std::string id;
  for (const std::byte byte : random) id += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return id;
}

Result<void> write_new(const std::string& path, std::string_view text) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnFile);
  if (file < 0) return io_error(path, "cannot be made", errno);
  Result<void> written = write_all(file, as_bytes(text), path);
  if (written && ::fsync(file) != 0) written = io_error(path, "cannot be synced", errno);
  ::close(file);
  if (!written) ::unlink(path.c_str());
  return written;
}

std::optional<Clock::time_point> written_at(const std::string& path, uint64_t& bytes) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  // Path files have holes.
  constexpr uint64_t kBlockBytes = 512;
  bytes = std::min(static_cast<uint64_t>(facts.st_size),
                   static_cast<uint64_t>(facts.st_blocks) * kBlockBytes);
  return Clock::from_time_t(facts.st_mtim.tv_sec) +
         std::chrono::duration_cast<Clock::duration>(
             std::chrono::nanoseconds(facts.st_mtim.tv_nsec));
}

// Files of the spool with this ending, the oldest first.
std::vector<ReportSpool::Entry> list(const std::string& folder, std::string_view ending) {
  std::vector<ReportSpool::Entry> found;
  for (const std::string& path : files_in(folder, ending).value_or(std::vector<std::string>())) {
    ReportSpool::Entry entry;
    entry.path = path;
    entry.id = fs::path(path).stem().string();
    const auto written = written_at(path, entry.bytes);
    if (!written || !is_report_id(entry.id)) continue;
    entry.written = *written;
    found.push_back(std::move(entry));
  }
  sort_rows(found, [](const ReportSpool::Entry& a, const ReportSpool::Entry& b) {
    return std::tie(a.written, a.id) < std::tie(b.written, b.id);
  });
  return found;
}

// Removes a number and this character after it.
std::optional<uint64_t> take_number(std::string_view& text, char after) {
  uint64_t number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || rest == end || *rest != after) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest + 1 - begin));
  return number;
}

}  // namespace

Result<void> ReportSpool::create() const {
  std::error_code failure;
  if (fs::is_directory(folder_, failure)) return {};
  if (auto above = make_folder(fs::path(folder_).parent_path().string()); !above) return above;
  if (::mkdir(folder_.c_str(), kOwnFolder) != 0 && errno != EEXIST)
    return io_error(folder_, "cannot be made", errno);
  return {};
}

Result<void> ReportSpool::add(const StoredReport& report, const std::string& paths) const {
  const Result<std::string> id = new_id();
  if (!id) return std::unexpected(id.error());
  // Before the report, which makes both complete.
  if (const Result<InputFile> file = InputFile::open(paths); !paths.empty() && file) {
    // Pages of zeros need no space in it; in a copy they would.
    if (auto written = write_new(folder_ + "/" + *id + kSpooledPaths, gzip(file->bytes()));
        !written)
      return written;
  }
  const std::string part = folder_ + "/" + *id + sampler::kSpooling;
  const std::string whole = folder_ + "/" + *id + sampler::kSpooled;
  if (auto written = write_new(part, to_spooled(report)); !written) return written;
  if (::rename(part.c_str(), whole.c_str()) != 0) {
    const int failure = errno;
    ::unlink(part.c_str());
    return io_error(whole, "cannot be named", failure);
  }
  return sync_folder(folder_);
}

std::vector<ReportSpool::Entry> ReportSpool::entries() const {
  std::vector<Entry> all = list(folder_, sampler::kSpooled);
  for (Entry& entry : all) {
    std::string paths = folder_ + "/" + entry.id + kSpooledPaths;
    uint64_t bytes = 0;
    if (!written_at(paths, bytes)) continue;
    entry.paths = std::move(paths);
    entry.bytes += bytes;
  }
  return all;
}

size_t ReportSpool::remove_abandoned() const {
  size_t removed = 0;
  std::error_code failure;
  for (const char* ending : {sampler::kSpooling, kSpooledPaths}) {
    for (const Entry& entry : list(folder_, ending)) {
      if (Clock::now() - entry.written < kAbandoned) break;
      if (fs::exists(folder_ + "/" + entry.id + sampler::kSpooled, failure)) continue;
      removed += ::unlink(entry.path.c_str()) == 0 ? 1 : 0;
    }
  }
  return removed;
}

Result<void> ReportSpool::remove(const Entry& entry) {
  for (const std::string& path : {entry.path, entry.paths}) {
    if (!path.empty() && ::unlink(path.c_str()) != 0 && errno != ENOENT)
      return io_error(path, "cannot be removed", errno);
  }
  return {};
}

size_t ReportSpool::give_up(std::chrono::seconds age, uint64_t most_bytes) const {
  const std::vector<Entry> all = entries();
  uint64_t bytes = 0;
  for (const Entry& entry : all) bytes += entry.bytes;
  size_t removed = 0;
  for (const Entry& entry : all) {
    if (Clock::now() - entry.written <= age && bytes <= most_bytes) break;
    removed += remove(entry) ? 1 : 0;
    bytes -= entry.bytes;
  }
  return removed;
}

Result<void> ReportSpool::note_wish(const std::string& build,
                                    const sampler::SamplingWish& wish) const {
  const std::string folder = sparsity_folder(folder_);
  if (::mkdir(folder.c_str(), kOwnFolder) != 0 && errno != EEXIST)
    return io_error(folder, "cannot be made", errno);
  return replace_file(folder + "/" + build, to_text(wish) + "\n");
}

std::optional<sampler::SamplingWish> ReportSpool::noted_wish(const std::string& build) const {
  const Result<InputFile> file = InputFile::open(sparsity_folder(folder_) + "/" + build);
  if (!file) return std::nullopt;
  sampler::SamplingWish wish;
  if (!sampler::read_sampling_wish(wish_text(file->bytes()), wish)) return std::nullopt;
  return wish;
}

std::optional<sampler::SamplingWish> ReportSpool::wish(const std::string& application,
                                                       const std::string& build) const {
  const Result<InputFile> file = InputFile::open(folder_ + "/" + sampler::kSpoolSampling);
  if (file) {
    const Bytes text =
        file->bytes().first(std::min(file->bytes().size(), sampler::kSamplingFileBytes));
    sampler::SamplingWish wish;
    if (sampler::find_sampling_rule(wish_text(text), application.c_str(), wish_text(build), wish))
      return wish;
  }
  return noted_wish(build);
}

Retry read_retry(const ReportSpool& spool, const UploadUrl& url) {
  const Result<InputFile> file = InputFile::open(retry_path(spool));
  if (!file) return {};
  std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  const auto attempts = take_number(text, ' ');
  const auto seconds = attempts ? take_number(text, '\n') : std::nullopt;
  // What is left is the URL. Older versions wrote none.
  if (!seconds || (!text.empty() && text != url.text() + "\n")) return {};
  // A clock that was wrong must not stop sending for ever.
  const std::time_t latest = Clock::to_time_t(Clock::now() + 2 * kLongestWait);
  if (*seconds > static_cast<uint64_t>(latest)) return {};
  const auto due = Clock::from_time_t(static_cast<std::time_t>(*seconds));
  return {static_cast<unsigned>(std::min<uint64_t>(*attempts, 1000)), due};
}

Result<void> write_retry(const ReportSpool& spool, const UploadUrl& url, const Retry& retry) {
  const std::time_t due = Clock::to_time_t(retry.due);
  return replace_file(retry_path(spool),
                      fmt::format("{} {}\n{}\n", retry.attempts, due, url.text()));
}

Result<void> remove_retry(const ReportSpool& spool) {
  const std::string path = retry_path(spool);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return io_error(path, "cannot be removed", errno);
  return {};
}

std::chrono::seconds wait_after(unsigned attempt, std::chrono::seconds first,
                                std::chrono::seconds asked, double random) {
  constexpr unsigned kDoublings = 16;
  const auto doubled = first * (int64_t{1} << std::min(attempt - 1, kDoublings));
  const auto longest = std::min<std::chrono::seconds>(doubled, kLongestWait);
  const auto part = static_cast<double>(longest.count()) * (0.5 + random / 2);
  const std::chrono::seconds wait(static_cast<int64_t>(std::ceil(part)));
  return std::max(wait, std::min<std::chrono::seconds>(asked, kLongestWait));
}

}  // namespace telltale::collect
