#include "toy_format/toy_format.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/event_recording.h"
#include "output/dump/dump_line.h"
#include "toy_format/toy_recording.h"

namespace telltale::toy {
namespace {

constexpr auto kTargets =
    std::to_array<ConvertTarget>({{{"toy", ".toy", "a toy log without its bad lines"}}});

Confidence sniff(Bytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.starts_with(kMagic) ? Confidence::certain : Confidence::none;
}

Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files, const OpenOptions&) {
  Result<ToyRecording> recording = ToyRecording::open(std::move(files));
  if (!recording) return std::unexpected(recording.error());
  return make_event_recording(kFormat, *std::move(recording));
}

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter*) {
  FileCheck checked;
  checked.damage.merge(file.problems());
  checked.format = "toy";
  checked.version = "1";
  checked.title = "toy log";
  for (const Record& record : read_records(file.bytes())) {
    if (record.bad.empty()) {
      ++checked.records;
      continue;
    }
    checked.violations = {{"bad_line", checked.violations.empty() ? 1 : 2}};
    if (checked.first) continue;
    const std::string message = "neither an entry nor an exit";
    checked.first = {record.offset, "bad_line", "line", message,
                     "line at byte " + std::to_string(record.offset) + ": " + message};
  }
  checked.valid = checked.violations.empty() && !checked.damage.damaged();
  return checked;
}

constexpr auto kFields = std::to_array<Field>({
    field::ns("ns", "Time of the record."),
    field::text("function", "Name of the function."),
});

void print(const Record& record, DumpOutput& out) {
  DumpLine(out, record.offset, record.enters ? "Enter" : "Leave")
      .number("ns", record.time)
      .text("function", record.function);
}

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog&, RecordFilter*) {
  DumpOutput out(style, sink);
  for (const Record& record : read_records(file.bytes()))
    if (record.bad.empty()) print(record, out);
  return out.finish();
}

std::vector<RecordTable> records() {
  return record_tables(kFields, [](DumpOutput& out) {
    for (const bool enters : {true, false}) {
      Record record;
      record.enters = enters;
      print(record, out);
    }
  });
}

Result<RecordLosses> convert(std::span<const InputFile> files, const OpenOptions&,
                             const ConvertRequest&, const ByteSink& sink, ProblemLog& problems) {
  problems.merge(files.front().problems());
  BlockWriter out(sink);
  out.write(kMagic);
  uint64_t bad = 0;
  for (const Record& record : read_records(files.front().bytes())) {
    if (!record.bad.empty()) {
      ++bad;
      continue;
    }
    out.write(std::string(record.enters ? "+ " : "- ") + std::to_string(record.time) + " ");
    out.write(std::string(record.function) + "\n");
  }
  if (const Result<void> done = out.finish(); !done) return std::unexpected(done.error());
  RecordLosses losses;
  if (bad != 0) losses.emplace_back("lines that are none are left out", bad);
  return losses;
}

}  // namespace

constinit const FormatDescriptor kFormat = {
    .name = "toy",
    .noun = "a toy log",
    .versions = "1",
    .page = "toy.md",
    .targets = kTargets,
    .sniff = sniff,
    .open = open,
    .check = check,
    .dump = dump,
    .records = records,
    .convert = convert,
};

}  // namespace telltale::toy
