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
#include "import/recorded_names.h"
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
  if (!side || problems.count() != 0 || !side->names.empty()) return std::nullopt;
  return *std::move(side);
}

// Functions of maps that have events, by their numbers in the file.
std::set<uint32_t> called_of_maps(const TimedCalls& calls, const xray::SideRecord& side) {
  std::set<uint32_t> ids;
  if (numbers_twice(side)) {
    // The recording's numbers are others.
    constexpr uint32_t kMostFunctions = 1U << 20U;
    for (const xray::SideObject& object : side.objects) {
      if (object.functions > kMostFunctions) continue;
      for (uint32_t function = 1; function <= object.functions; ++function)
        ids.insert(object.id_base + function);
    }
    return ids;
  }
  ProblemLog problems;
  for (const FunctionProfile& function : calls.profile({}, problems).functions)
    ids.insert(to_number(function.function));
  return ids;
}

// Names as records of a side record; empty: none is known.
std::string encode_names(const std::set<uint32_t>& functions, const FunctionNames& names) {
  std::string records;
  for (const uint32_t function : functions) {
    const FunctionInfo& info = names.describe(FunctionId{function});
    if (info.linkage_name.empty()) continue;
    records += xray::encode_side_name({function, info.line, info.linkage_name, info.file});
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
  std::set<uint32_t> functions = called_of_maps(*(*recording)->timed_calls(), *side);
  for (const xray::SideDropped& dropped : side->dropped) functions.insert(dropped.id);
  for (const xray::SideFunction& called : side->functions) functions.insert(called.id);
  ProblemLog problems;
  const auto names = RecordedNames::open(*side, options, problems);
  if (!names) return;
  const std::string records = encode_names(functions, **names);
  if (!records.empty()) append(side_path, side->committed, records);
}

}  // namespace telltale::cli
