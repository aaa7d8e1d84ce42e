#include "program/static_sections.h"

#include <elf.h>
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "bytes/input_file.h"
#include "program/archive.h"
#include "program/elf_image.h"

namespace telltale {
namespace {

constexpr uint32_t kZlib = 1;  // ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD
constexpr uint32_t kZstd = 2;
// Size limit of an unpacked section: a MiB, or two hundred times its bytes.
constexpr uint64_t kFreeBytes = uint64_t{1} << 20;
constexpr uint64_t kMaxRatio = 200;

// Empty on failure; `complaint` contains the reason.
std::optional<std::string> unpack(uint32_t method, Bytes packed, uint64_t size,
                                  std::string& complaint) {
  if (size > kFreeBytes && size / kMaxRatio > packed.size()) {
    complaint = fmt::format("{} bytes would be decompressed from {}", size, packed.size());
    return std::nullopt;
  }
  std::string text(static_cast<size_t>(size), '\0');
  if (method == kZlib) {
    uLongf length = static_cast<uLongf>(size);
    const int status = ::uncompress(reinterpret_cast<Bytef*>(text.data()), &length,
                                    reinterpret_cast<const Bytef*>(packed.data()),
                                    static_cast<uLong>(packed.size()));
    if (status == Z_OK && length == size) return text;
  } else if (method == kZstd) {
    const size_t length = ::ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    if (::ZSTD_isError(length) == 0 && length == size) return text;
  } else {
    complaint = fmt::format("compression {} is neither zlib nor zstd", method);
    return std::nullopt;
  }
  complaint = "its compressed bytes are damaged";
  return std::nullopt;
}

class Collector {
 public:
  Collector(std::string_view section, ProblemLog& problems)
      : wanted_(section), problems_(problems) {}

  // `offset`: the object's place in its archive.
  Result<void> add_object(Bytes object, const std::string& path, const std::string& member,
                          uint64_t offset) {
    const Result<ElfImage> image = ElfImage::read(object, path);
    if (!image) return std::unexpected(image.error());
    ++found_.objects;
    for (const ElfSection& section : image->sections()) {
      if (section.name != wanted_ || section.type == SHT_NOBITS || section.type == SHT_NULL)
        continue;
      if ((section.flags & SHF_COMPRESSED) != 0) {
        add_compressed(*image, section, path, member, offset);
      } else {
        add(*image, member, offset + section.offset, image->bytes(section), nullptr);
      }
    }
    return {};
  }

  // A member of a thin archive: a file, whose sections are copied. A missing or irregular file is
  // reported.
  void add_file_apart(const ArchiveMember& member, const std::string& archive) {
    namespace fs = std::filesystem;
    const fs::path path = fs::path(archive).parent_path() / member.name;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      complain(member, archive, "no such file");
      return;
    }
    const Result<InputFile> file = InputFile::open(path);
    if (!file) {
      complain(member, archive, to_string(file.error()));
      return;
    }
    if (!ElfImage::recognises(file->bytes())) return;
    const size_t before = found_.sections.size();
    const Result<void> done = add_object(file->bytes(), path, member.name, 0);
    if (!done) complain(member, archive, to_string(done.error()));
    for (size_t i = before; i < found_.sections.size(); ++i) {
      StaticSection& section = found_.sections[i];
      if (section.unpacked != nullptr) continue;
      section.unpacked = std::make_shared<const std::string>(
          reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size());
      section.bytes = std::as_bytes(std::span(*section.unpacked));
    }
  }

  StaticSections take() { return std::move(found_); }

 private:
  void complain(const ArchiveMember& member, const std::string& archive, const std::string& what) {
    problems_.add({Problem::Kind::loss, member.offset, archive, "archive member",
                   fmt::format("{}: {}", member.name, what), 0});
  }

  void add_compressed(const ElfImage& image, const ElfSection& section, const std::string& path,
                      const std::string& member, uint64_t offset) {
    Cursor in = image.cursor(section);
    const auto method = in.read<uint32_t>("ch_type");
    if (image.is_64_bit()) in.read<uint32_t>("ch_reserved");
    const uint64_t size =
        image.is_64_bit() ? in.read<uint64_t>("ch_size") : in.read<uint32_t>("ch_size");
    in.take(image.is_64_bit() ? 8 : 4, "ch_addralign");
    std::string complaint = "the compression header is truncated";
    std::optional<std::string> text;
    if (!in.error()) text = unpack(method, in.rest(), size, complaint);
    if (!text) {
      problems_.add({Problem::Kind::corruption, offset + section.offset, path, std::string(wanted_),
                     "the section cannot be decompressed: " + complaint, section.size});
      return;
    }
    auto own = std::make_shared<const std::string>(*std::move(text));
    const Bytes bytes = std::as_bytes(std::span(own->data(), own->size()));
    add(image, member, offset + section.offset, bytes, std::move(own));
  }

  void add(const ElfImage& image, const std::string& member, uint64_t offset, Bytes bytes,
           std::shared_ptr<const std::string> unpacked) {
    found_.sections.push_back({.member = member,
                               .offset = offset,
                               .bytes = bytes,
                               .unpacked = std::move(unpacked),
                               .order = image.order(),
                               .is_linked = image.type() != ET_REL});
  }

  std::string_view wanted_;
  ProblemLog& problems_;
  StaticSections found_;
};

}  // namespace

bool may_have_static_sections(Bytes file) { return ElfImage::recognises(file) || is_archive(file); }

Result<StaticSections> read_static_sections(Bytes file, const std::string& path,
                                            std::string_view section, ProblemLog& problems) {
  Collector collector(section, problems);
  if (!is_archive(file)) {
    if (const Result<void> done = collector.add_object(file, path, {}, 0); !done)
      return std::unexpected(done.error());
    return collector.take();
  }
  const auto members = read_archive(file, path, problems);
  if (!members) return std::unexpected(members.error());
  for (const ArchiveMember& member : *members) {
    if (member.apart) {
      collector.add_file_apart(member, path);
      continue;
    }
    if (!ElfImage::recognises(member.bytes)) continue;  // for example a README or bitcode
    const Result<void> done = collector.add_object(member.bytes, path, member.name, member.offset);
    if (done) continue;
    // A header's values may point past the end.
    const uint64_t at =
        member.offset + std::min<uint64_t>(done.error().offset.value_or(0), member.bytes.size());
    problems.add({Problem::Kind::corruption, at, path, done.error().record,
                  fmt::format("{}: {}", member.name, done.error().detail), member.bytes.size()});
  }
  return collector.take();
}

}  // namespace telltale
