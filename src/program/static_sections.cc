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

// How GNU tools name a debug section that they have compressed in the older way ("zlib-gnu"): with
// "ZLIB", its size in big endian and the zlib stream as content, and without SHF_COMPRESSED.
// Empty for a section of another kind.
std::string gnu_compressed_name(std::string_view name) {
  constexpr std::string_view kDebug = ".debug_";
  return name.starts_with(kDebug) ? ".z" + std::string(name.substr(1)) : std::string();
}

struct Compression {
  uint32_t method = kZlib;
  uint64_t size = 0;  // of the unpacked section
};

// Empty if the header is truncated.
std::optional<Compression> read_header(Cursor& in, bool is_64_bit) {
  Compression header;
  header.method = in.read<uint32_t>("ch_type");
  if (is_64_bit) in.read<uint32_t>("ch_reserved");
  header.size = is_64_bit ? in.read<uint64_t>("ch_size") : in.read<uint32_t>("ch_size");
  in.take(is_64_bit ? 8 : 4, "ch_addralign");
  return in.error() ? std::nullopt : std::optional(header);
}

// As read_header; `complaint` contains the reason if it is another one.
std::optional<Compression> read_gnu_header(Cursor& in, std::string& complaint) {
  constexpr std::string_view kMagic = "ZLIB";
  Compression header;
  const Bytes magic = in.take(kMagic.size(), "magic");
  for (size_t i = 0; i < sizeof(header.size); ++i)
    header.size = header.size << 8U | in.read<uint8_t>("size");
  if (in.error()) return std::nullopt;
  if (std::ranges::equal(magic, std::as_bytes(std::span(kMagic)))) return header;
  complaint = "it does not begin with ZLIB";
  return std::nullopt;
}

class Collector {
 public:
  Collector(std::string_view section, ProblemLog& problems)
      : wanted_(section), wanted_by_gnu_(gnu_compressed_name(section)), problems_(problems) {}

  // `offset`: the object's place in its archive.
  Result<void> add_object(Bytes object, const std::string& path, const std::string& member,
                          uint64_t offset) {
    const Result<ElfImage> image = ElfImage::read(object, path);
    if (!image) return std::unexpected(image.error());
    ++found_.objects;
    for (const ElfSection& section : image->sections()) {
      const bool is_by_gnu = !section.name.empty() && section.name == wanted_by_gnu_;
      if ((section.name != wanted_ && !is_by_gnu) || section.type == SHT_NOBITS ||
          section.type == SHT_NULL)
        continue;
      if ((section.flags & SHF_COMPRESSED) != 0 || is_by_gnu) {
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
    std::string complaint = "the compression header is truncated";
    const std::optional<Compression> header = (section.flags & SHF_COMPRESSED) != 0
                                                  ? read_header(in, image.is_64_bit())
                                                  : read_gnu_header(in, complaint);
    std::optional<std::string> text;
    if (header) text = unpack(header->method, in.rest(), header->size, complaint);
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
  std::string wanted_by_gnu_;  // empty if there is none
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
