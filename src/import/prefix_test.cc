// Every prefix of every valid sample through open, info, profile and export.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "formats/stacktrack/recognise.h"
#include "formats/xray/convert.h"
#include "formats/xray/fdr_frames.h"
#include "import/event_recording.h"
#include "import/id_names.h"
#include "import/stacktrack/stacktrack_recording.h"
#include "import/xray/xray_recording.h"
#include "import/xray/xray_yaml_recording.h"
#include "support/stacktrack_samples.h"
#include "support/xray_samples.h"

namespace telltale {
namespace {

// Sizes at which a file may end without loss.
std::set<uint64_t> clean_ends(const std::string& bytes, const xray::FileHeader& header) {
  std::set<uint64_t> ends = {xray::kFileHeaderBytes};
  if (header.type == xray::LogType::basic) {
    for (uint64_t end = xray::kFileHeaderBytes; end <= bytes.size(); end += xray::kBasicRecordBytes)
      ends.insert(end);
  } else {
    for (const auto& frame : xray::frame_fdr_file(as_bytes(bytes), header, "sample").buffers)
      ends.insert(frame.end);
  }
  return ends;
}

template <typename Source>
void play_everything(const Source& recording, const std::string& where) {
  const TimedCallsOf<Source> calls(recording);
  ProblemLog problems;
  static_cast<void>(calls.profile({}, problems));
  Result<OutputFile> out = OutputFile::open("/dev/null");
  ASSERT_TRUE(out);
  const auto remarks = calls.export_calls({}, ExportFormat::perfetto, *out, problems);
  ASSERT_TRUE(remarks) << where << to_string(remarks.error());
}

TEST(Prefix, OfEverySampleGivesWhatIsThereAndSaysWhatIsMissing) {
  for (const testing::Sample& sample : testing::valid_samples()) {
    const auto header = xray::read_file_header(as_bytes(sample.bytes));
    ASSERT_TRUE(header) << sample.name;
    const std::set<uint64_t> ends = clean_ends(sample.bytes, *header);
    uint64_t records_before = 0;
    for (size_t size = xray::kFileHeaderBytes; size <= sample.bytes.size(); ++size) {
      const std::string where = sample.name + " cut at " + std::to_string(size) + ": ";
      const std::string_view cut = std::string_view(sample.bytes).substr(0, size);
      std::vector<InputFile> inputs;
      inputs.push_back(InputFile::from_memory("sample", as_bytes(cut)));
      Result<XrayRecording> recording =
          XrayRecording::open(std::move(inputs), std::make_shared<IdNames>());
      ASSERT_TRUE(recording) << where << to_string(recording.error());
      const RecordingInfo info = recording->info(1);
      ASSERT_GE(info.records, records_before) << where;
      records_before = info.records;
      for (const Problem& problem : info.problems.kept()) {
        ASSERT_LE(problem.offset, size) << where << to_string(problem);
      }
      // In version 1 the filler after a buffer's end may be missing without loss.
      const bool fixed = header->type == xray::LogType::fdr && header->version == 1;
      if (ends.contains(size)) {
        ASSERT_FALSE(info.problems.damaged()) << where;
      } else if (!fixed) {
        ASSERT_TRUE(info.problems.damaged()) << where;
        ASSERT_GT(info.problems.lost_bytes(), 0U) << where;
      }
      play_everything(*recording, where);
    }
  }
}

TEST(Prefix, OfYamlGivesTheWholeRecordsBeforeTheCut) {
  for (const testing::Sample& sample : testing::valid_samples()) {
    std::string text;
    ProblemLog unused;
    const auto converted = xray::convert_trace(
        as_bytes(sample.bytes), "sample", *xray::parse_convert_target("yaml"),
        [&text](std::string_view block) -> Result<void> {
          text += block;
          return {};
        },
        unused);
    ASSERT_TRUE(converted) << sample.name;
    uint64_t records_before = 0;
    for (size_t size = 0; size <= text.size(); size += 1 + size / 64) {
      const std::string where = sample.name + " cut at " + std::to_string(size) + ": ";
      const std::string_view cut = std::string_view(text).substr(0, size);
      Result<XrayYamlRecording> recording = XrayYamlRecording::open(
          InputFile::from_memory("sample", as_bytes(cut)), std::make_shared<IdNames>());
      if (!recording) {  // the header is incomplete
        ASSERT_EQ(records_before, 0U) << where;
        continue;
      }
      const RecordingInfo info = recording->info(1);
      ASSERT_GE(info.records, records_before) << where;
      records_before = info.records;
      for (const Problem& problem : info.problems.kept()) ASSERT_LE(problem.offset, size) << where;
      play_everything(*recording, where);
    }
  }
}

TEST(Prefix, OfStackTrackStreamsGivesTheWholeRecordsBeforeTheCut) {
  for (const testing::Sample& sample : testing::stacktrack_samples()) {
    const stacktrack::StreamFormat format = *stacktrack::recognise(as_bytes(sample.bytes));
    const uint64_t entry = format.description.entry_size;
    uint64_t records_before = 0;
    for (size_t size = format.first_record + entry; size <= sample.bytes.size(); size += 7) {
      const std::string where = sample.name + " cut at " + std::to_string(size) + ": ";
      const std::string_view cut = std::string_view(sample.bytes).substr(0, size);
      std::vector<InputFile> inputs;
      inputs.push_back(InputFile::from_memory("sample", as_bytes(cut)));
      Result<StacktrackRecording> recording =
          StacktrackRecording::open(std::move(inputs), format.description);
      ASSERT_TRUE(recording) << where << to_string(recording.error());
      const RecordingInfo info = recording->info(1);
      ASSERT_GE(info.records, records_before) << where;
      records_before = info.records;
      for (const Problem& problem : info.problems.kept()) ASSERT_LE(problem.offset, size) << where;
      if ((size - format.first_record) % entry != 0) {
        ASSERT_TRUE(info.problems.damaged()) << where;
        ASSERT_GT(info.problems.lost_bytes(), 0U) << where;
      }
      play_everything(*recording, where);
    }
  }
}

}  // namespace
}  // namespace telltale
