#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/sampler/tag.h"

namespace telltale::sampler {

// A piece of a feedback report. The concatenated bytes of all pieces are the report's.
struct ReportItem {
  enum class Kind : uint8_t {
    report_begin,  // <report id="...">
    report_end,    // </report>
    samples,       // a whole section: its tag, its rows, its closing tag
    timestamps,    // likewise
    text,          // whole lines in a subreport that is not called samples
    skipped,       // text that is not allowed in a report
  };
  Kind kind = Kind::skipped;
  uint64_t offset = 0;     // of its first byte in the file
  std::string_view bytes;  // the whole piece
  std::string_view id;     // report_begin
  // samples, timestamps
  std::string_view unit;
  std::string_view scheme;
  std::string_view when;  // timestamps: first or last
  Tag tag;                // with all attributes
  std::string_view body;  // whole lines, each with its line feed
  uint64_t body_offset = 0;
  bool closed = true;                // false: the closing tag is missing
  bool of_first_executions = false;  // in a subreport kFirstSamplesReport

  // The piece's damage; empty for a valid piece. `lost_bytes` of it are not part of the answer.
  struct Complaint {
    Problem::Kind kind = Problem::Kind::corruption;
    uint64_t offset = 0;
    std::string message;
    uint64_t lost_bytes = 0;
  };
  std::optional<Complaint> complaint;

  [[nodiscard]] bool is_section() const {
    return kind == Kind::samples || kind == Kind::timestamps;
  }
};
// "Report", "ReportEnd", "Samples", "Timestamps", "Text", "Skipped"
std::string_view to_string(ReportItem::Kind kind);
// The item's complaint as an entry of a ProblemLog. REQUIRES: there is one.
Problem problem_of(const ReportItem& item, const std::string& file_name);

// Reads a feedback report sequentially, piece by piece (published text, "Dynamic Feedback
// Reports"). Sections count inside <report id="samples"> and, as extract-report prints them,
// outside any report; first executions have no timestamps. Safe on untrusted input; damage costs at
// most its own lines. Holds views.
class ReportReader {
 public:
  // Which sections: those of the sample, or also those of first executions. If not, the latter are
  // text of a subreport like any other.
  enum class Sections : uint8_t { sample, all };
  explicit ReportReader(Bytes file, Sections sections = Sections::sample);
  // Empty at the end.
  std::optional<ReportItem> next();

 private:
  struct Line {
    std::string_view text;  // without the line feed
    size_t end = 0;         // the start of the next line
    bool whole = true;      // has its line feed
  };
  [[nodiscard]] Line line_at(size_t at) const;
  [[nodiscard]] bool ends_section(size_t at) const;
  ReportItem begin(ReportItem::Kind kind) const;
  ReportItem finish(ReportItem item, size_t end);
  void read_section(ReportItem& item, size_t& end) const;
  ReportItem read_tag(const Tag& tag, const Line& line);
  ReportItem read_text();
  ReportItem read_skipped();
  ReportItem read_torn_line(const Line& line);
  [[nodiscard]] std::optional<ReportItem::Complaint> complain_of_open_report() const;

  std::string_view file_;
  size_t at_ = 0;
  Sections sections_;
  bool in_report_ = false;
  bool in_samples_ = true;  // sections are allowed here
  bool in_first_ = false;   // only sections of samples
  size_t report_at_ = 0;
};

}  // namespace telltale::sampler
