#include "program/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace telltale {
namespace {

constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr std::string_view kThinMagic = "!<thin>\n";
constexpr size_t kHeaderBytes = 60;

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A header field, padded with blanks.
std::string_view field_of(std::string_view header, size_t offset, size_t size) {
  const std::string_view field = header.substr(offset, size);
  return field.substr(0, field.find_last_not_of(' ') + 1);
}

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class ArchiveReader {
 public:
  ArchiveReader(Bytes file, const std::string& path, ProblemLog& problems)
      : in_(file, std::endian::little),
        thin_(as_text(file).starts_with(kThinMagic)),
        path_(path),
        problems_(problems) {}

  std::vector<ArchiveMember> read() {
    in_.take(kArchiveMagic.size(), "magic");
    while (in_.left() != 0 && read_member()) {
    }
    return std::move(members_);
  }

 private:
  void problem(Problem::Kind kind, uint64_t offset, std::string message, uint64_t lost) {
    problems_.add({kind, offset, path_, "archive member", std::move(message), lost});
  }

  // False if no further member can be found.
  bool read_member() {
    const uint64_t offset = in_.offset();
    if (in_.left() < kHeaderBytes) {
      problem(Problem::Kind::torn_tail, offset, "the archive ends inside a header", in_.left());
      return false;
    }
    const std::string_view header = as_text(in_.take(kHeaderBytes, "header"));
    const std::string_view name = field_of(header, 0, 16);
    const std::optional<uint64_t> size = parse_number(field_of(header, 48, 10));
    if (!size || header.substr(58) != "`\n") {
      problem(Problem::Kind::corruption, offset, "this is not the header of a member",
              in_.left() + kHeaderBytes);
      return false;
    }
    if (thin_ && !is_table(name)) {
      place(name, {{}, offset, {}, true});
      return true;
    }
    const uint64_t kept = std::min(*size, in_.left());
    if (kept != *size) {
      problem(Problem::Kind::torn_tail, in_.offset(),
              fmt::format("the member has {} bytes, {} are left", *size, kept), 0);
    }
    ArchiveMember member{{}, in_.offset(), in_.take(kept, "member"), false};
    if (*size % 2 != 0 && in_.left() != 0) in_.take(1, "padding");
    place(name, std::move(member));
    return true;
  }

  // The symbol table or the table of long names: not a file.
  static bool is_table(std::string_view name) {
    return name == "//" || name == "/" || name == "/SYM64/" || name.starts_with("__.SYMDEF");
  }

  void place(std::string_view name, ArchiveMember member) {
    if (name == "//") {
      long_names_ = as_text(member.bytes);
      return;
    }
    if (is_table(name)) return;
    if (name.starts_with("#1/")) {
      const uint64_t length = parse_number(name.substr(3)).value_or(0);
      const size_t taken = static_cast<size_t>(std::min<uint64_t>(length, member.bytes.size()));
      name = as_text(member.bytes.first(taken));
      name = name.substr(0, name.find('\0'));
      member.bytes = member.bytes.subspan(taken);
      member.offset += taken;
    } else if (name.starts_with('/')) {
      const uint64_t at = parse_number(name.substr(1)).value_or(long_names_.size());
      const std::string_view rest =
          long_names_.substr(static_cast<size_t>(std::min<uint64_t>(at, long_names_.size())), 4096);
      name = rest.substr(0, rest.find("/\n"));
    } else if (name.ends_with('/')) {
      name.remove_suffix(1);
    }
    member.name = name;
    members_.push_back(std::move(member));
  }

  Cursor in_;
  bool thin_;
  const std::string& path_;
  ProblemLog& problems_;
  std::string_view long_names_;
  std::vector<ArchiveMember> members_;
};

}  // namespace

bool is_archive(Bytes file) {
  const std::string_view start = as_text(file.first(std::min(file.size(), kArchiveMagic.size())));
  return start == kArchiveMagic || start == kThinMagic;
}

Result<std::vector<ArchiveMember>> read_archive(Bytes file, const std::string& path,
                                                ProblemLog& problems) {
  if (!is_archive(file))
    return std::unexpected(Error{Error::Cause::bad_magic, path, "archive", "not an archive", 0});
  return ArchiveReader(file, path, problems).read();
}

}  // namespace telltale
