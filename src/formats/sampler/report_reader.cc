#include "formats/sampler/report_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace telltale::sampler {
namespace {

using Kind = ReportItem::Kind;

bool is_section_name(std::string_view name) { return name == "samples" || name == "timestamps"; }

// Beginnings of lines that end a section without an end tag.
bool begins_tag(std::string_view rest) {
  for (const std::string_view word :
       {"<samples ", "<timestamps ", "<report ", "</samples", "</timestamps", "</report"}) {
    if (rest.starts_with(word)) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::report_begin:
      return "Report";
    case Kind::report_end:
      return "ReportEnd";
    case Kind::samples:
      return "Samples";
    case Kind::timestamps:
      return "Timestamps";
    case Kind::text:
      return "Text";
    case Kind::skipped:
      return "Skipped";
  }
  return "";
}

Problem problem_of(const ReportItem& item, const std::string& file_name) {
  const ReportItem::Complaint& complaint = *item.complaint;
  return {complaint.kind,    complaint.offset,    file_name, std::string(to_string(item.kind)),
          complaint.message, complaint.lost_bytes};
}

ReportReader::ReportReader(Bytes file, Sections sections)
    : file_(reinterpret_cast<const char*>(file.data()), file.size()), sections_(sections) {}

ReportReader::Line ReportReader::line_at(size_t at) const {
  const size_t end = file_.find('\n', at);
  if (end == std::string_view::npos) return {file_.substr(at), file_.size(), false};
  return {file_.substr(at, end - at), end + 1, true};
}

ReportItem ReportReader::begin(Kind kind) const {
  ReportItem item;
  item.kind = kind;
  item.offset = at_;
  return item;
}

ReportItem ReportReader::finish(ReportItem item, size_t end) {
  item.bytes = file_.substr(at_, end - at_);
  at_ = end;
  return item;
}

bool ReportReader::ends_section(size_t at) const {
  return (at == 0 || file_[at - 1] == '\n') && begins_tag(file_.substr(at, 16));
}

// `end` is after the tag; it becomes the end of the section.
void ReportReader::read_section(ReportItem& item, size_t& end) const {
  const size_t begin = end;
  size_t stop = file_.find('<', begin);
  while (stop != std::string_view::npos && !ends_section(stop)) stop = file_.find('<', stop + 1);
  if (stop == std::string_view::npos) {
    // A line without a line feed may contain half a number.
    const size_t last = file_.rfind('\n');
    stop = last == std::string_view::npos || last < begin ? begin : last + 1;
  }
  item.body = file_.substr(begin, stop - begin);
  item.body_offset = begin;
  end = stop;
  const Line line = stop < file_.size() ? line_at(stop) : Line{};
  const std::optional<Tag> tag = parse_tag(line.text);
  if (tag && tag->closes && tag->name == item.tag.name) {
    end = line.end;
    return;
  }
  item.closed = false;
  const bool torn = stop == file_.size() || !line.whole;
  item.complaint = {torn ? Problem::Kind::torn_tail : Problem::Kind::corruption, stop,
                    fmt::format("the section has no </{}>", item.tag.name), 0};
}

std::optional<ReportItem::Complaint> ReportReader::complain_of_open_report() const {
  if (!in_report_) return std::nullopt;
  return ReportItem::Complaint{
      Problem::Kind::corruption, at_,
      fmt::format("the report at byte {} before it has no </report>", report_at_), 0};
}

ReportItem ReportReader::read_tag(const Tag& tag, const Line& line) {
  if (tag.name == "report" && !tag.closes) {
    ReportItem item = begin(Kind::report_begin);
    item.tag = tag;
    item.id = tag.attribute("id");
    item.complaint = complain_of_open_report();
    in_report_ = true;
    report_at_ = at_;
    in_first_ = sections_ == Sections::all && item.id == kFirstSamplesReport;
    in_samples_ = in_first_ || item.id == kSamplesReport;
    return finish(std::move(item), line.end);
  }
  if (tag.name == "report" && in_report_) {
    in_report_ = false;
    in_samples_ = true;
    in_first_ = false;
    return finish(begin(Kind::report_end), line.end);
  }
  const bool is_allowed = in_samples_ && (!in_first_ || tag.name == "samples");
  if (is_section_name(tag.name) && !tag.closes && is_allowed) {
    ReportItem item = begin(tag.name == "samples" ? Kind::samples : Kind::timestamps);
    item.tag = tag;
    item.unit = tag.attribute("unit");
    item.scheme = tag.attribute("scheme");
    item.when = tag.attribute("when");
    item.of_first_executions = in_first_;
    size_t end = line.end;
    read_section(item, end);
    return finish(std::move(item), end);
  }
  ReportItem item = begin(Kind::skipped);
  item.complaint = {Problem::Kind::corruption, at_, "a tag that is not allowed here",
                    line.end - at_};
  return finish(std::move(item), line.end);
}

// The rest of the subreport, or of the file: whole lines.
ReportItem ReportReader::read_text() {
  size_t end = at_;
  while (end < file_.size()) {
    const Line line = line_at(end);
    if (!line.whole) break;
    if (line.text.starts_with("</report") || line.text.starts_with("<report ")) {
      const std::optional<Tag> tag = parse_tag(line.text);
      if (tag && tag->name == "report") break;
    }
    end = line.end;
  }
  return finish(begin(Kind::text), end);
}

// Lines up to the next tag.
ReportItem ReportReader::read_skipped() {
  size_t end = at_;
  do {
    end = line_at(end).end;
  } while (end < file_.size() && file_[end] != '<' && line_at(end).whole);
  ReportItem item = begin(Kind::skipped);
  item.complaint = {Problem::Kind::corruption, at_,
                    in_report_ ? "lines outside any section" : "lines outside any report",
                    end - at_};
  return finish(std::move(item), end);
}

ReportItem ReportReader::read_torn_line(const Line& line) {
  ReportItem item = begin(Kind::skipped);
  item.complaint = {Problem::Kind::torn_tail, at_, "the report ends inside a line",
                    line.text.size()};
  return finish(std::move(item), line.end);
}

std::optional<ReportItem> ReportReader::next() {
  if (at_ == file_.size()) {
    if (!std::exchange(in_report_, false)) return std::nullopt;
    in_samples_ = true;
    in_first_ = false;
    ReportItem item = begin(Kind::report_end);
    item.closed = false;
    item.complaint = {Problem::Kind::torn_tail, at_,
                      fmt::format("the report at byte {} has no </report>", report_at_), 0};
    return finish(std::move(item), at_);
  }
  const Line line = line_at(at_);
  const std::optional<Tag> tag = parse_tag(line.text);
  const bool of_report = tag && tag->name == "report";
  if (of_report || (tag && in_samples_)) return read_tag(*tag, line);
  if (!line.whole) return read_torn_line(line);
  return in_samples_ ? read_skipped() : read_text();
}

}  // namespace telltale::sampler
