#include "program/built_sources.h"

#include <md5.h>  // libmd's: OpenSSL takes longer to load than telltale needs for many answers
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <ranges>

#include "base/fnv.h"
#include "base/plain_path.h"
#include "bytes/input_file.h"
#include "program/elf_image.h"
#include "program/static_sections.h"

namespace telltale {
namespace {

// Nanoseconds since 1970; 0 if the file cannot be read.
int64_t modified_ns(const std::string& path) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return 0;
  return int64_t{status.st_mtim.tv_sec} * kNsPerSecond + status.st_mtim.tv_nsec;
}

Md5 md5_of(Bytes text) {
  MD5_CTX context;
  ::MD5Init(&context);
  ::MD5Update(&context, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  Md5 sum;
  ::MD5Final(sum.data(), &context);
  return sum;
}

// Byte order of a linked ELF file; in object files, line tables still refer to nothing.
std::optional<std::endian> order_of_linked(Bytes bytes, const std::string& path) {
  if (!ElfImage::recognises(bytes)) return std::nullopt;
  const Result<ElfImage> image = ElfImage::read(bytes, path);
  if (!image || image->is_object_file()) return std::nullopt;
  return image->order();
}

// The tables of the file, of which there is one section of each name.
void read_checksums(const InputFile& file, std::endian order, const UseSourceFile& use,
                    ProblemLog& problems) {
  const auto section = [&](std::string_view name) {
    Result<StaticSections> found = read_static_sections(file.bytes(), file.name(), name, problems);
    return !found || found->sections.empty() ? StaticSection() : std::move(found->sections.front());
  };
  const StaticSection lines = section(".debug_line");
  if (lines.bytes.empty()) return;
  const StaticSection line_strings = section(".debug_line_str");
  const StaticSection strings = section(".debug_str");
  read_line_table_files({.lines = lines.bytes,
                         .line_strings = line_strings.bytes,
                         .strings = strings.bytes,
                         .order = order,
                         .file = file.name(),
                         .offset = lines.offset},
                        use, problems);
}

}  // namespace

void BuiltSources::add(const std::string& program, const std::string& debug_file,
                       ProblemLog& problems) {
  const std::pair added(program, debug_file);
  if (std::ranges::find(added_, added) != added_.end()) return;
  const Result<InputFile> input = InputFile::open(program);
  if (!input) return;
  std::optional<std::endian> order = order_of_linked(input->bytes(), program);
  if (!order) return;
  added_.push_back(added);
  built_ns_ = std::max(built_ns_, modified_ns(program));
  const Result<InputFile> other =
      debug_file == program ? Result<InputFile>(input->share()) : InputFile::open(debug_file);
  if (!other) return;
  order = order_of_linked(other->bytes(), debug_file);
  if (!order) return;
  // The answer lacks nothing without them.
  ProblemLog found;
  read_checksums(
      *other, *order,
      [&](std::string_view path, const Md5& md5) {
        checksums_.push_back({.path = fnv1a(path), .md5 = md5});
      },
      found);
  for (Problem& problem : found.kept()) {
    problem.kind = Problem::Kind::oddity;
    problems.add(std::move(problem));
  }
  sort();
}

void BuiltSources::merge(const BuiltSources& other) {
  std::ranges::copy(other.added_, std::back_inserter(added_));
  std::ranges::copy(other.checksums_, std::back_inserter(checksums_));
  built_ns_ = std::max(built_ns_, other.built_ns_);
  sort();
}

void BuiltSources::sort() {
  std::ranges::sort(checksums_);
  const auto doubles = std::ranges::unique(checksums_);
  checksums_.erase(doubles.begin(), doubles.end());
}

std::string_view BuiltSources::complaint(const std::string& path, Bytes text) const {
  const auto known =
      std::ranges::equal_range(checksums_, fnv1a(plain_path(path)), {}, &Checksum::path);
  const Md5 md5 = checksums_.empty() ? Md5() : md5_of(text);
  // GNU as 2.40 writes the last byte first.
  const auto is_of_text = [&md5](const Checksum& checksum) {
    return checksum.md5 == md5 || std::ranges::equal(checksum.md5, md5 | std::views::reverse);
  };
  if (!known.empty()) {
    return std::ranges::all_of(known, is_of_text)
               ? ""
               : "changed since the program was built; its lines may not be those that ran";
  }
  // A copy of the source in another folder.
  if (std::ranges::any_of(checksums_, is_of_text)) return {};
  return built_ns_ != 0 && modified_ns(path) > built_ns_
             ? "newer than the program; its lines may not be those that ran"
             : "";
}

}  // namespace telltale
