#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/xray/side_record.h"
#include "import/open_options.h"
#include "import/xray/xray_recording.h"
#include "model/function_names.h"

namespace telltale {

// The combined side records of a recording's files.
struct XraySideRecords {
  std::shared_ptr<const FunctionNames> names;        // null: no file has a side record
  std::vector<XrayRecording::FileContext> contexts;  // one a file
  uint64_t functions = 0;  // that they name by address; other ids are those of programs
};

// Reads the side records of `inputs`: the side record of TRACE is the file TRACE.side, or for
// TRACE.gz, .zst, .xz and .lz4 also TRACE.side and, for example, TRACE.side.gz. One that is
// unreadable, or of another process, is a problem, and so are recorded losses. Errors: those of
// RecordedNames::open.
Result<XraySideRecords> open_side_records(const std::vector<InputFile>& inputs,
                                          const OpenOptions& options, ProblemLog& problems);

// The path of the trace's side record, if there is one.
std::optional<std::string> side_record_of(const std::string& trace);

// The path of the side record that telltale's recorder wrote for the trace, if it is not there.
std::optional<std::string> missing_side_record(const InputFile& trace);

// The process that the side record of a trace names, if the trace itself names none (FDR before
// version 3); otherwise 0.
uint32_t process_beside(const InputFile& trace);

// Whether a function has two numbers: its object was unloaded and loaded again. Then a recording's
// numbers are not those of its file.
bool numbers_twice(const xray::SideRecord& record);

// What `info` shows of a side record: names and values, in order.
std::vector<std::pair<std::string, std::string>> side_properties(const xray::SideRecord& record);

// "--function 'a*' --without 'b'": the options of `telltale run` that give the list of a
// SideRecord::chosen that is not empty.
std::string choice_words(std::string_view list);

}  // namespace telltale
