#include "program/core_programs.h"

#include <elf.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/system_library.h"
#include "bytes/input_file.h"
#include "program/elf_image.h"
#include "program/library_search.h"
#include "program/load_biases.h"
#include "program/loaded_files.h"
#include "program/recorded_program.h"

namespace telltale {
namespace {

// What of a mapped file's beginning is looked at: its headers.
constexpr uint64_t kElfHeaderBytes = 64 * 1024;

struct GivenFile {
  std::string path;
  std::string build_id;
  bool is_debug_file = false;
  bool used = false;
};

struct MappedFile {
  std::vector<CoreMapping> mappings;  // by address
  std::string build_id;               // in the core file; empty: unknown
  bool is_main = false;               // the program that was started

  [[nodiscard]] const std::string& path() const { return mappings.front().path; }
};

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename(); }
std::string folder_of(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).parent_path();
}

// A separate debug file has the section headers of its program, but not the bytes.
bool is_debug_file(const ElfImage& image) {
  return std::ranges::any_of(image.sections(), [](const ElfSection& section) {
    return section.type == SHT_NOBITS && (section.flags & SHF_EXECINSTR) != 0;
  });
}

Result<GivenFile> read_given(const std::string& path) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return std::unexpected(input.error());
  const Result<ElfImage> image = ElfImage::read(input->bytes(), path);
  if (!image) return std::unexpected(image.error());
  return GivenFile{.path = path,
                   .build_id = image->build_id(),
                   .is_debug_file = is_debug_file(*image),
                   .used = false};
}

// Of the mapped file, as far as the core file has its headers.
std::string mapped_build_id(const CoreFile& core, const CoreMapping& mapping) {
  if (mapping.file_offset != 0) return {};
  const auto elf = read_elf_segments(core.memory(mapping.begin, kElfHeaderBytes), mapping.path);
  if (!elf) return {};
  const uint64_t bias = elf->load_bias(0, mapping.begin);
  for (const ElfSegment& segment : elf->segments) {
    if (segment.type != PT_NOTE) continue;
    const Bytes notes = core.memory(segment.address + bias, segment.memory_size);
    if (std::string id = build_id_of_notes(notes, elf->order); !id.empty()) return id;
  }
  return {};
}

// Whether a file's build-id is the one that is known of a mapped file. Minidumps of older writers
// have 16 bytes of it.
bool same_build_id(const std::string& file, const std::string& mapped) {
  constexpr size_t kShortDigits = 32;
  if (mapped.size() == kShortDigits) return file.starts_with(mapped);
  return file == mapped;
}

// LLDB's minidumps have the CRC-32 of a file that has no build-id in place of one, lowest byte
// first.
bool has_checksum(const std::string& path, const std::string& digits) {
  constexpr size_t kDigits = 8;
  if (digits.size() != kDigits) return false;
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return false;
  const Bytes bytes = input->bytes();
  const auto* const first = reinterpret_cast<const Bytef*>(bytes.data());
  const auto sum = static_cast<uint32_t>(::crc32_z(0, first, bytes.size()));
  return fmt::format("{:08x}", std::byteswap(sum)) == digits;
}

// Whether the file at `path`, with the build-id `file`, is the one that is known of a mapped file.
bool is_mapped_file(const std::string& path, const std::string& file, const std::string& mapped) {
  return file.empty() ? has_checksum(path, mapped) : same_build_id(file, mapped);
}

std::vector<MappedFile> mapped_files(const CoreFile& core, std::span<const CoreMapping> mappings) {
  std::vector<MappedFile> files;
  std::map<std::string, size_t> numbers;  // by path
  for (const CoreMapping& mapping : mappings) {
    const auto [known, is_new] = numbers.emplace(mapping.path, files.size());
    MappedFile& file = is_new ? files.emplace_back() : files[known->second];
    file.mappings.push_back(mapping);
    const uint64_t headers = core.program_headers_address();
    file.is_main = file.is_main || (headers >= mapping.begin && headers < mapping.end);
    if (file.build_id.empty()) file.build_id = mapped_build_id(core, mapping);
  }
  for (MappedFile& file : files)
    if (file.build_id.empty()) file.build_id = file.mappings.front().build_id;
  return files;
}

// Whether the segments of a file are where the mapped file's are. Minidumps do not tell.
enum class Fit : uint8_t { no, unknown, yes };

// How a file was loaded, if it is the mapped one.
struct Loaded {
  std::vector<uint64_t> biases;      // empty: it is no program of the core file's machine
  bool is_of_other_machine = false;  // a program, but of another machine
  Fit fit = Fit::no;
};

Loaded load(const CoreFile& core, const MappedFile& mapped, const std::string& path) {
  Loaded loaded;
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return loaded;
  const auto elf = read_elf_segments(input->bytes(), path);
  if (!elf) return loaded;
  loaded.is_of_other_machine = elf->machine != core.machine();
  if (loaded.is_of_other_machine) return loaded;
  loaded.biases = load_biases(*elf, mapped.mappings, core);
  const auto is_whole = [](const CoreMapping& mapping) { return mapping.file_offset == 0; };
  const auto fits = [&](uint64_t bias) { return are_segments_mapped(*elf, bias, mapped.mappings); };
  if (std::ranges::all_of(mapped.mappings, is_whole)) {
    loaded.fit = Fit::unknown;
  } else if (std::ranges::any_of(loaded.biases, fits)) {
    loaded.fit = Fit::yes;
  }
  return loaded;
}

// Whether the file was written after the core file. False if that is not known.
bool is_newer(const std::string& path, const std::string& core_name) {
  std::error_code no_program;
  std::error_code no_core;
  const auto program = std::filesystem::last_write_time(path, no_program);
  const auto core = std::filesystem::last_write_time(core_name, no_core);
  return !no_program && !no_core && program > core;
}

// The text at the beginning of the file's first segment of this type; empty: it has none.
std::string text_of_segment(const ElfSegments& elf, uint32_t type, Bytes file) {
  const auto segment = std::ranges::find(elf.segments, type, &ElfSegment::type);
  if (segment == elf.segments.end() || segment->offset >= file.size()) return {};
  const size_t left = file.size() - static_cast<size_t>(segment->offset);
  const Bytes text =
      file.subspan(static_cast<size_t>(segment->offset),
                   static_cast<size_t>(std::min<uint64_t>(segment->file_size, left)));
  const auto end = std::ranges::find(text, std::byte{0});
  return {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(end - text.begin())};
}

// The file that is read for a mapped one.
struct Choice {
  std::string path;     // empty: none
  std::string why_not;  // for the file at the recorded path
};

class Search {
 public:
  Search(const CoreFile& core, const std::string& core_name, ProblemLog& problems)
      : core_(core), core_name_(core_name), problems_(problems) {}

  Result<CorePrograms> run(const GivenPrograms& programs) {
    is_cut_ = programs.core_is_cut || core_.lacks_notes();
    for (const std::string& path : programs.paths) {
      Result<GivenFile> given = read_given(path);
      if (!given) return std::unexpected(given.error());
      folders_.push_back(folder_of(path));
      given_.push_back(*std::move(given));
    }
    found_.mappings = core_.mappings();
    std::vector<MappedFile> mapped = mapped_files(core_, found_.mappings);
    if (mapped.size() == 1 && mapped.front().is_main) {
      add_loaded_libraries(mapped.front());
      mapped = mapped_files(core_, found_.mappings);
    }
    for (const MappedFile& file : mapped)
      if (file.path().starts_with('/')) folders_.push_back(folder_of(file.path()));
    for (const MappedFile& file : mapped) add(file);
    tell_unverified();
    for (const GivenFile& given : given_) {
      if (!given.used && !programs.may_be_unused) return unused(given, mapped);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] Choice choose(const MappedFile& mapped) {
    Choice choice = choose_given(mapped);
    return choice.path.empty() ? choose_recorded(mapped) : choice;
  }

  // Nothing names libraries, and the program's headers, which lead to the dynamic loader's list,
  // are not in memory: the program's file has them.
  void add_loaded_libraries(const MappedFile& program) {
    const Choice choice = choose(program);
    const Result<InputFile> input = InputFile::open(choice.path);
    if (choice.path.empty() || !input) return;
    const auto elf = read_elf_segments(input->bytes(), choice.path);
    const Loaded loaded = load(core_, program, choice.path);
    if (!elf || loaded.biases.size() != 1) return;
    const std::string loader = text_of_segment(*elf, PT_INTERP, input->bytes());
    for (const ElfSegment& segment : elf->segments) {
      if (segment.type != PT_DYNAMIC) continue;
      for (CoreMapping& library : loaded_libraries(core_, segment, loaded.biases.front(), loader))
        found_.mappings.push_back(std::move(library));
    }
  }

  void add(const MappedFile& mapped) {
    Choice choice = choose(mapped);
    add_debug_files(mapped, choice.path);
    Loaded loaded;
    if (!choice.path.empty()) loaded = load(core_, mapped, choice.path);
    for (const uint64_t bias : loaded.biases) add_program({mapped.path(), choice.path, bias});
    if (!loaded.biases.empty()) {
      if (mapped.build_id.empty()) unverified_.emplace_back(choice.path, loaded.fit);
      return;
    }
    if (loaded.is_of_other_machine)
      choice.why_not = choice.path + (core_.machine() == EM_NONE
                                          ? " cannot be used: the file with the stacks names no "
                                            "processor that telltale knows"
                                          : " cannot be used: it is a program of another machine");
    if (choice.why_not.empty() &&
        (!mapped.build_id.empty() || mapped.is_main || name_of(mapped.path()).contains(".so")))
      choice.why_not = why_missing(mapped, {});
    if (choice.why_not.empty()) return;
    problems_.add(
        {Problem::Kind::oddity, 0, core_name_, "mapped file", std::move(choice.why_not), 0});
  }

  // Without a build-id in the core file, its name tells that a file is the mapped one; for the
  // program that was started, it suffices that its segments are where they were mapped.
  Choice choose_given(const MappedFile& mapped) {
    Choice choice;
    Fit fit = Fit::no;  // of the chosen one
    for (GivenFile& given : given_) {
      if (given.is_debug_file) continue;
      if (!mapped.build_id.empty()) {
        if (!is_mapped_file(given.path, given.build_id, mapped.build_id)) continue;
        choice.path = given.path;
      } else {
        const bool has_name = name_of(given.path) == name_of(mapped.path());
        if (!has_name && !mapped.is_main) continue;
        const Fit this_fit = load(core_, mapped, given.path).fit;
        if (!has_name && this_fit != Fit::yes) continue;
        if (choice.path.empty() || this_fit > fit) {
          choice.path = given.path;
          fit = this_fit;
        }
      }
      given.used = true;
    }
    return choice;
  }

  [[nodiscard]] Choice choose_recorded(const MappedFile& mapped) const {
    const std::string& path = mapped.path();
    if (!path.contains('/'))
      return {.path = find_library(path, mapped.build_id, folders_), .why_not = {}};
    if (!may_open_recorded_path(path)) return {};
    const Result<std::string> id = read_build_id(path);
    if (!id) return {};
    if (!mapped.build_id.empty()) {
      if (is_mapped_file(path, *id, mapped.build_id)) return {.path = path, .why_not = {}};
      return {.path = {}, .why_not = why_missing(mapped, *id)};
    }
    const Loaded loaded = load(core_, mapped, path);
    if (loaded.biases.empty()) return {.path = path, .why_not = {}};
    if (loaded.fit == Fit::no)
      return {.path = {},
              .why_not = path +
                         " is another build than that of the core file: its segments have other "
                         "places; use --program"};
    if (is_newer(path, core_name_))
      return {.path = {},
              .why_not = path +
                         " is newer than the core file, which does not have its build-id; if it is "
                         "the program that ran, give it with --program"};
    return {.path = path, .why_not = {}};
  }

  // Those of a mapped file, for which the file at `path` is read.
  void add_debug_files(const MappedFile& mapped, const std::string& path) {
    for (GivenFile& given : given_) {
      if (!given.is_debug_file || given.build_id.empty()) continue;
      const bool is_of_mapped =
          mapped.build_id.empty()
              ? !path.empty() && read_build_id(path).value_or("") == given.build_id
              : same_build_id(given.build_id, mapped.build_id);
      if (!is_of_mapped) continue;
      given.used = true;
      found_.debug_files.push_back(given.path);
    }
  }

  // Files of which only name and place say that they are the ones that ran. Libraries of the system
  // share one message.
  void tell_unverified() {
    std::string of_system;
    for (const auto& [path, fit] : unverified_) {
      if (is_system_library(path)) {
        of_system += (of_system.empty() ? "" : ", ") + path;
        continue;
      }
      std::string doubt;
      if (fit == Fit::no) doubt = " (whose segments have other places than those that were mapped)";
      if (fit != Fit::no && is_newer(path, core_name_))
        doubt = " (which is newer than the core file)";
      tell_unverified(path + doubt, "answers are right only if it is the file that ran");
    }
    if (!of_system.empty())
      tell_unverified(of_system, "stacks are right only if these are the libraries that ran");
  }
  void tell_unverified(const std::string& files, std::string_view condition) {
    problems_.add({Problem::Kind::loss, 0, core_name_, "build-id",
                   fmt::format("the core file does not have that of {}: {}", files, condition), 0});
  }

  // Two names of a file may be recorded for one place, for example in a damaged core file.
  void add_program(CoreProgram program) {
    const auto is_same = [&](const CoreProgram& other) {
      return other.path == program.path && other.bias == program.bias;
    };
    if (std::ranges::none_of(found_.programs, is_same))
      found_.programs.push_back(std::move(program));
  }

  // `other_id`: the build-id of the file that is there now; empty: there is none that can be read.
  static std::string why_missing(const MappedFile& mapped, const std::string& other_id) {
    const std::string id = mapped.build_id.empty() ? "unknown" : mapped.build_id;
    if (other_id.empty())
      return fmt::format("{} (build-id {}) was not found; use --program", mapped.path(), id);
    return fmt::format(
        "{} is another build (build-id {}) than that of the core file ({}); use --program",
        mapped.path(), other_id, id);
  }

  [[nodiscard]] std::unexpected<Error> unused(const GivenFile& given,
                                              const std::vector<MappedFile>& mapped) const {
    std::string detail = fmt::format("is not a program of {}: its build-id is {}", core_name_,
                                     given.build_id.empty() ? "missing" : given.build_id);
    const auto main = std::ranges::find_if(mapped, &MappedFile::is_main);
    if (main == mapped.end() && is_cut_) {
      return std::unexpected(
          Error{Error::Cause::bad_field,
                core_name_,
                {},
                "the file is cut before, or inside, what names its programs, so that nothing says "
                "whether " +
                    given.path + " is one of them",
                {}});
    }
    if (main != mapped.end()) {
      detail += fmt::format("; the core file is of {} with build-id {}", main->path(),
                            main->build_id.empty() ? "unknown" : main->build_id);
      if (main->build_id.empty() && !given.is_debug_file &&
          load(core_, *main, given.path).fit == Fit::no)
        detail += ", whose segments have other places";
    } else {
      detail += "; the core file names no program";
    }
    return std::unexpected(Error{Error::Cause::bad_field, given.path, {}, std::move(detail), {}});
  }

  const CoreFile& core_;
  const std::string& core_name_;
  ProblemLog& problems_;
  bool is_cut_ = false;
  std::vector<GivenFile> given_;
  std::vector<std::string> folders_;                     // of given and mapped files
  std::vector<std::pair<std::string, Fit>> unverified_;  // paths
  CorePrograms found_;
};

}  // namespace

Result<CorePrograms> find_core_programs(const CoreFile& core, const std::string& core_name,
                                        const GivenPrograms& given, ProblemLog& problems) {
  return Search(core, core_name, problems).run(given);
}

}  // namespace telltale
