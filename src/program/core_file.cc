#include "program/core_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/sort_rows.h"
#include "program/core_registers.h"
#include "program/loaded_files.h"

namespace telltale {
namespace {

// Layouts of 64-bit Linux (linux/elfcore.h): offsets of fields in a note.
constexpr size_t kStatusSignal = 12;
constexpr size_t kStatusThread = 32;
constexpr size_t kStatusRegisters = 112;
constexpr size_t kProcessId = 24;
constexpr size_t kProcessArguments = 56;
constexpr size_t kProcessArgumentsSize = 80;
// A note of our own crash handler (runtime/paths/core_writer.cc).
constexpr uint32_t kLeftOutThreads = 2;

}  // namespace

Result<CoreFile> CoreFile::read(Bytes bytes, const std::string& name, ProblemLog& problems) {
  Result<ElfSegments> elf = read_elf_segments(bytes, name);
  if (!elf) return std::unexpected(elf.error());
  if (elf->type != ET_CORE) {
    return std::unexpected(
        Error{Error::Cause::bad_field, name, "ELF header", "not a core file", 16});
  }
  if (!elf->is_64_bit) {
    constexpr uint64_t kClass = 4;  // its place
    return std::unexpected(Error{Error::Cause::unsupported_version, name, "ELF header",
                                 "core files of 32-bit programs are not read", kClass});
  }
  CoreFile core;
  core.bytes_ = bytes;
  core.name_ = name;
  core.elf_ = *std::move(elf);
  if (core.elf_.missing != 0) {
    core.lacks_notes_ = true;
    problems.add({Problem::Kind::torn_tail, bytes.size(), name, "program headers",
                  fmt::format("{} of {} are missing", core.elf_.missing,
                              core.elf_.missing + core.elf_.segments.size()),
                  0});
  }
  uint64_t missing = 0;
  for (const ElfSegment& segment : core.elf_.segments) {
    const uint64_t left = bytes.size() - std::min<uint64_t>(segment.offset, bytes.size());
    if (segment.file_size > left) missing += segment.file_size - left;
    if (segment.type == PT_NOTE) core.read_notes(segment, problems);
  }
  if (missing != 0) {
    problems.add({Problem::Kind::torn_tail, bytes.size(), name, "memory",
                  "the file ends before the memory that its headers announce", missing});
  }
  core.index_memory();
  if (core.mappings_.empty()) core.mappings_ = loaded_files(core, core.program_name_address_);
  return core;
}

CoreFile CoreFile::from_parts(CoreParts parts, Bytes bytes, const std::string& name) {
  CoreFile core;
  core.bytes_ = bytes;
  core.name_ = name;
  core.elf_.type = ET_CORE;
  core.elf_.machine = parts.machine;
  core.elf_.segments = std::move(parts.memory);
  core.threads_ = std::move(parts.threads);
  core.mappings_ = std::move(parts.mappings);
  core.command_ = std::move(parts.command);
  core.pid_ = parts.pid;
  core.signal_ = parts.signal;
  core.program_headers_address_ = parts.program_headers_address;
  core.vdso_address_ = parts.vdso_address;
  core.index_memory();
  return core;
}

void CoreFile::index_memory() {
  for (ElfSegment segment : elf_.segments) {
    if (segment.type != PT_LOAD || segment.file_size == 0 || segment.offset >= bytes_.size())
      continue;
    segment.file_size = std::min<uint64_t>(segment.file_size, bytes_.size() - segment.offset);
    memory_.push_back(segment);
  }
  // Without those that lie in others, the one that begins last before an address reaches farthest.
  const auto end = [](const ElfSegment& segment) { return segment.address + segment.file_size; };
  sort_rows(memory_, [&](const ElfSegment& one, const ElfSegment& other) {
    return std::pair(one.address, end(other)) < std::pair(other.address, end(one));
  });
  uint64_t reached = 0;
  std::erase_if(memory_, [&](const ElfSegment& segment) {
    if (end(segment) <= reached) return true;
    reached = end(segment);
    return false;
  });
  // A variable may lie in two of them: mlock() and mprotect() on a part of a stack split it.
  std::vector<ElfSegment> joined;
  for (const ElfSegment& segment : memory_) {
    const bool continues = !joined.empty() && end(joined.back()) == segment.address &&
                           joined.back().offset + joined.back().file_size == segment.offset;
    if (continues)
      joined.back().file_size += segment.file_size;
    else
      joined.push_back(segment);
  }
  memory_ = std::move(joined);
}

void CoreFile::read_notes(const ElfSegment& segment, ProblemLog& problems) {
  const uint64_t begin = std::min<uint64_t>(segment.offset, bytes_.size());
  const uint64_t size = std::min<uint64_t>(segment.file_size, bytes_.size() - begin);
  // Segments that overlap would multiply the work.
  const bool read = std::ranges::any_of(notes_, [&](const ElfNote& note) {
    return note.offset >= begin && note.offset - begin < size;
  });
  if (read) return;
  const Cursor in(bytes_.subspan(static_cast<size_t>(begin), static_cast<size_t>(size)), elf_.order,
                  begin);
  const uint64_t end =
      for_each_elf_note(in, [&](const ElfNote& note) { read_note(note, problems); });
  if (end == begin + size && size == segment.file_size) return;
  lacks_notes_ = size != segment.file_size;
  problems.add({lacks_notes_ ? Problem::Kind::torn_tail : Problem::Kind::corruption, end, name_,
                "note", size == 0 ? "the file ends before its notes" : "the notes end inside one",
                begin + size - end});
}

void CoreFile::read_left_out(const ElfNote& note, ProblemLog& problems) {
  Cursor in(note.bytes, elf_.order, note.offset);
  left_out_threads_ = in.read<uint64_t>("threads");
  if (in.error() || left_out_threads_ == 0) return;
  problems.add({Problem::Kind::loss, note.offset, name_, "note",
                fmt::format("it has {} threads, and not the other {} of the process",
                            threads_.size(), left_out_threads_),
                0});
}

void CoreFile::read_note(const ElfNote& note, ProblemLog& problems) {
  notes_.push_back(note);
  if (note.name == "Telltale" && note.type == kLeftOutThreads) return read_left_out(note, problems);
  const Cursor in(note.bytes, elf_.order, note.offset);
  if (note.name == "LINUX" && note.type == NT_ARM_PAC_MASK) return read_signature_bits(in);
  if (note.name != "CORE") return;
  switch (note.type) {
    case NT_PRSTATUS:
      return read_thread(in);
    case NT_PRPSINFO:
      return read_process(in);
    case NT_AUXV:
      return read_auxiliary_vector(in);
    case NT_FILE:
      return read_mappings(in);
    default:
      return;
  }
}

void CoreFile::read_thread(Cursor in) {
  in.take(kStatusSignal, "pr_info");
  const auto signal = in.read<int16_t>("pr_cursig");
  in.take(kStatusThread - kStatusSignal - 2, "pr_sigpend");
  CoreThread thread;
  thread.tid = in.read<int32_t>("pr_pid");
  in.take(kStatusRegisters - kStatusThread - 4, "pr_ppid to pr_cstime");
  std::vector<uint64_t> stored;
  while (!in.error() && in.left() >= sizeof(uint64_t) && stored.size() < 64)
    stored.push_back(in.read<uint64_t>("pr_reg"));
  if (in.error()) return;
  if (threads_.empty()) signal_ = signal;
  set_core_registers(elf_.machine, stored, thread);
  threads_.push_back(std::move(thread));
}

void CoreFile::read_process(Cursor in) {
  in.take(kProcessId, "pr_state to pr_gid");
  const auto pid = in.read<int32_t>("pr_pid");
  in.take(kProcessArguments - kProcessId - 4, "pr_ppid to pr_fname");
  const Bytes arguments = in.take(kProcessArgumentsSize, "pr_psargs");
  if (in.error()) return;
  pid_ = pid;
  const auto end = std::ranges::find(arguments, std::byte{0});
  command_.assign(reinterpret_cast<const char*>(arguments.data()),
                  static_cast<size_t>(end - arguments.begin()));
  while (command_.ends_with(' ')) command_.pop_back();
}

void CoreFile::read_auxiliary_vector(Cursor in) {
  while (in.left() >= 2 * sizeof(uint64_t)) {
    const auto type = in.read<uint64_t>("a_type");
    const auto value = in.read<uint64_t>("a_val");
    if (type == AT_PHDR) program_headers_address_ = value;
    if (type == AT_EXECFN) program_name_address_ = value;
    if (type == AT_SYSINFO_EHDR) vdso_address_ = value;
  }
}

void CoreFile::read_mappings(Cursor in) {
  constexpr uint64_t kEntrySize = 24;
  const auto count = in.read<uint64_t>("count");
  const auto page = in.read<uint64_t>("page size");
  if (in.error() || count > in.left() / kEntrySize) return;
  Cursor ranges = in.split(count * kEntrySize, "ranges");
  const Bytes rest = in.rest();
  std::string_view names(reinterpret_cast<const char*>(rest.data()), rest.size());
  for (uint64_t i = 0; i < count; ++i) {
    CoreMapping mapping;
    mapping.begin = ranges.read<uint64_t>("start");
    mapping.end = ranges.read<uint64_t>("end");
    mapping.file_offset = ranges.read<uint64_t>("offset") * page;
    const size_t end = names.find('\0');
    if (end == std::string_view::npos) return;
    mapping.path = names.substr(0, end);
    names.remove_prefix(end + 1);
    mappings_.push_back(std::move(mapping));
  }
}

// struct user_pac_mask of AArch64's asm/ptrace.h.
void CoreFile::read_signature_bits(Cursor in) {
  in.read<uint64_t>("data_mask");
  const auto bits = in.read<uint64_t>("insn_mask");
  if (!in.error()) signature_bits_ = bits;
}

uint64_t CoreFile::signature_bits() const {
  constexpr uint64_t kAboveAddresses = 0xFFFF'0000'0000'0000;
  if (machine() != EM_AARCH64) return 0;
  return signature_bits_ != 0 ? signature_bits_ : kAboveAddresses;
}

Bytes CoreFile::memory(uint64_t address, uint64_t size) const {
  const auto after = std::ranges::upper_bound(memory_, address, {}, &ElfSegment::address);
  if (after == memory_.begin()) return {};
  const ElfSegment& segment = *(after - 1);
  const uint64_t into = address - segment.address;
  if (into >= segment.file_size) return {};
  return bytes_.subspan(static_cast<size_t>(segment.offset + into),
                        static_cast<size_t>(std::min(size, segment.file_size - into)));
}

std::optional<uint64_t> CoreFile::read_number(uint64_t address, size_t size) const {
  Cursor in(memory(address, size), elf_.order);
  if (in.left() != size) return std::nullopt;
  switch (size) {
    case 1:
      return in.read<uint8_t>("memory");
    case 2:
      return in.read<uint16_t>("memory");
    case 4:
      return in.read<uint32_t>("memory");
    case 8:
      return in.read<uint64_t>("memory");
    default:
      return std::nullopt;
  }
}

std::string core_note_name(const ElfNote& note) {
  if (note.name == "CORE") {
    switch (note.type) {
      case NT_PRSTATUS:
        return "NT_PRSTATUS";
      case NT_PRFPREG:
        return "NT_PRFPREG";
      case NT_PRPSINFO:
        return "NT_PRPSINFO";
      case NT_AUXV:
        return "NT_AUXV";
      case NT_FILE:
        return "NT_FILE";
      case NT_SIGINFO:
        return "NT_SIGINFO";
      default:
        break;
    }
  }
  if (note.name == "Telltale" && note.type == kLeftOutThreads) return "threads left out";
  if (note.name == "LINUX" && note.type == NT_X86_XSTATE) return "NT_X86_XSTATE";
  if (note.name == "LINUX" && note.type == NT_ARM_PAC_MASK) return "NT_ARM_PAC_MASK";
  return std::to_string(note.type);
}

}  // namespace telltale
