// Minidumps: small core files of Breakpad, Crashpad, LLDB and others.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "import/csi/core_recording.h"
#include "import/format_descriptor.h"
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

// The streams in the order of the directory, then what telltale reads of them.
Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter*) {
  ProblemLog found;
  const Result<Minidump> dump = read_minidump(file.bytes(), file.name(), found);
  if (!dump) return std::unexpected(dump.error());
  BlockWriter out(sink);
  const auto address = [&](uint64_t value) {
    return style == DumpStyle::json ? fmt::format("\"{:#x}\"", value) : fmt::format("{:#x}", value);
  };
  for (const MinidumpStream& stream : dump->streams) {
    DumpLine(style, stream.offset, "Stream", out.block())
        .word("type", minidump_stream_name(stream.type))
        .number("bytes", stream.size);
    out.flush_if_full();
  }
  for (const CoreThread& thread : dump->parts.threads) {
    DumpLine(style, 0, "Thread", out.block())
        .number("tid", thread.tid)
        .raw("pc", address(thread.pc));
    out.flush_if_full();
  }
  for (const CoreMapping& mapping : dump->parts.mappings) {
    DumpLine(style, 0, "Module", out.block())
        .raw("begin", address(mapping.begin))
        .raw("end", address(mapping.end))
        .text("path", mapping.path)
        .text("build_id", mapping.build_id);
    out.flush_if_full();
  }
  for (const ElfSegment& memory : dump->parts.memory) {
    DumpLine(style, memory.offset, "Memory", out.block())
        .raw("address", address(memory.address))
        .number("bytes", memory.file_size);
    out.flush_if_full();
  }
  for (const Problem& problem : found.kept()) dump_problem(problem, style, out);
  problems.merge(found);
  return out.finish();
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
};

}  // namespace telltale
