#include "collect/client/redacted_paths.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <set>
#include <string_view>
#include <unordered_set>

#include "program/core_file.h"
#include "program/core_registers.h"

namespace telltale::collect {
namespace {

// In a note about the process (linux/elfcore.h).
constexpr size_t kArgumentsAt = 56;

// Programs of the system are found by their paths where the file is read.
bool is_of_system(std::string_view path) {
  constexpr std::array<std::string_view, 4> kFolders = {"/usr/", "/lib/", "/lib64/", "/bin/"};
  return std::ranges::any_of(kFolders,
                             [&](std::string_view folder) { return path.starts_with(folder); });
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Replaces the `size` bytes at `at` by `text`, padded with zeros. REQUIRES: text.size() <= size.
void overwrite(std::string& file, size_t at, size_t size, std::string_view text) {
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at), size, '\0');
  std::ranges::copy(text, file.begin() + static_cast<std::ptrdiff_t>(at));
}

// The list of mapped files ends with their names, each with a zero byte.
void redact_mapped_files(Bytes note, size_t at, std::string& file) {
  Cursor in(note);
  const auto count = in.read<uint64_t>("count");
  in.read<uint64_t>("page size");
  constexpr uint64_t kEntryBytes = 3 * sizeof(uint64_t);
  if (in.error() || count > in.left() / kEntryBytes) return;
  const size_t names_at = note.size() - in.left() + count * kEntryBytes;
  std::string_view names(reinterpret_cast<const char*>(note.data()) + names_at,
                         note.size() - names_at);
  std::string redacted;
  while (!names.empty()) {
    const size_t end = names.find('\0');
    const std::string_view name = names.substr(0, end);
    redacted += is_of_system(name) ? name : last_part(name);
    if (end == std::string_view::npos) break;
    redacted += '\0';
    names.remove_prefix(end + 1);
  }
  overwrite(file, at + names_at, note.size() - names_at, redacted);
}

// The loader's list of libraries is in memory.
void redact_in_memory(const CoreFile& core, const std::set<std::string>& paths, std::string& file) {
  for (const ElfSegment& segment : core.segments()) {
    if (segment.type != PT_LOAD || segment.offset >= file.size()) continue;
    const std::string_view memory =
        std::string_view(file).substr(segment.offset, segment.file_size);
    for (const std::string& path : paths) {
      for (size_t at = memory.find(path); at != std::string_view::npos; at = memory.find(path, at))
        overwrite(file, segment.offset + at, path.size(), last_part(path));
    }
  }
}

// Six characters in a row of texts that must not be sent. With fewer, addresses that calls return
// to would now and then be taken for text.
constexpr size_t kPieceBytes = 6;
using Pieces = std::unordered_set<uint64_t>;

uint64_t piece_at(std::string_view text, size_t at) {
  uint64_t piece = 0;
  std::memcpy(&piece, text.data() + at, kPieceBytes);
  return piece;
}

void add_pieces(std::string_view text, Pieces& pieces) {
  for (size_t at = 0; at + kPieceBytes <= text.size(); ++at) pieces.insert(piece_at(text, at));
}

// Arguments are separated by blanks in the note, and by zeros in memory.
void add_arguments(std::string_view arguments, Pieces& pieces) {
  arguments = arguments.substr(0, arguments.find('\0'));
  while (!arguments.empty()) {
    const size_t end = std::min(arguments.find(' '), arguments.size());
    add_pieces(arguments.substr(0, end), pieces);
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
}

bool is_stack(const CoreFile& core, const ElfSegment& segment) {
  constexpr uint64_t kMostBelow = 65536;  // the stack pointer of a stack that overflowed
  return segment.type == PT_LOAD && std::ranges::any_of(core.threads(), [&](const CoreThread& one) {
           const uint64_t pointer = core_stack_pointer(core.machine(), one);
           return pointer != 0 && pointer + kMostBelow >= segment.address &&
                  pointer - std::min(pointer, segment.address) < segment.file_size;
         });
}

// Stacks keep parts of texts: variables of calls that have returned, and vector registers that the
// loader saves, with what a string function has read.
void redact_pieces_in_stacks(const CoreFile& core, const Pieces& pieces, std::string& file) {
  for (const ElfSegment& segment : core.segments()) {
    if (segment.offset >= file.size() || !is_stack(core, segment)) continue;
    const std::string memory = file.substr(segment.offset, segment.file_size);
    for (size_t at = 0; at + kPieceBytes <= memory.size(); ++at) {
      if (pieces.contains(piece_at(memory, at)))
        overwrite(file, segment.offset + at, kPieceBytes, {});
    }
  }
}

}  // namespace

Result<std::string> redacted_paths(Bytes core, const std::string& name) {
  ProblemLog torn;
  const Result<CoreFile> read = CoreFile::read(core, name, torn);
  if (!read) return std::unexpected(read.error());
  std::string file(reinterpret_cast<const char*>(core.data()), core.size());
  Pieces pieces;
  for (const ElfNote& note : read->notes()) {
    if (note.name != "CORE") continue;
    const auto at = static_cast<size_t>(note.bytes.data() - core.data());
    if (note.type == NT_PRPSINFO && note.bytes.size() > kArgumentsAt) {
      const size_t size = note.bytes.size() - kArgumentsAt;
      add_arguments(std::string_view(file).substr(at + kArgumentsAt, size), pieces);
      overwrite(file, at + kArgumentsAt, size, {});
    }
    if (note.type == NT_FILE) redact_mapped_files(note.bytes, at, file);
  }
  std::set<std::string> paths;
  for (const CoreMapping& mapping : read->mappings()) {
    if (is_of_system(mapping.path) || !mapping.path.contains('/')) continue;
    paths.insert(mapping.path);
    add_pieces(mapping.path, pieces);
  }
  redact_in_memory(*read, paths, file);
  redact_pieces_in_stacks(*read, pieces, file);
  return file;
}

}  // namespace telltale::collect
