// Core files: what a process left in memory when it was stopped.
#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "import/csi/core_recording.h"
#include "import/format_descriptor.h"
#include "output/dump/dump_line.h"
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

constexpr auto kFields = std::to_array<Field>({
    field::text("Segment.type", "Type of the segment."),
    field::address("address", "Where it was in the process."),
    field::bytes("file_bytes", "Size in the file."),
    field::bytes("memory_bytes", "Size in the process."),
    field::number_id("flags", "1 executable, 2 writable, 4 readable, added."),
    field::text("name", "Owner of the note."),
    field::text("Note.type", "Type of the note."),
    field::bytes("bytes", "Size."),
    field::signed_id("tid", "Thread."),
    field::address("pc", "Where the thread was."),
    field::address("begin", "Where the file begins in the process."),
    field::address("end", "Where it ends."),
    field::text("path", "Path of the file."),
});

// Segments and notes in the order of the file.
void print_segment(const ElfSegment& segment, DumpOutput& out) {
  DumpLine(out, segment.offset, "Segment")
      .word("type", segment_type(segment.type))
      .address("address", segment.address)
      .number("file_bytes", segment.file_size)
      .number("memory_bytes", segment.memory_size)
      .number("flags", segment.flags);
}
void print_note(const ElfNote& note, DumpOutput& out) {
  DumpLine(out, note.offset, "Note")
      .text("name", note.name)
      .word("type", core_note_name(note))
      .number("bytes", note.bytes.size());
}
void print_thread(const CoreThread& thread, DumpOutput& out) {
  DumpLine(out, 0, "Thread").number("tid", thread.tid).address("pc", thread.pc);
}
void print_mapping(const CoreMapping& mapping, DumpOutput& out) {
  DumpLine(out, mapping.file_offset, "MappedFile")
      .address("begin", mapping.begin)
      .address("end", mapping.end)
      .text("path", mapping.path);
}

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter*) {
  ProblemLog found;
  const Result<CoreFile> core = CoreFile::read(file.bytes(), file.name(), found);
  if (!core) return std::unexpected(core.error());
  DumpOutput out(style, sink);
  for (const ElfSegment& segment : core->segments()) print_segment(segment, out);
  for (const ElfNote& note : core->notes()) print_note(note, out);
  for (const CoreThread& thread : core->threads()) print_thread(thread, out);
  for (const CoreMapping& mapping : core->mappings()) print_mapping(mapping, out);
  dump_problems(found, out, problems);
  return out.finish();
}

std::vector<RecordTable> records() {
  return record_tables(kFields, [](DumpOutput& out) {
    print_segment({}, out);
    print_note({}, out);
    print_thread({}, out);
    print_mapping({}, out);
    dump_problem({}, out);
  });
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
    .records = records,
};

}  // namespace telltale
