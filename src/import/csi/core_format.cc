// Core files: what a process left in memory when it was stopped.
#include <elf.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "import/csi/core_recording.h"
#include "import/format_descriptor.h"
#include "program/core_file.h"

namespace telltale {
namespace {

Confidence sniff(Bytes file) { return is_core_file(file) ? Confidence::certain : Confidence::none; }

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter*) {
  FileCheck checked;
  checked.damage.merge(file.problems());
  const Result<CoreFile> core = CoreFile::read(file.bytes(), file.name(), checked.damage);
  if (!core) return std::unexpected(core.error());
  checked.format = "core";
  checked.version = "1";
  checked.title = "ELF core file";
  checked.records = core->segments().size() + core->notes().size();
  checked.valid = checked.damage.count() == 0;
  return checked;
}

std::string segment_type(uint32_t type) {
  if (type == PT_LOAD) return "PT_LOAD";
  if (type == PT_NOTE) return "PT_NOTE";
  return std::to_string(type);
}

// Segments and notes in the order of the file.
Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter*) {
  ProblemLog found;
  const Result<CoreFile> core = CoreFile::read(file.bytes(), file.name(), found);
  if (!core) return std::unexpected(core.error());
  BlockWriter out(sink);
  const auto address = [&](uint64_t value) {
    return style == DumpStyle::json ? fmt::format("\"{:#x}\"", value) : fmt::format("{:#x}", value);
  };
  for (const ElfSegment& segment : core->segments()) {
    DumpLine(style, segment.offset, "Segment", out.block())
        .word("type", segment_type(segment.type))
        .raw("address", address(segment.address))
        .number("file_bytes", segment.file_size)
        .number("memory_bytes", segment.memory_size)
        .number("flags", segment.flags);
    out.flush_if_full();
  }
  for (const ElfNote& note : core->notes()) {
    DumpLine(style, note.offset, "Note", out.block())
        .text("name", note.name)
        .word("type", core_note_name(note))
        .number("bytes", note.bytes.size());
    out.flush_if_full();
  }
  for (const CoreThread& thread : core->threads()) {
    DumpLine(style, 0, "Thread", out.block())
        .number("tid", thread.tid)
        .raw("pc", address(thread.pc));
  }
  for (const CoreMapping& mapping : core->mappings()) {
    DumpLine(style, mapping.file_offset, "MappedFile", out.block())
        .raw("begin", address(mapping.begin))
        .raw("end", address(mapping.end))
        .text("path", mapping.path);
    out.flush_if_full();
  }
  for (const Problem& problem : found.kept()) dump_problem(problem, style, out);
  problems.merge(found);
  return out.finish();
}

}  // namespace

constinit const FormatDescriptor formats::core = {
    .name = "core",
    .noun = "a core file",
    .versions = "ELF core files of Linux",
    .page = "csi.md",
    .targets = {},
    .sniff = sniff,
    .open = CoreRecording::open,
    .check = check,
    .dump = dump,
};

}  // namespace telltale
