#include "collect/client/redacted_paths.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string_view>

#include "program/core_file.h"

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

// Stacks may have parts of paths that the loader has left there: text around the name of a folder.
void redact_parts_in_memory(const CoreFile& core, const std::set<std::string>& paths,
                            std::string& file) {
  std::set<std::string> folders;
  for (const std::string_view path : paths) {
    for (size_t at = path.find('/'), end = 0; at != std::string_view::npos; at = end) {
      end = path.find('/', at + 1);
      if (end != std::string_view::npos) folders.emplace(path.substr(at, end + 1 - at));
    }
  }
  const auto is_text = [&](size_t at) { return file[at] >= ' ' && file[at] <= '~'; };
  for (const ElfSegment& segment : core.segments()) {
    if (segment.type != PT_LOAD || segment.offset >= file.size()) continue;
    const size_t last = segment.offset + std::min(segment.file_size, file.size() - segment.offset);
    for (const std::string& folder : folders) {
      for (size_t at = file.find(folder, segment.offset);
           at != std::string::npos && at + folder.size() <= last; at = file.find(folder, at)) {
        size_t begin = at;
        size_t end = at + folder.size();
        while (begin > segment.offset && is_text(begin - 1)) --begin;
        while (end < last && is_text(end)) ++end;
        overwrite(file, begin, end - begin, {});
      }
    }
  }
}

}  // namespace

Result<std::string> redacted_paths(Bytes core, const std::string& name) {
  ProblemLog torn;
  const Result<CoreFile> read = CoreFile::read(core, name, torn);
  if (!read) return std::unexpected(read.error());
  std::string file(reinterpret_cast<const char*>(core.data()), core.size());
  for (const ElfNote& note : read->notes()) {
    if (note.name != "CORE") continue;
    const auto at = static_cast<size_t>(note.bytes.data() - core.data());
    if (note.type == NT_PRPSINFO && note.bytes.size() > kArgumentsAt)
      overwrite(file, at + kArgumentsAt, note.bytes.size() - kArgumentsAt, {});
    if (note.type == NT_FILE) redact_mapped_files(note.bytes, at, file);
  }
  std::set<std::string> paths;
  for (const CoreMapping& mapping : read->mappings()) {
    if (!is_of_system(mapping.path) && mapping.path.contains('/')) paths.insert(mapping.path);
  }
  redact_in_memory(*read, paths, file);
  redact_parts_in_memory(*read, paths, file);
  return file;
}

}  // namespace telltale::collect
