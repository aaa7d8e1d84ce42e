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
  std::array<std::string_view, kMaxColumns> columns;  // in the last one: the rest of a longer line
  size_t column_count = 0;
  std::string_view line;  // all of it

  [[nodiscard]] std::string_view file() const { return columns[0]; }
  [[nodiscard]] std::string_view line_number() const { return columns[1]; }
  [[nodiscard]] std::string_view function() const { return columns[2]; }
  [[nodiscard]] std::string_view graph_number() const { return columns[3]; }
  // The scheme's column `i`; empty if the line does not have it.
  [[nodiscard]] std::string_view column(size_t i) const { return columns[kCommonColumns + i]; }
};

// <sites unit="..." scheme="...">, its rows, </sites>.
struct SitesSection {
  std::string_view unit;
  std::string_view scheme;
  uint64_t offset = 0;         // of the tag, in the text without zero bytes
  bool letter_perfect = true;  // the tag has the canonical form
  bool closed = true;
  std::string_view body;       // whole lines
  std::vector<uint32_t> rows;  // the start of each in the body

  [[nodiscard]] size_t size() const { return rows.size(); }
  // REQUIRES: i < size()
  [[nodiscard]] SiteRow row(size_t i) const;
};

// Static site information: the contents of .debug_site_info or of a .sites file. Zero bytes, which
// linkers insert between sections, are ignored everywhere. Safe on untrusted input; memory is at
// most the text's own size and 4 bytes a line.
class SiteInfo {
 public:
  // `file_offset`: the offset of the bytes in `file`; problems are placed with it (exactly if no
  // zero bytes precede the place). The bytes must outlive this unless they contain a zero byte.
  static SiteInfo read(Bytes bytes, const std::string& file, uint64_t file_offset,
                       ProblemLog& problems);
  SiteInfo(SiteInfo&&) noexcept = default;
  SiteInfo& operator=(SiteInfo&&) noexcept = default;

  [[nodiscard]] const std::vector<SitesSection>& sections() const { return sections_; }
  [[nodiscard]] std::string_view text() const { return text_; }  // without zero bytes

 private:
  SiteInfo() = default;
  class Reader;
  std::unique_ptr<std::string> own_text_;  // if zero bytes were removed
  std::string_view text_;
  std::vector<SitesSection> sections_;
};

// The section in its text form: `rows` are whole lines without line feeds.
void append_sites_section(std::string& out, std::string_view unit, std::string_view scheme,
                          const std::vector<std::string_view>& rows);

// The contents of a section without zero bytes, as extract-section prints it.
std::string without_zero_bytes(Bytes bytes);

}  // namespace telltale::sampler
