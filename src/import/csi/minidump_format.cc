// Minidumps: small core files of Breakpad, Crashpad, LLDB and others.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "import/csi/core_recording.h"
#include "import/format_descriptor.h"
#include "output/dump/dump_line.h"
#include "program/minidump.h"

namespace telltale {
namespace {

Confidence sniff(Bytes file) { return is_minidump(file) ? Confidence::certain : Confidence::none; }

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter*) {
  FileCheck checked;
  checked.damage.merge(file.problems());
  const Result<Minidump> dump = read_minidump(file.bytes(), file.name(), checked.damage);
  if (!dump) return std::unexpected(dump.error());
  checked.format = "minidump";
  checked.version = "1";
  checked.title = "minidump";
  checked.records = dump->streams.size();
  checked.valid = checked.damage.count() == 0;
  return checked;
}

constexpr auto kFields = std::to_array<Field>({
    field::text("type", "What the stream has."),
    field::bytes("bytes", "Size."),
    field::signed_id("tid", "Thread."),
    field::address("pc", "Where the thread was."),
    field::address("begin", "Where the module begins in the process."),
    field::address("end", "Where it ends."),
    field::text("path", "Path of the module."),
    field::text("build_id", "Its build-id."),
    field::address("address", "Where the memory was in the process."),
});

// The streams in the order of the directory, then what telltale reads of them.
void print_all(const Minidump& dump, DumpOutput& out) {
  for (const MinidumpStream& stream : dump.streams)
    DumpLine(out, stream.offset, "Stream")
        .word("type", minidump_stream_name(stream.type))
        .number("bytes", stream.size);
  for (const CoreThread& thread : dump.parts.threads)
    DumpLine(out, 0, "Thread").number("tid", thread.tid).address("pc", thread.pc);
  for (const CoreMapping& mapping : dump.parts.mappings)
    DumpLine(out, 0, "Module")
        .address("begin", mapping.begin)
        .address("end", mapping.end)
        .text("path", mapping.path)
        .text("build_id", mapping.build_id);
  for (const ElfSegment& memory : dump.parts.memory)
    DumpLine(out, memory.offset, "Memory")
        .address("address", memory.address)
        .number("bytes", memory.file_size);
}

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter*) {
  ProblemLog found;
  const Result<Minidump> dump = read_minidump(file.bytes(), file.name(), found);
  if (!dump) return std::unexpected(dump.error());
  DumpOutput out(style, sink);
  print_all(*dump, out);
  dump_problems(found, out, problems);
  return out.finish();
}

std::vector<RecordTable> records() {
  return record_tables(kFields, [](DumpOutput& out) {
    Minidump dump;
    dump.streams.emplace_back();
    dump.parts.threads.emplace_back();
    dump.parts.mappings.emplace_back();
    dump.parts.memory.emplace_back();
    print_all(dump, out);
    dump_problem({}, out);
  });
}

}  // namespace

constinit const FormatDescriptor formats::minidump = {
    .name = "minidump",
    .noun = "a minidump",
    .versions = "minidumps of Linux programs",
    .page = "csi.md",
    .targets = {},
    .sniff = sniff,
    .open = CoreRecording::open_minidump,
    .check = check,
    .dump = dump,
    .records = records,
};

}  // namespace telltale
