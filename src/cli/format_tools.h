#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/input_file.h"
#include "cli/options/reading_options.h"
#include "import/open_recording.h"
#include "model/record_filter.h"
#include "output/dump_line.h"
#include "output/export_format.h"

namespace telltale::cli {

// What `check` says of one file, whatever its format.
struct FileCheck {
  struct Violation {
    uint64_t offset = 0;  // in the file
    std::string kind;
    std::string record;
    std::string message;
    std::string text;  // all of it, for people
  };
  std::string file;
  std::string format;   // "xray-fdr"
  std::string title;    // "XRay FDR version 5"
  std::string version;  // as the file says it
  uint64_t records = 0;
  std::vector<std::pair<std::string, uint64_t>> violations;  // by kind; only kinds that occur
  std::optional<Violation> first;                            // the one with the smallest offset
  // Of the compression around it, of text that has no grammar of its own, and what reading it as a
  // recording finds.
  ProblemLog damage;
  bool valid = false;
};

// What `convert` is to write, record by record.
struct RecordsTarget {
  ExportFormat format{};           // one that is_recording_format()
  std::string output_description;  // file with the RAW_FORMAT of StackTrack's target; may be empty
};
// What it could not carry over: in words, with how many.
using RecordLosses = std::vector<std::pair<std::string, uint64_t>>;

// What dump, check and convert call for files of one family of formats. A RecordFilter chooses
// records (of the recording that its clock is of); null: all.
struct FormatTools {
  bool (*recognises)(Bytes);
  Result<void> (*dump)(const InputFile&, const OpenOptions&, DumpStyle, const ByteSink&,
                       ProblemLog&, RecordFilter*);
  Result<FileCheck> (*check)(const InputFile&, const OpenOptions&, RecordFilter*);
  // Errors: usage, for a target that is of another family.
  Result<RecordLosses> (*convert)(const InputFile&, const OpenOptions&, const RecordsTarget&,
                                  const ByteSink&, ProblemLog&);
};

// A conversion's losses in words; `Loss` is a format's ConversionLoss.
template <typename Loss>
RecordLosses losses_of(const Loss& loss) {
  RecordLosses losses;
  for (size_t i = 0; i < Loss::kReasons; ++i) {
    const auto reason = static_cast<typename Loss::Reason>(i);
    if (loss.count(reason) != 0) losses.emplace_back(loss_text(reason), loss.count(reason));
  }
  return losses;
}

// What a format's verifier says, put into words. `Violation` is the format's.
template <typename Violation, typename Verdict>
void tell_verdict(const Verdict& verdict, FileCheck& checked) {
  checked.records = verdict.records;
  for (size_t i = 0; i < Violation::kKinds; ++i) {
    if (verdict.counts[i] == 0) continue;
    checked.violations.emplace_back(to_string(static_cast<typename Violation::Kind>(i)),
                                    verdict.counts[i]);
  }
  if (const auto& first = verdict.first) {
    checked.first = {first->offset, std::string(to_string(first->kind)), first->record,
                     first->message, to_string(*first)};
  }
  checked.valid = verdict.valid() && !checked.damage.damaged();
}

// Errors: bad_magic if no format knows the file.
Result<const FormatTools*> find_format_tools(const InputFile& file, const OpenOptions& options);

// Calls use(file, its tools, chosen records or null) for each file of the options, in order, until
// one fails; returns that error, with the file's name. A filter needs the whole recording: its
// start, and its functions' names.
Result<void> for_each_file(
    const ReadingOptions& options,
    const std::function<Result<void>(const InputFile&, const FormatTools&, RecordFilter*)>& use);

}  // namespace telltale::cli
