#include "collect/store/store_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/fnv.h"
#include "base/parallel.h"
#include "bytes/as_bytes.h"
#include "collect/log/durable_file.h"
#include "collect/store/duckdb.h"
#include "collect/store/report_parts.h"
#include "import/open_recording.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kPathMemoryBytes = uint64_t{512} << 20;
constexpr std::string_view kUnfinished = ".tmp";  // of replace_file()

// The programs of one file's runs. `identity` is a hash of them. It is 0 if there are none: then
// the result depends on the programs that this machine has, and is not kept in a digest.
struct FilePrograms {
  std::vector<std::string> paths;
  uint64_t identity = 0;
};

Result<FilePrograms> programs_of(const StoreFolder& store, const RunFile& file,
                                 const std::vector<std::string>& given) {
  auto stored = stored_programs(store, file.application, file.build);
  if (!stored) return std::unexpected(stored.error());
  FilePrograms programs;
  programs.paths = *std::move(stored);
  programs.paths.insert(programs.paths.end(), given.begin(), given.end());
  std::string all;
  for (const std::string& path : programs.paths) {
    if (const auto identity = FileIdentity::of(path))
      all += fmt::format("{} {} {}\n", identity->bytes, identity->modified_ns, identity->inode);
  }
  if (!all.empty()) programs.identity = std::max<uint64_t>(fnv1a(all), 1);
  return programs;
}

// The runs of a file with their path files, not decoded.
struct RawPaths {
  std::vector<RunPaths> runs;
  std::vector<std::string> files;  // of each
};

Result<RawPaths> read_raw(const Database& database, const RunFile& file) {
  RawPaths raw;
  Connection connection(database);
  auto done = read_stored_paths(connection, file.path, [&](const StoredPaths& run) {
    raw.runs.push_back({std::string(run.id), std::string(run.label), PathRun()});
    raw.files.emplace_back(run.file);
  });
  if (done) return raw;
  done.error().file = file.path;
  return std::unexpected(done.error());
}

void decode(RawPaths& raw, const FilePrograms& programs, const InputLimits& limits,
            size_t workers) {
  OpenOptions options;
  options.programs = programs.paths;
  options.other_programs = true;
  options.limits = limits;
  options.thread_names = false;
  parallel_for(raw.runs.size(), worker_count(workers), [&](size_t i, size_t) {
    Result<std::string> unpacked = unpack_paths(raw.files[i]);
    const std::string file = unpacked ? *std::move(unpacked) : std::string();
    const OpenRecording open = [&](const RunRecording& run) {
      std::vector<InputFile> inputs;
      inputs.push_back(InputFile::from_memory(run.path, as_bytes(file)));
      return open_recording(std::move(inputs), options);
    };
    raw.runs[i].read = read_path_run({.path = raw.runs[i].id}, open);
    // A stranger's file must not end the reading of all.
    if (auto& error = raw.runs[i].read.error) {
      raw.runs[i].read.problems.add({Problem::Kind::corruption, error->offset.value_or(0),
                                     raw.runs[i].id, error->record, error->detail, 0});
      error.reset();
    }
  });
}

// The runs that a digest has; none: there is none of this file and these programs. Errors: of a
// digest that another program wrote.
Result<std::optional<std::vector<RunPaths>>> read_kept(const RunFile& file,
                                                       const FileIdentity& identity,
                                                       uint64_t programs) {
  using Kept = std::optional<std::vector<RunPaths>>;
  const Result<InputFile> samples = InputFile::open(file.digest);
  if (samples && is_digest_without_paths(samples->bytes(), identity))
    return Kept(std::vector<RunPaths>());
  const Result<InputFile> digest = InputFile::open(file.path_digest);
  if (!digest || !is_path_digest_of(digest->bytes(), identity, programs)) return Kept();
  auto runs = read_path_digest(digest->bytes());
  if (runs) return Kept(*std::move(runs));
  runs.error().file = file.path_digest;
  return std::unexpected(runs.error());
}

// Reads the path files of runs. DuckDB's library is loaded if a digest is missing.
class PathReader {
 public:
  PathReader(const InputLimits& limits, size_t workers) : limits_(limits), workers_(workers) {}

  Result<std::vector<RunPaths>> read(const RunFile& file, const FilePrograms& programs) {
    const std::optional<FileIdentity> identity = FileIdentity::of(file.path);
    const bool has_digests = identity && !file.path_digest.empty();
    if (has_digests) {
      auto kept = read_kept(file, *identity, programs.identity);
      if (!kept) return std::unexpected(kept.error());
      if (*kept) return **std::move(kept);
    }
    if (!database_) database_.emplace(Database::open(kPathMemoryBytes, ""));
    if (!*database_) return std::unexpected(database_->error());
    auto raw = read_raw(**database_, file);
    if (!raw) return std::unexpected(raw.error());
    decode(*raw, programs, limits_, workers_);
    if (has_digests && programs.identity != 0) {
      keep_digest(file.path, *identity, file.path_digest,
                  to_path_digest(raw->runs, *identity, programs.identity));
    }
    return std::move(raw->runs);
  }

 private:
  const InputLimits& limits_;
  size_t workers_;
  std::optional<Result<Database>> database_;
};

}  // namespace

Result<std::vector<RunPaths>> read_store_paths(const StoreFolder& store,
                                               const std::vector<RunFile>& files,
                                               const std::vector<std::string>& programs,
                                               const InputLimits& limits, size_t workers) {
  PathReader reader(limits, workers);
  std::vector<RunPaths> all;
  for (const RunFile& file : files) {
    const auto of_file = programs_of(store, file, programs);
    if (!of_file) return std::unexpected(of_file.error());
    auto runs = reader.read(file, *of_file);
    if (!runs && damage_of(file, runs.error())) continue;
    if (!runs) return std::unexpected(runs.error());
    std::ranges::move(*runs, std::back_inserter(all));
  }
  return all;
}

Result<std::vector<std::string>> stored_programs(const StoreFolder& store,
                                                 const std::string& application,
                                                 const std::string& build) {
  auto programs = paths_in(store.programs_of(application, build));
  std::error_code failure;
  if (programs)
    std::erase_if(*programs, [&](const std::string& p) {
      return !fs::is_regular_file(p, failure) || fs::path(p).extension() == kUnfinished;
    });
  return programs;
}

Result<void> store_program(const StoreFolder& store, const std::string& application,
                           const std::string& build, const std::string& program) {
  const Result<InputFile> file = InputFile::open(program);
  if (!file) return std::unexpected(file.error());
  const std::string folder = store.programs_of(application, build);
  if (auto made = make_folder(folder); !made) return made;
  const Bytes bytes = file->bytes();
  return replace_file(folder + "/" + fs::path(program).filename().string(),
                      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace telltale::collect
