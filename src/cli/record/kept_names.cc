#include "cli/record/kept_names.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analysis/calls/profile.h"
#include "base/problem.h"
#include "bytes/byte_writer.h"
#include "bytes/input_file.h"
#include "formats/xray/side_record.h"
#include "import/open_recording.h"
#include "import/timed_calls.h"
#include "import/xray/xray_side_record.h"

namespace telltale::cli {
namespace {

// The side record, if it is whole and has no names yet.
std::optional<xray::SideRecord> nameless_side_record(const std::string& path) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return std::nullopt;
  ProblemLog problems;
  Result<xray::SideRecord> side = xray::read_side_record(input->bytes(), path, problems);
  if (!side || problems.count() != 0 || !side->names.empty() || numbers_twice(*side))
    return std::nullopt;
  return *std::move(side);
}

// Names as records of a side record; empty: none is known.
std::string encode_names(const TimedCalls& calls, const xray::SideRecord& side) {
  std::set<FunctionId> functions;
  ProblemLog problems;
  for (const FunctionProfile& function : calls.profile({}, problems).functions)
    functions.insert(function.function);
  for (const xray::SideDropped& dropped : side.dropped) functions.insert(FunctionId{dropped.id});
  std::string records;
  for (const FunctionId function : functions) {
    const FunctionInfo& info = calls.functions().describe(function);
    if (info.linkage_name.empty()) continue;
    records +=
        xray::encode_side_name({to_number(function), info.line, info.linkage_name, info.file});
  }
  return records;
}

// Readers ignore what is behind the committed bytes, so that a failure leaves a sound file.
void append(const std::string& side_path, uint64_t committed, const std::string& records) {
  const int file = ::open(side_path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  const ssize_t written =
      ::pwrite(file, records.data(), records.size(), static_cast<off_t>(committed));
  if (std::cmp_equal(written, records.size())) {
    ByteWriter size(std::endian::little);
    size.write(committed + records.size());
    [[maybe_unused]] const ssize_t ignored =
        ::pwrite(file, size.bytes().data(), size.size(), xray::kSideCommittedOffset);
  }
  ::close(file);
}

}  // namespace

void keep_names(const std::string& trace) {
  const std::string side_path = trace + ".side";
  const std::optional<xray::SideRecord> side = nameless_side_record(side_path);
  if (!side) return;
  OpenOptions options;
  options.files = {trace};
  const auto recording = open_recording(options);
  if (!recording || (*recording)->timed_calls() == nullptr) return;
  const std::string records = encode_names(*(*recording)->timed_calls(), *side);
  if (!records.empty()) append(side_path, side->committed, records);
}

}  // namespace telltale::cli
