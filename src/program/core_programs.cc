#include "program/core_programs.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bytes/input_file.h"
#include "program/elf_image.h"
#include "program/load_biases.h"
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

std::vector<MappedFile> mapped_files(const CoreFile& core) {
  std::vector<MappedFile> files;
  std::map<std::string, size_t> numbers;  // by path
  for (const CoreMapping& mapping : core.mappings()) {
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

// Where the file was loaded. Empty: it is no program of the core file's machine.
std::vector<uint64_t> biases_of(const CoreFile& core, const MappedFile& mapped,
                                const std::string& path) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return {};
  const auto elf = read_elf_segments(input->bytes(), path);
  if (!elf || elf->machine != core.machine()) return {};
  return load_biases(*elf, mapped.mappings, core);
}

class Search {
 public:
  Search(const CoreFile& core, const std::string& core_name, ProblemLog& problems)
      : core_(core), core_name_(core_name), problems_(problems) {}

  Result<CorePrograms> run(const GivenPrograms& programs) {
    for (const std::string& path : programs.paths) {
      Result<GivenFile> given = read_given(path);
      if (!given) return std::unexpected(given.error());
      given_.push_back(*std::move(given));
    }
    const std::vector<MappedFile> mapped = mapped_files(core_);
    for (const MappedFile& file : mapped) add(file);
    for (const GivenFile& given : given_) {
      if (!given.used && !programs.may_be_unused) return unused(given, mapped);
    }
    return std::move(found_);
  }

 private:
  void add(const MappedFile& mapped) {
    std::string path;
    for (GivenFile& given : given_) {
      if (!is_of(given, mapped)) continue;
      given.used = true;
      if (given.is_debug_file) {
        found_.debug_files.push_back(given.path);
      } else {
        path = given.path;
      }
    }
    std::string other_id;
    if (path.empty() && may_open_recorded_path(mapped.path())) {
      const Result<std::string> id = read_build_id(mapped.path());
      if (id && (mapped.build_id.empty() || same_build_id(*id, mapped.build_id)))
        path = mapped.path();
      else if (id)
        other_id = *id;
    }
    const std::vector<uint64_t> biases =
        path.empty() ? std::vector<uint64_t>() : biases_of(core_, mapped, path);
    for (const uint64_t bias : biases) add_program({mapped.path(), path, bias});
    if (!biases.empty()) return;
    if (!mapped.build_id.empty() || mapped.is_main) {
      problems_.add(
          {Problem::Kind::oddity, 0, core_name_, "mapped file", why_missing(mapped, other_id), 0});
    }
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

  static bool is_of(const GivenFile& given, const MappedFile& mapped) {
    if (!mapped.build_id.empty() || given.is_debug_file)
      return same_build_id(given.build_id, mapped.build_id);
    return name_of(given.path) == name_of(mapped.path());
  }

  [[nodiscard]] std::unexpected<Error> unused(const GivenFile& given,
                                              const std::vector<MappedFile>& mapped) const {
    std::string detail = fmt::format("is not a program of {}: its build-id is {}", core_name_,
                                     given.build_id.empty() ? "missing" : given.build_id);
    if (mapped.empty() && core_.lacks_notes()) {
      return std::unexpected(
          Error{Error::Cause::bad_field,
                core_name_,
                {},
                "the core file is cut before, or inside, the notes that name its programs, so that "
                "nothing says whether " +
                    given.path + " is one of them",
                {}});
    }
    const auto main = std::ranges::find_if(mapped, &MappedFile::is_main);
    if (main != mapped.end()) {
      detail += fmt::format("; the core file is of {} with build-id {}", main->path(),
                            main->build_id.empty() ? "unknown" : main->build_id);
    } else {
      detail += "; the core file names no program";
    }
    return std::unexpected(Error{Error::Cause::bad_field, given.path, {}, std::move(detail), {}});
  }

  const CoreFile& core_;
  const std::string& core_name_;
  ProblemLog& problems_;
  std::vector<GivenFile> given_;
  CorePrograms found_;
};

}  // namespace

Result<CorePrograms> find_core_programs(const CoreFile& core, const std::string& core_name,
                                        const GivenPrograms& given, ProblemLog& problems) {
  return Search(core, core_name, problems).run(given);
}

}  // namespace telltale
