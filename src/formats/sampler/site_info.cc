#include "formats/sampler/site_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace telltale::sampler {
namespace {

constexpr size_t kMaxBody = std::numeric_limits<uint32_t>::max();

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

SiteRow SitesSection::row(size_t i) const {
  const size_t begin = rows[i];
  const size_t end = (i + 1 < rows.size() ? rows[i + 1] : body.size()) - 1;  // without line feed
  SiteRow row;
  row.line = body.substr(begin, end - begin);
  std::string_view rest = row.line;
  while (row.column_count < SiteRow::kMaxColumns) {
    const bool last = row.column_count + 1 == SiteRow::kMaxColumns;
    const size_t tab = last ? std::string_view::npos : rest.find('\t');
    row.columns[row.column_count++] = rest.substr(0, tab);
    if (tab == std::string_view::npos) break;
    rest.remove_prefix(tab + 1);
  }
  return row;
}

class SiteInfo::Reader {
 public:
  Reader(SiteInfo& info, const std::string& file, uint64_t file_offset, ProblemLog& problems)
      : info_(info),
        text_(info.text_),
        file_(file),
        file_offset_(file_offset),
        problems_(problems) {}

  void read() {
    while (at_ < text_.size()) {
      const size_t end = line_end(at_);
      const std::string_view line = text_.substr(at_, end - at_);
      const std::optional<Tag> tag = parse_tag(line);
      if (tag && tag->name == "sites" && !tag->closes) {
        if (skipped_at_ != at_) complain_of_skipped();
        read_section(*tag, end);
        skipped_at_ = at_;
      } else {
        at_ = std::min(end + 1, text_.size());
      }
    }
    if (skipped_at_ != at_) complain_of_skipped();
  }

 private:
  [[nodiscard]] size_t line_end(size_t at) const {
    return std::min(text_.find('\n', at), text_.size());
  }

  void problem(Problem::Kind kind, size_t at, std::string message, uint64_t lost) {
    problems_.add({kind, file_offset_ + at, file_, "sites", std::move(message), lost});
  }

  // Lines outside any section, from skipped_at_ to at_.
  void complain_of_skipped() {
    const bool torn = at_ == text_.size() && !text_.ends_with('\n');
    problem(torn ? Problem::Kind::torn_tail : Problem::Kind::corruption, skipped_at_,
            torn ? "the text ends inside a line" : "lines outside any section", at_ - skipped_at_);
  }

  // A line of the section that is not a row: a tag.
  static bool begins_tag(std::string_view rest) {
    return rest.starts_with("</sites") || rest.starts_with("<sites ");
  }

  void read_section(const Tag& tag, size_t tag_end) {
    SitesSection section;
    section.unit = tag.attribute("unit");
    section.scheme = tag.attribute("scheme");
    section.letter_perfect = tag.letter_perfect;
    section.offset = at_;
    const size_t begin = std::min(tag_end + 1, text_.size());
    size_t at = begin;
    while (at < text_.size() && !begins_tag(text_.substr(at, 8))) {
      const size_t end = text_.find('\n', at);
      if (end == std::string_view::npos || at - begin > kMaxBody) break;
      section.rows.push_back(static_cast<uint32_t>(at - begin));
      at = end + 1;
    }
    section.rows.shrink_to_fit();
    section.body = text_.substr(begin, at - begin);
    close(section, at);
    info_.sections_.push_back(std::move(section));
  }

  void close(SitesSection& section, size_t at) {
    const size_t end = line_end(at);
    const std::optional<Tag> tag = parse_tag(text_.substr(at, end - at));
    if (tag && tag->closes && tag->name == "sites") {
      at_ = std::min(end + 1, text_.size());
      return;
    }
    section.closed = false;
    problem(end == text_.size() ? Problem::Kind::torn_tail : Problem::Kind::corruption, at,
            "the section has no </sites>", 0);
    at_ = at;
  }

  SiteInfo& info_;
  std::string_view text_;
  const std::string& file_;
  uint64_t file_offset_;
  ProblemLog& problems_;
  size_t at_ = 0;
  size_t skipped_at_ = 0;
};

SiteInfo SiteInfo::read(Bytes bytes, const std::string& file, uint64_t file_offset,
                        ProblemLog& problems) {
  SiteInfo info;
  info.text_ = as_text(bytes);
  if (info.text_.find('\0') != std::string_view::npos) {
    info.own_text_ = std::make_unique<std::string>(without_zero_bytes(bytes));
    info.text_ = *info.own_text_;
  }
  Reader(info, file, file_offset, problems).read();
  return info;
}

void append_sites_section(std::string& out, std::string_view unit, std::string_view scheme,
                          const std::vector<std::string_view>& rows) {
  out += fmt::format("<sites unit=\"{}\" scheme=\"{}\">\n", unit, scheme);
  for (const std::string_view row : rows) {
    out += row;
    out += '\n';
  }
  out += "</sites>\n";
}

std::string without_zero_bytes(Bytes bytes) {
  const std::string_view text = as_text(bytes);
  std::string kept;
  kept.reserve(text.size());
  std::ranges::copy_if(text, std::back_inserter(kept), [](char c) { return c != '\0'; });
  return kept;
}

}  // namespace telltale::sampler
