#include "collect/store/fold.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/sort_rows.h"
#include "bytes/as_bytes.h"
#include "bytes/decompress.h"
#include "bytes/input_file.h"
#include "collect/compress.h"
#include "collect/log/durable_file.h"
#include "collect/log/log_segment.h"
#include "collect/log/report_log.h"
#include "collect/log/stored_ids.h"
#include "collect/store/duckdb.h"
#include "collect/store/observations.h"
#include "collect/store/roll_request.h"
#include "collect/store/run_files.h"
#include "collect/store/run_rows.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBatchBytes = uint64_t{512} << 20;  // of segments that are folded together
constexpr uint64_t kMemoryBytes = uint64_t{512} << 20;
constexpr uint64_t kMaxReportBytes = uint64_t{1} << 30;

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return io_error(path, "cannot be removed", errno);
  return {};
}

// "application id" lines.
Result<std::set<std::string, std::less<>>> read_deleted(const StoreFolder& store) {
  std::set<std::string, std::less<>> deleted;
  const auto file = open_if_there(store.deleted());
  if (!file) return std::unexpected(file.error());
  if (!*file) return deleted;
  const Bytes bytes = (*file)->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    deleted.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return deleted;
}

std::string name_in_deleted(const StoredReport& report) {
  return report.application + ' ' + report.id;
}

// Where in the batch's segments a report is.
struct Place {
  size_t segment = 0;
  Bytes payload;
};

// Folds one batch of segments.
class Batch {
 public:
  Batch(const StoreFolder& store, std::vector<uint64_t> segments, FoldResult& result)
      : store_(store),
        segments_(std::move(segments)),
        name_(fmt::format("{:020}-{:020}", segments_.front(), segments_.back())),
        result_(result) {}

  Result<void> run() {
    // Segments are removed only after everything is in its place. What cannot be looked at is not
    // gone.
    std::error_code failure;
    const bool whole = std::ranges::all_of(segments_, [&](uint64_t number) {
      return fs::exists(segment_path(store_.log(), number), failure) || failure;
    });
    if (whole) {
      if (auto written = fold_segments(); !written) return written;
    }
    return finish();
  }

 private:
  using Partition = std::tuple<std::string, std::string, std::string>;

  Result<void> fold_segments() {
    if (auto sorted = sort_reports(); !sorted) return sorted;
    if (auto written = write_files(); !written) return written;
    // Ids first: a report in a file is one that the store knows.
    if (!keys_.empty()) {
      if (auto written = write_ids(fmt::format("{}/{}.ids", store_.ids(), name_), keys_); !written)
        return written;
    }
    // An interrupted fold of this batch may have left files; if reports were deleted since, more
    // than there are now.
    const auto files = run_files(store_);
    if (!files) return std::unexpected(files.error());
    for (const RunFile& file : *files) {
      if (!fs::path(file.path).stem().string().starts_with(name_)) continue;
      if (auto removed = remove_file(file.path); !removed) return removed;
    }
    std::set<std::string> folders;
    for (const auto& [from, to] : renames_) {
      if (::rename(from.c_str(), to.c_str()) != 0) return io_error(to, "cannot rename", errno);
    }
    for (const auto& [from, to] : renames_) folders.insert(fs::path(to).parent_path().string());
    for (const std::string& folder : folders) {
      if (auto synced = sync_folder(folder); !synced) return synced;
    }
    return {};
  }

  // The ids of the reports in earlier batches. Damaged files of ids are reported as problems,
  // because their reports may be folded again.
  Result<StoredIds> read_known() {
    const auto paths = files_in(store_.ids(), ".ids");
    if (!paths) return std::unexpected(paths.error());
    StoredIds known;
    for (const std::string& path : *paths) {
      if (fs::path(path).stem() == name_) continue;  // this batch's, of an interrupted fold
      const auto keys = read_ids(path);
      if (keys) {
        known.add(*keys);
      } else if (keys.error().cause == Error::Cause::io) {
        return std::unexpected(keys.error());
      } else {
        result_.problems.add({Problem::Kind::corruption, keys.error().offset.value_or(0), path,
                              "Ids", keys.error().detail, 0});
      }
    }
    return known;
  }

  // Finds the reports, without those that the store has.
  Result<void> sort_reports() {
    const auto deleted = read_deleted(store_);
    if (!deleted) return std::unexpected(deleted.error());
    auto read = read_known();
    if (!read) return std::unexpected(read.error());
    StoredIds known = *std::move(read);
    for (const uint64_t number : segments_) {
      const std::string path = segment_path(store_.log(), number);
      Result<InputFile> file = InputFile::open(path);
      if (!file) return std::unexpected(file.error());
      files_.push_back(*std::move(file));
      ++result_.segments;
      ProblemLog problems;
      SegmentReader reader(files_.back().bytes(), path, problems);
      while (const auto entry = reader.next()) {
        const auto view = read_payload(entry->payload);
        if (!view) {
          problems.add({Problem::Kind::corruption, entry->offset, path, "Entry",
                        view.error().detail, entry->payload.size()});
          continue;
        }
        const ReportKey key = key_of(view->head);
        if (known.find(key)) {
          ++result_.duplicates;
          continue;
        }
        known.add(key);
        known.settle();
        keys_.push_back(key);
        if (deleted->contains(name_in_deleted(view->head))) {
          ++result_.deleted;
          continue;
        }
        const StoredReport& head = view->head;
        partitions_[{head.application, head.build, day_of(head.received_us)}].push_back(
            {files_.size() - 1, entry->payload});
      }
      // A torn end is what a crash leaves; anything else may be worth a look.
      const std::vector<Problem> kept = problems.kept();
      damaged_.push_back(std::ranges::any_of(
          kept, [](const Problem& p) { return p.kind == Problem::Kind::corruption; }));
      result_.problems.merge(problems);
    }
    return {};
  }

  Result<void> write_files() {
    if (partitions_.empty()) return {};
    auto database = Database::open(kMemoryBytes, store_.temporary());
    if (!database) return std::unexpected(database.error());
    Connection connection(*database);
    for (const auto& [partition, places] : partitions_) {
      const auto& [application, build, day] = partition;
      const std::string folder =
          fmt::format("{}/application={}/build={}/day={}", store_.runs(), application, build, day);
      if (auto made = make_folder(folder); !made) return made;
      RunRowWriter writer(connection);
      size_t piece = 0;
      for (const Place& place : places) {
        auto row = read_row(place);
        if (auto added = writer.add(std::move(row)); !added) return added;
        if (!writer.is_full()) continue;
        if (auto written = write_file(writer, folder, piece++); !written) return written;
      }
      if (writer.rows() == 0) continue;
      if (auto written = write_file(writer, folder, piece); !written) return written;
    }
    return {};
  }

  RunRow read_row(const Place& place) {
    PayloadView view = *read_payload(place.payload);
    RunRow row;
    row.report = std::move(view.head);
    const std::string name = fmt::format("report {}", row.report.id);
    ProblemLog problems;
    if (row.report.encoding.empty()) {
      row.report.body.assign(reinterpret_cast<const char*>(view.body.data()), view.body.size());
    } else if (auto text = decompress_whole(row.report.encoding, view.body,
                                            {kMaxReportBytes, 0, uint64_t{128} << 20})) {
      row.report.body = *std::move(text);
    } else {
      problems.add({Problem::Kind::corruption, 0, name, "Report", text.error().detail, 0});
    }
    take_paths(row, name, problems);
    row.sections = read_observations(as_bytes(row.report.body), name, problems);
    if (row.report.label == RunLabel::failed)
      row.backtrace = read_backtrace(as_bytes(row.report.body));
    row.damage = static_cast<uint32_t>(problems.damage_count());
    result_.problems.merge(problems);
    ++result_.reports;
    return row;
  }

  // Takes the path file from the end of the body.
  static void take_paths(RunRow& row, const std::string& name, ProblemLog& problems) {
    const uint64_t bytes = row.report.paths_bytes;
    if (bytes == 0) return;
    std::string& body = row.report.body;
    if (bytes > body.size()) {
      problems.add({Problem::Kind::corruption, 0, name, "Path file",
                    fmt::format("is not there: the body has {} bytes", body.size()), bytes});
      return;
    }
    row.paths = gzip(as_bytes(body).last(bytes));
    body.resize(body.size() - bytes);
  }

  Result<void> write_file(RunRowWriter& writer, const std::string& folder, size_t piece) {
    const std::string temporary =
        fmt::format("{}/{}-{}.parquet", store_.temporary(), name_, renames_.size());
    if (auto written = writer.write(temporary); !written) return written;
    if (auto synced = sync_file(temporary); !synced) return synced;
    renames_.emplace_back(temporary, fmt::format("{}/{}-{}.parquet", folder, name_, piece));
    ++result_.files;
    return {};
  }

  // Removes the segments, or keeps damaged ones aside, and then the plan.
  Result<void> finish() {
    for (size_t i = 0; i < segments_.size(); ++i) {
      const std::string path = segment_path(store_.log(), segments_[i]);
      if (i < damaged_.size() && damaged_[i]) {
        const std::string aside = segment_path(store_.damaged(), segments_[i]);
        if (::rename(path.c_str(), aside.c_str()) != 0) {
          const int why = errno;
          std::error_code failure;
          // An interrupted fold may have moved it. If it is still there, it would be folded again.
          if (why != ENOENT || fs::exists(path, failure))
            return io_error(aside, "cannot rename", why);
        }
      } else if (auto removed = remove_file(path); !removed) {
        return removed;
      }
    }
    if (auto synced = sync_folder(store_.log()); !synced) return synced;
    if (auto removed = remove_file(store_.plan()); !removed) return removed;
    return sync_folder(store_.log());
  }

  const StoreFolder& store_;
  const std::vector<uint64_t> segments_;
  const std::string name_;
  FoldResult& result_;
  std::vector<InputFile> files_;
  std::vector<bool> damaged_;  // by segment
  std::map<Partition, std::vector<Place>> partitions_;
  std::vector<ReportKey> keys_;
  std::vector<std::pair<std::string, std::string>> renames_;
};

// The segments to fold next: those of an interrupted fold, or ended ones. The plan names them.
Result<std::vector<uint64_t>> plan_batch(const StoreFolder& store, ProblemLog& problems) {
  auto begun = store.planned();
  if (!begun || !begun->empty()) return begun;
  std::vector<uint64_t> batch;
  const auto segments = store.segments();
  if (!segments) return std::unexpected(segments.error());
  uint64_t bytes = 0;
  std::string plan;
  for (const uint64_t number : *segments) {
    const std::string path = segment_path(store.log(), number);
    if (!is_ended(path)) continue;
    std::error_code failure;
    const uintmax_t size = fs::file_size(path, failure);
    if (!batch.empty() && bytes + size > kBatchBytes) break;
    bytes += failure ? 0 : size;
    batch.push_back(number);
    plan += fmt::format("{}\n", number);
  }
  if (batch.empty()) return batch;
  if (auto written = replace_file(store.plan(), plan); !written) {
    problems.add({Problem::Kind::loss, 0, store.plan(), "Plan", written.error().detail, 0});
    return std::unexpected(written.error());
  }
  return batch;
}

Result<FoldResult> fold_locked(const StoreFolder& store) {
  FoldResult result;
  // Copies of a store may lack folders that were empty.
  if (auto made = store.create(); !made) return std::unexpected(made.error());
  // What interrupted folds left.
  const auto left = files_in(store.temporary(), ".parquet");
  if (!left) return std::unexpected(left.error());
  for (const std::string& path : *left) {
    if (auto removed = remove_file(path); !removed) return std::unexpected(removed.error());
  }
  for (;;) {
    const auto batch = plan_batch(store, result.problems);
    if (!batch) return std::unexpected(batch.error());
    if (batch->empty()) return result;
    if (auto folded = Batch(store, *batch, result).run(); !folded)
      return std::unexpected(folded.error());
  }
}

Result<LockFile> lock_for_folding(const StoreFolder& store) {
  if (!store.exists()) return usage_error(store.path() + " is not a store");
  return LockFile::take(store.fold_lock(), true);
}

// Writes a file anew without the rows of these ids. Returns how many it had.
Result<uint64_t> delete_from(Connection& connection, const StoreFolder& store,
                             const std::string& path, const std::string& list) {
  Rows rows(connection);
  if (auto begun = rows.begin(
          fmt::format("SELECT count(*) FILTER (id IN ({0})), count(*) FROM read_parquet({1}, "
                      "hive_partitioning = false)",
                      list, sql_text(path)));
      !begun)
    return std::unexpected(begun.error());
  const auto chunk = rows.next();
  if (!chunk) return std::unexpected(chunk.error());
  const duckdb::Functions& f = connection.functions();
  const auto count = [&](uint64_t column) {
    return static_cast<const uint64_t*>(
        f.vector_get_data(f.data_chunk_get_vector(*chunk, column)))[0];
  };
  const uint64_t found = count(0);
  if (found == 0) return 0;
  if (found == count(1)) {
    if (auto removed = remove_file(path); !removed) return std::unexpected(removed.error());
    return found;
  }
  const std::string temporary = store.temporary() + "/delete.parquet";
  Result<void> done = connection.run(fmt::format(
      "COPY (SELECT * FROM read_parquet({}, hive_partitioning = false) WHERE id NOT IN ({})) TO {} "
      "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)",
      sql_text(path), list, sql_text(temporary)));
  if (done) done = sync_file(temporary);
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0)
    done = io_error(path, "cannot rename", errno);
  if (done) done = sync_folder(fs::path(path).parent_path().string());
  if (!done) return std::unexpected(done.error());
  return found;
}

Result<void> remove_digests(const RunFile& file) {
  for (const std::string& digest : {file.digest, file.path_digest}) {
    if (digest.empty()) continue;
    if (auto removed = remove_file(digest); !removed) return removed;
  }
  return {};
}

// The folders above a file and below `top` that are empty.
void remove_empty_folders(const std::string& path, const std::string& top) {
  std::error_code failure;
  for (fs::path folder = fs::path(path).parent_path(); folder != top;
       folder = folder.parent_path()) {
    if (!fs::remove(folder, failure)) return;
  }
}

}  // namespace

Result<FoldResult> fold(const StoreFolder& store) {
  const Result<LockFile> lock = lock_for_folding(store);
  if (!lock) return std::unexpected(lock.error());
  return fold_locked(store);
}

Result<uint64_t> delete_reports(const StoreFolder& store, const std::string& application,
                                const std::vector<std::string>& ids) {
  if (!is_application(application)) return usage_error(application + " is not an application");
  std::string list;
  std::string lines;
  for (const std::string& id : ids) {
    if (!is_report_id(id)) return usage_error(id + " is not the id of a report");
    list += (list.empty() ? "" : ", ") + sql_text(id);
    lines += application + ' ' + id + '\n';
  }
  const Result<LockFile> lock = lock_for_folding(store);
  if (!lock) return std::unexpected(lock.error());
  // From here on, folding leaves them out.
  const auto before = read_deleted(store);
  if (!before) return std::unexpected(before.error());
  std::string deleted;
  for (const std::string& line : *before) deleted += line + '\n';
  if (auto written = replace_file(store.deleted(), deleted + lines); !written)
    return std::unexpected(written.error());
  if (const auto folded = fold_locked(store); !folded) return std::unexpected(folded.error());
  auto database = Database::open(kMemoryBytes, store.temporary());
  if (!database) return std::unexpected(database.error());
  Connection connection(*database);
  uint64_t found = 0;
  const auto files = run_files(store);
  if (!files) return std::unexpected(files.error());
  for (const RunFile& file : *files) {
    if (file.application != application) continue;
    const auto removed = delete_from(connection, store, file.path, list);
    if (!removed) return std::unexpected(removed.error());
    // The digests are removed after the runs: an isolation in between would make them again, of the
    // deleted runs.
    if (*removed != 0) {
      if (auto gone = remove_digests(file); !gone) return std::unexpected(gone.error());
    }
    found += *removed;
  }
  return found;
}

Result<uint64_t> remove_before(const StoreFolder& store, const std::string& day) {
  const Result<LockFile> lock = lock_for_folding(store);
  if (!lock) return std::unexpected(lock.error());
  std::set<std::string> kept_batches;
  std::vector<RunFile> old;
  const auto batch_of = [](const std::string& path) {
    const std::string name = fs::path(path).stem().string();
    return name.substr(0, name.rfind('-'));
  };
  auto files = run_files(store);
  if (!files) return std::unexpected(files.error());
  for (RunFile& file : *files) {
    if (file.day < day) {
      old.push_back(std::move(file));
    } else {
      kept_batches.insert(batch_of(file.path));
    }
  }
  for (const RunFile& file : old) {
    if (auto removed = remove_file(file.path); !removed) return std::unexpected(removed.error());
    remove_empty_folders(file.path, store.runs());
    if (auto gone = remove_digests(file); !gone) return std::unexpected(gone.error());
    if (!file.digest.empty()) remove_empty_folders(file.digest, store.digests());
    if (kept_batches.contains(batch_of(file.path))) continue;
    if (auto removed = remove_file(fmt::format("{}/{}.ids", store.ids(), batch_of(file.path)));
        !removed)
      return std::unexpected(removed.error());
  }
  return old.size();
}

}  // namespace telltale::collect
