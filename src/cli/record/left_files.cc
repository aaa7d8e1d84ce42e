#include "cli/record/left_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/counted.h"
#include "bytes/input_file.h"
#include "cli/options/recording_writer.h"
#include "cli/record/kept_names.h"
#include "cli/record/process_end.h"
#include "formats/stacktrack/recognise.h"
#include "formats/stacktrack/records.h"
#include "formats/stacktrack/wire.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/records.h"
#include "formats/xray/side_record.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSideSuffix = ".side";

// NAME.PID.N, as the XRay recorder numbers further files.
bool is_numbered(std::string_view file, std::string_view name) {
  if (!file.starts_with(name)) return false;
  file.remove_prefix(name.size());
  for (int number = 0; number < 2; ++number) {
    if (!file.starts_with('.')) return false;
    const size_t digits = std::min(file.find_first_not_of("0123456789", 1), file.size()) - 1;
    if (digits == 0) return false;
    file.remove_prefix(1 + digits);
  }
  return file.empty();
}

bool names_recording(const RecorderPlan& plan, const std::string& file) {
  const bool is_named = !plan.name.empty() && (file == plan.name || is_numbered(file, plan.name));
  return is_named || std::ranges::any_of(plan.suffixes, [&](const std::string& suffix) {
           return file.ends_with(suffix);
         });
}

bool is_recording(const RecorderPlan& plan, const fs::directory_entry& entry) {
  std::error_code failure;
  return names_recording(plan, entry.path().filename().string()) && entry.is_regular_file(failure);
}

std::vector<std::string> new_recordings(const RecorderPlan& plan) {
  std::vector<std::string> fresh;
  std::ranges::set_difference(recordings_in(plan), plan.before, std::back_inserter(fresh));
  return fresh;
}

// The side record of a recording; empty if there is none, or an unreadable one.
xray::SideRecord side_record_of(const std::string& path) {
  ProblemLog problems;
  const std::string side = path + std::string(kSideSuffix);
  const Result<InputFile> input = InputFile::open(side);
  if (!input) return {};
  return xray::read_side_record(input->bytes(), side, problems).value_or(xray::SideRecord{});
}

bool has_events(const Result<InputFile>& input, const xray::FileHeader& header) {
  return !xray::frame_fdr_file(input->bytes(), header, input->name()).buffers.empty();
}

struct StacktrackLoss {
  uint64_t events = 0;
  uint64_t processes = 0;
};
// What the recorder of a StackTrack file has counted as lost, in records at its beginning. What a
// ring replaced is no loss.
StacktrackLoss stacktrack_loss(Bytes bytes) {
  const Result<stacktrack::StreamFormat> format = stacktrack::recognise(bytes);
  if (!format) return {};
  constexpr uint64_t kRecords = 64;
  const uint64_t entry = format->description.entry_size;
  StacktrackLoss lost;
  for (uint64_t i = 0; i < kRecords; ++i) {
    const uint64_t at = format->first_record + i * entry;
    if (at + entry > bytes.size()) break;
    const stacktrack::Record record{format->description,
                                    bytes.subspan(static_cast<size_t>(at), entry), at};
    if (!record.is(stacktrack::RecordKind::lost)) continue;
    const auto reason = static_cast<stacktrack::LostReason>(
        record.number(stacktrack::RecordKind::lost, stacktrack::Role::reason));
    using enum stacktrack::LostReason;
    const uint64_t count = record.number(stacktrack::RecordKind::lost, stacktrack::Role::count);
    if (reason == no_space || reason == reentered || reason == unfit) lost.events += count;
    if (reason == processes) lost.processes += count;
  }
  return lost;
}

}  // namespace

std::set<std::string> recordings_in(const RecorderPlan& plan) {
  std::set<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator at(plan.folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (is_recording(plan, *at)) names.insert(at->path().filename().string());
  }
  return names;
}

LeftFiles find_left_files(const RecorderPlan& plan, const ChildOutcome& outcome,
                          FolderWatch& watch) {
  LeftFiles left;
  const std::vector<std::string> removed = watch.removed();  // before this removes files itself
  for (const std::string& name : new_recordings(plan)) {
    const fs::path path = fs::path(plan.folder) / name;
    std::error_code failure;
    LeftFile file{.path = fs::proximate(path, failure).string(),
                  .bytes = fs::file_size(path, failure),
                  .note = {}};
    const Result<InputFile> input = InputFile::open(path.string());
    const auto header = input ? xray::read_file_header(input->bytes())
                              : Result<xray::FileHeader>(std::unexpected(input.error()));
    const xray::SideRecord side = side_record_of(path.string());
    left.compared_linkage_names |= side.compared_linkage_names;
    left.unrecorded_processes += side.unrecorded_children;
    if (side.unrecorded_error != 0) left.unrecorded_error = static_cast<int>(side.unrecorded_error);
    const bool runs = side.pid != 0 && !writer_has_ended(side.pid, {path.string()});
    if (!runs && header && header->type == xray::LogType::fdr && !has_events(input, *header)) {
      left.left_out += side.left_out;
      fs::remove(path, failure);
      fs::remove(path.string() + std::string(kSideSuffix), failure);
      continue;
    }
    write_process_end(path.string() + std::string(kSideSuffix), outcome);
    if (header && !runs) keep_names(path.string());
    if (header && header->recorder.lost_events != 0)
      file.note = fmt::format("{} lost{}", counted(header->recorder.lost_events, "event"),
                              side.lost_no_space == 0
                                  ? ""
                                  : ": the file may not grow further, see --size, --min and "
                                    "--mode ring");
    const StacktrackLoss lost =
        input && !header ? stacktrack_loss(input->bytes()) : StacktrackLoss{};
    left.unrecorded_processes += lost.processes;
    if (lost.events != 0) {
      file.note =
          counted(lost.events, "event") + " lost, see `telltale info`, --size and --mode ring";
    }
    file.is_xray = header.has_value();
    if (runs)
      file.note += file.note.empty() ? "its process still runs" : "; its process still runs";
    left.files.push_back(std::move(file));
  }
  if (!left.files.empty()) return left;
  for (const std::string& name : removed)
    if (names_recording(plan, name) && !plan.before.contains(name)) left.removed = name;
  for (const std::pair<std::string, std::string>& variable : plan.environment)
    if (left.waiting.empty() && variable.first.starts_with("TELLTALE_"))
      left.waiting = processes_started_with(variable);
  return left;
}

RecordedSoFar recorded_so_far(const RecorderPlan& plan) {
  RecordedSoFar recorded;
  for (const std::string& name : new_recordings(plan)) {
    const fs::path path = fs::path(plan.folder) / name;
    const Result<InputFile> input = InputFile::open(path.string());
    const auto header = input ? xray::read_file_header(input->bytes())
                              : Result<xray::FileHeader>(std::unexpected(input.error()));
    std::error_code failure;
    const uint64_t size = fs::file_size(path, failure);
    if (failure) continue;
    // The file is allocated in steps.
    const uint64_t used = header && header->recorder.parts
                              ? std::min(size, *header->recorder.parts * header->buffer_size)
                              : size;
    recorded.bytes += used;
    // Few records are not of this size.
    if (header) recorded.events += used / xray::kFunctionRecordBytes;
  }
  return recorded;
}

Result<void> clear_left_files(const RecorderPlan& plan) {
  for (const std::string& name : new_recordings(plan)) {
    const std::string path = (fs::path(plan.folder) / name).string();
    std::error_code failure;
    fs::remove(path + std::string(kSideSuffix), failure);
    if (!fs::remove(path, failure)) return io_error(path, "cannot remove", failure.value());
  }
  return {};
}

}  // namespace telltale::cli
