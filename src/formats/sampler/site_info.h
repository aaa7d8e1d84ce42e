#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/sampler/tag.h"

namespace telltale::sampler {

// One line of a sites section, split at its tabs. Views of the section's text.
struct SiteRow {
  static constexpr size_t kMaxColumns = kCommonColumns + sampler::kMaxColumns;
  std::array<std::string_view, kMaxColumns> columns;  // behind the last: the rest of a longer line
  size_t column_count = 0;
  std::string_view line;  // all of it

  [[nodiscard]] std::string_view file() const { return columns[0]; }
  [[nodiscard]] std::string_view line_number() const { return columns[1]; }
  [[nodiscard]] std::string_view function() const { return columns[2]; }
  [[nodiscard]] std::string_view graph_number() const { return columns[3]; }
  // Of the scheme; empty where the line has no such column.
  [[nodiscard]] std::string_view column(size_t i) const { return columns[kCommonColumns + i]; }
};

// <sites unit="..." scheme="...">, its rows, </sites>.
struct SitesSection {
  std::string_view unit;
  std::string_view scheme;
  uint64_t offset = 0;         // of the tag, in the text without zero bytes
  bool letter_perfect = true;  // the tag is
  bool closed = true;
  std::string_view body;       // whole lines
  std::vector<uint32_t> rows;  // where each begins in the body

  [[nodiscard]] size_t size() const { return rows.size(); }
  // REQUIRES: i < size()
  [[nodiscard]] SiteRow row(size_t i) const;
};

// Static site information: what .debug_site_info holds, or a .sites file. Zero bytes, which linkers
// put between sections, count for nothing wherever they stand. Safe on untrusted input; memory is
// at most the text's own size and 4 bytes a line.
class SiteInfo {
 public:
  // `file_offset`: where the bytes stand in `file`; problems are placed with it (exactly if there
  // are no zero bytes before the place). The bytes must outlive this unless they hold a zero byte.
  static SiteInfo read(Bytes bytes, const std::string& file, uint64_t file_offset,
                       ProblemLog& problems);
  SiteInfo(SiteInfo&&) noexcept = default;
  SiteInfo& operator=(SiteInfo&&) noexcept = default;

  [[nodiscard]] const std::vector<SitesSection>& sections() const { return sections_; }
  [[nodiscard]] std::string_view text() const { return text_; }  // without zero bytes

 private:
  SiteInfo() = default;
  class Reader;
  std::unique_ptr<std::string> own_text_;  // if zero bytes had to go
  std::string_view text_;
  std::vector<SitesSection> sections_;
};

// The section as it is written: `rows` are whole lines without line feeds.
void append_sites_section(std::string& out, std::string_view unit, std::string_view scheme,
                          const std::vector<std::string_view>& rows);

// What extract-section does to the bytes of a section: without its zero bytes.
std::string without_zero_bytes(Bytes bytes);

}  // namespace telltale::sampler
