#include "import/sampler/sampler_reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "formats/sampler/cfg.h"
#include "formats/sampler/recognise.h"
#include "formats/sampler/tag.h"
#include "formats/sampler/wire.h"
#include "program/static_sections.h"

namespace telltale {
namespace {

using sampler::ReportItem;
using sampler::RowTally;

bool has_counts(const SamplerReports::Section& section) {
  return std::ranges::any_of(section.counts, [](uint64_t count) { return count != 0; }) ||
         std::ranges::any_of(section.bounds, &sampler::Bounds::observed);
}

SiteScheme describe(const sampler::SchemeLayout& layout) {
  SiteScheme scheme;
  scheme.name = layout.name;
  scheme.columns.assign(layout.column_names, layout.column_names + layout.columns);
  scheme.counters.assign(layout.counter_names, layout.counter_names + layout.counters);
  scheme.bounds = layout.values == sampler::Values::bounds;
  return scheme;
}

// An undocumented scheme; its values are treated as counts.
SiteScheme invent(std::string_view name, size_t counters) {
  SiteScheme scheme;
  scheme.name = name;
  for (size_t i = 1; i <= CountedSite::kMaxColumns; ++i)
    scheme.columns.push_back(fmt::format("column {}", i));
  for (size_t i = 1; i <= counters; ++i) scheme.counters.push_back(fmt::format("value {}", i));
  return scheme;
}

}  // namespace

Result<SamplerReports> SamplerReports::open(std::vector<InputFile> files,
                                            const SamplerOptions& options) {
  SamplerReports reports;
  reports.info_.format = "sampler";
  reports.info_.version = "1";
  reports.info_.timed = false;
  ProblemLog& problems = reports.info_.problems;
  for (const std::string& path : options.programs) {
    const Result<bool> added = reports.sites_->add(path, options.limits, problems, options.section);
    if (!added) return std::unexpected(added.error());
    if (*added) continue;
    reports.program_without_sites_ = true;
    problems.add({Problem::Kind::loss, 0, path, "program",
                  fmt::format("has no section {}", options.section), 0});
  }
  for (InputFile& file : files) {
    reports.info_.files.push_back(file.name());
    reports.info_.bytes += file.bytes().size();
    switch (options.any_text ? sampler::TextKind::report : sampler::kind_of(file.bytes())) {
      case sampler::TextKind::sites:
        if (const auto added = reports.sites_->add(std::move(file), problems); !added)
          return std::unexpected(added.error());
        break;
      case sampler::TextKind::report:
        problems.merge(file.problems());
        ++reports.report_count_;
        reports.files_.push_back(std::move(file));
        break;
      case sampler::TextKind::graphs:
        reports.count_graphs(file);
        break;
      case sampler::TextKind::none:
        return std::unexpected(Error{Error::Cause::bad_magic,
                                     file.name(),
                                     {},
                                     may_have_static_sections(file.bytes())
                                         ? "a program, not a report: name it with --program"
                                         : "neither a feedback report nor site information",
                                     0});
    }
  }
  for (const InputFile& file : reports.files_) reports.read(file);
  // Without programs, no join is intended.
  if (!options.programs.empty() || !reports.sites_->sections().empty()) reports.note_unresolved();
  reports.add_unreported();
  return reports;
}

void SamplerReports::count_graphs(const InputFile& file) {
  info_.problems.merge(file.problems());
  const sampler::CfgInfo graphs =
      sampler::CfgInfo::read(file.bytes(), file.name(), 0, info_.problems);
  for (const sampler::CfgUnit& unit : graphs.units()) {
    ++kinds_["graph units"];
    kinds_["graph functions"] += unit.function_count;
    for (const sampler::CfgFunction& function : graphs.functions(unit))
      kinds_["graph nodes"] += function.node_count;
  }
}

void SamplerReports::read(const InputFile& file) {
  sampler::ReportReader reader(file.bytes(), sampler::ReportReader::Sections::all);
  std::string_view id;
  while (const std::optional<ReportItem> item = reader.next()) {
    if (item->complaint) info_.problems.add(problem_of(*item, file.name()));
    switch (item->kind) {
      case ReportItem::Kind::report_begin:
        id = item->id;
        ++kinds_["reports"];
        if (id != sampler::kSamplesReport) find_subreport(file.name(), id);
        if (id == sampler::kFirstSamplesReport) begin_first_executions(*item);
        break;
      case ReportItem::Kind::samples:
      case ReportItem::Kind::timestamps:
        if (item->of_first_executions) find_subreport(file.name(), id).bytes += item->bytes.size();
        read_section(*item, file.name());
        break;
      case ReportItem::Kind::text: {
        Subreport& subreport = find_subreport(file.name(), id);
        subreport.text += item->bytes;
        subreport.bytes += item->bytes.size();
        break;
      }
      case ReportItem::Kind::report_end:
      case ReportItem::Kind::skipped:
        break;
    }
  }
}

// Each unit of a run writes such a report, all with the same rates.
void SamplerReports::begin_first_executions(const ReportItem& item) {
  const std::string_view sparsity = item.tag.attribute("sparsity");
  const std::string_view executions = item.tag.attribute("first");
  const bool is_first = !std::exchange(first_.exist, true);
  if (is_first && report_count_ == 1) {
    first_.sparsity = sparsity;
    first_.executions = executions;
  } else if (first_.sparsity != sparsity || first_.executions != executions) {
    first_.sparsity.clear();
    first_.executions.clear();
  }
}

SamplerReports::Subreport& SamplerReports::find_subreport(const std::string& file,
                                                          std::string_view id) {
  const auto [known, is_new] =
      subreport_of_.try_emplace({file, std::string(id)}, subreports_.size());
  if (is_new) subreports_.push_back({file, std::string(id), {}});
  return subreports_[known->second];
}

const SiteScheme* SamplerReports::scheme_of(std::string_view name, size_t unknown_counters) {
  const auto known = schemes_.find(name);
  if (known != schemes_.end()) return known->second.get();
  const sampler::SchemeLayout* layout = sampler::find_scheme(name);
  auto scheme = std::make_unique<SiteScheme>(layout == nullptr ? invent(name, unknown_counters)
                                                               : describe(*layout));
  return schemes_.emplace(name, std::move(scheme)).first->second.get();
}

size_t SamplerReports::find_or_add(std::deque<Section>& sections, SectionNumbers& by_key,
                                   std::string_view unit, std::string_view scheme,
                                   size_t unknown_counters) {
  const auto known = by_key.find({unit, scheme});
  if (known != by_key.end()) return known->second;
  Section& section = sections.emplace_back();
  section.unit = unit;
  section.scheme = scheme_of(scheme, unknown_counters);
  section.sites = sites_->find(unit, scheme);
  if (section.sites != nullptr) section.rows = section.sites->sites->size();
  by_key.emplace(std::pair<std::string_view, std::string_view>(section.unit, section.scheme->name),
                 sections.size() - 1);
  return sections.size() - 1;
}

void SamplerReports::read_section(const ReportItem& item, const std::string& file) {
  if (item.unit.empty() || item.scheme.empty()) {
    info_.problems.add({Problem::Kind::corruption, item.offset, file,
                        std::string(to_string(item.kind)), "the tag lacks a unit or a scheme",
                        item.bytes.size()});
    return;
  }
  const size_t columns = sampler::columns_of_first_row(item.body);
  std::deque<Section>& sections = item.of_first_executions ? first_.sections : sections_;
  const size_t index =
      find_or_add(sections, item.of_first_executions ? first_by_key_ : by_key_, item.unit,
                  item.scheme, std::clamp<size_t>(columns, 1, sampler::kMaxUnknownCounters));
  Section& section = sections[index];
  if (section.file.empty()) {
    section.file = file;
    section.offset = item.offset;
  }
  if (item.kind == ReportItem::Kind::samples) {
    read_samples(item, file, section);
    return;
  }
  ++kinds_["timestamps sections"];
  if (item.when != "first" && item.when != "last") {
    info_.problems.add({Problem::Kind::corruption, item.offset, file, "Timestamps",
                        "neither of the first nor of the last", item.bytes.size()});
    return;
  }
  const bool first = item.when == "first";
  if (!std::exchange(first ? section.tells_first : section.tells_last, true))
    timestamps_.emplace_back(index, first);
  std::vector<uint64_t>& times = first ? section.first_times : section.last_times;
  const uint64_t limit = section.sites == nullptr ? sampler::kAllRows : section.rows;
  const RowTally tally = sampler::merge_timestamps(item.body, first, times, limit);
  note_rows(item, file, section, tally);
}

void SamplerReports::read_samples(const ReportItem& item, const std::string& file,
                                  Section& section) {
  ++kinds_["samples sections"];
  ++section.times_reported;
  const uint64_t limit = section.sites == nullptr ? sampler::kAllRows : section.rows;
  const RowTally tally = section.scheme->bounds
                             ? sampler::merge_bounds(item.body, section.bounds, limit)
                             : sampler::add_counters(item.body, section.scheme->counters.size(),
                                                     section.counts, limit);
  if (section.sites == nullptr) section.rows = std::max(section.rows, tally.rows - tally.unread);
  section.reported_rows = std::max(section.reported_rows, std::min(tally.rows, section.rows));
  for (const uint64_t row : tally.bad_rows) {
    if (section.bad_rows.size() <= row)
      section.bad_rows.resize(std::max(static_cast<size_t>(row + 1), section.bad_rows.size() * 2));
    ++section.bad_rows[row];
  }
  kinds_["rows"] += tally.rows;
  note_rows(item, file, section, tally);
}

void SamplerReports::note_rows(const ReportItem& item, const std::string& file,
                               const Section& section, const RowTally& tally) {
  const auto note = [&](Problem::Kind kind, uint64_t offset, std::string message) {
    info_.problems.add(
        {kind, offset, file, std::string(to_string(item.kind)), std::move(message), 0});
  };
  bad_rows_ += tally.bad_rows.size();
  if (!tally.bad_rows.empty()) {
    note(Problem::Kind::corruption, item.body_offset + tally.first_bad,
         fmt::format("{} without the columns of scheme {}; the first is row {}",
                     counted(tally.bad_rows.size(), "row"), item.scheme,
                     tally.bad_rows.front() + 1));
  }
  if (tally.unread != 0) {
    note(Problem::Kind::corruption, item.body_offset,
         fmt::format("most rows are damaged; the last {} are skipped", tally.unread));
  }
  if (tally.saturated != 0) {
    // Every answer with such a number says so.
    note(Problem::Kind::estimate, item.offset,
         fmt::format("{} of scheme {} would be 2^64 or more, and stayed at 2^64 - 1",
                     counted(tally.saturated, "sum"), item.scheme));
  }
  if (section.sites == nullptr || tally.rows == section.rows) return;
  ++uneven_;
  note(item.closed ? Problem::Kind::corruption : Problem::Kind::loss, item.offset,
       fmt::format("{}, {} has {} of unit {} and scheme {}", counted(tally.rows, "row"),
                   *section.sites->program, counted(section.rows, "site"), item.unit, item.scheme));
}

// Reports counts without sites: the program is a different one, or a different build.
void SamplerReports::note_unresolved() {
  struct UnresolvedUnit {
    const Section* first = nullptr;
    std::string schemes;
  };
  std::map<std::string_view, UnresolvedUnit> units;
  std::map<std::string_view, bool> resolved_files;  // whether any of their units was resolved
  for (const Section& section : sections_) {
    bool& resolved = resolved_files[section.file];
    resolved = resolved || section.sites != nullptr;
    if (section.sites != nullptr) continue;
    UnresolvedUnit& unit = units[section.unit];
    if (unit.first == nullptr) unit.first = &section;
    unit.schemes += (unit.schemes.empty() ? "" : ", ") + section.scheme->name;
  }
  const auto note = [this](const std::string& file, uint64_t offset, std::string record,
                           std::string message) {
    info_.problems.add(
        {Problem::Kind::loss, offset, file, std::move(record), std::move(message), 0});
    ++unresolved_problems_;
  };
  for (const auto& [file, resolved] : resolved_files) {
    if (resolved) continue;
    note(std::string(file), 0, "Report",
         "no given program has any of its units: it is from another program, or from another build "
         "of this one");
  }
  for (const auto& [name, unit] : units) {
    note(unit.first->file, unit.first->offset, "Samples",
         fmt::format("no given program has the sites of unit {} ({})", name, unit.schemes));
  }
}

// Units of programs without a report.
void SamplerReports::add_unreported() {
  for (const SamplerSites::Section& section : sites_->sections())
    find_or_add(sections_, by_key_, section.sites->unit, section.sites->scheme, 1);
  for (Section& section : sections_) {
    // Only timestamps: the same number of sites, if their scheme is known.
    const bool times_only = section.sites == nullptr && section.times_reported == 0;
    if (times_only && sampler::find_scheme(section.scheme->name) != nullptr)
      section.rows = std::max(section.first_times.size(), section.last_times.size());
    resize(section);
  }
  for (Section& section : first_.sections) resize(section);
}

// To the rows that the section has at last.
void SamplerReports::resize(Section& section) {
  const size_t rows = static_cast<size_t>(section.rows);
  if (section.scheme->bounds) {
    section.bounds.resize(rows);
  } else {
    section.counts.resize(rows * section.scheme->counters.size());
  }
  if (!section.first_times.empty()) section.first_times.resize(rows);
  if (!section.last_times.empty()) section.last_times.resize(rows);
}

CountedSite SamplerReports::site(const Section& section, size_t row, std::string& minimum,
                                 std::string& maximum) const {
  CountedSite site;
  site.scheme = section.scheme;
  site.unit = section.unit;
  site.index = row;
  const uint32_t bad = row < section.bad_rows.size() ? section.bad_rows[row] : 0;
  site.reported = row < section.reported_rows && bad < section.times_reported;
  if (section.sites != nullptr) {
    const sampler::SiteRow columns = section.sites->sites->row(row);
    site.program = *section.sites->program;
    site.file = columns.file();
    site.line = sampler::parse_unsigned(columns.line_number()).value_or(0);
    site.function = columns.function();
    site.graph_number = columns.graph_number();
    site.column_count =
        columns.column_count - std::min(columns.column_count, sampler::kCommonColumns);
    for (size_t i = 0; i < site.column_count; ++i) site.columns[i] = columns.column(i);
    site.text = columns.line;
  }
  if (section.scheme->bounds) {
    const sampler::Bounds& bounds = section.bounds[row];
    minimum = to_string(bounds.minimum);
    maximum = to_string(bounds.maximum);
    site.minimum = minimum;
    site.maximum = maximum;
    site.observed = bounds.observed();
  } else {
    const size_t width = section.scheme->counters.size();
    site.counts = std::span(section.counts).subspan(row * width, width);
    site.observed = std::ranges::any_of(site.counts, [](uint64_t count) { return count != 0; });
  }
  if (!section.first_times.empty()) site.first_time = section.first_times[row];
  if (!section.last_times.empty()) site.last_time = section.last_times[row];
  return site;
}

uint64_t SamplerReports::unresolved_sections() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      sections_, [](const Section& section) { return section.sites == nullptr; }));
}

uint64_t SamplerReports::unreported_units() const {
  std::map<std::string_view, bool> reported;  // by unit of the programs
  for (const Section& section : sections_) {
    if (section.sites == nullptr || section.sites->sites->rows.empty()) continue;
    bool& known = reported[section.unit];
    known = known || section.times_reported != 0;
  }
  return static_cast<uint64_t>(
      std::ranges::count(reported, false, &std::pair<const std::string_view, bool>::second));
}

std::string_view SamplerReports::nothing_observed() const {
  bool any_rows = false;
  for (const Section& section : sections_) {
    if (has_counts(section)) return {};
    any_rows = any_rows || section.reported_rows != 0;
  }
  if (!any_rows) return {};
  if (std::ranges::any_of(first_.sections, has_counts))
    return "the sample is empty: only first executions were observed, which `isolate` uses";
  return "nothing was observed: a program that samples needs SAMPLER_SPARSITY in its environment";
}

RecordingInfo SamplerReports::info(const std::function<bool(const CountedSite&)>& keeps) const {
  RecordingInfo info = info_;
  for (const auto& [kind, count] : kinds_) {
    info.records += count;
    info.records_by_kind.emplace_back(kind, count);
  }
  std::vector<std::string_view> units;
  uint64_t sites = 0;
  uint64_t observed = 0;
  for (const Section& section : sections_) {
    units.push_back(section.unit);
    for_each_site(section, [&](const CountedSite& site) {
      if (keeps && !keeps(site)) return;
      ++sites;
      observed += site.observed ? 1 : 0;
    });
  }
  std::ranges::sort(units);
  units.erase(std::ranges::unique(units).begin(), units.end());
  const auto property = [&](std::string name, uint64_t value) {
    info.properties.emplace_back(std::move(name), fmt::format("{}", value));
  };
  property("units", units.size());
  property("sites", sites);
  property("observed sites", observed);
  if (!sites_->sections().empty()) {
    property("unresolved", unresolved_sections());
    if (report_count_ != 0) property("unreported units", unreported_units());
  }
  if (const std::string_view note = nothing_observed(); !note.empty())
    info.properties.emplace_back("note", note);
  for (const Subreport& subreport : subreports_) {
    info.properties.emplace_back("subreport",
                                 fmt::format("{}, {} bytes", subreport.id, subreport.bytes));
  }
  return info;
}

}  // namespace telltale
