#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/sampler/backtrace.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "import/sampler/sampler_sites.h"
#include "model/counted_sites.h"
#include "model/recording_info.h"

namespace telltale {

struct SamplerOptions {
  std::vector<std::string> programs;  // whatever SamplerSites::add takes
  InputLimits limits;
  std::string section = ".debug_site_info";  // that programs have the site information in
  bool any_text = false;                     // the files are reports, whatever they begin with
};

// Feedback reports of one run or of several, joined by unit and scheme with the sites of programs.
// Sections of the same unit and scheme are merged: counters are added, of bounds the smallest
// minimum and the largest maximum stay, of timestamps the earliest first and the latest last one.
// Move-only.
class SamplerReports {
 public:
  // What all reports say of one unit and scheme.
  struct Section {
    std::string unit;
    const SiteScheme* scheme = nullptr;
    const SamplerSites::Section* sites = nullptr;  // null: no program has them
    uint64_t rows = 0;                             // sites that are known or reported
    uint64_t times_reported = 0;                   // sections of samples
    uint64_t reported_rows = 0;                    // of the longest of them
    std::vector<uint32_t> bad_rows;                // by row: sections in which it was damaged
    std::vector<uint64_t> counts;                  // scheme->counters.size() a row
    std::vector<sampler::Bounds> bounds;
    std::vector<uint64_t> first_times;  // empty: none were recorded
    std::vector<uint64_t> last_times;
    bool tells_first = false;  // there are such timestamps, empty or not
    bool tells_last = false;
    std::string file;     // the report that tells of it first; empty: none does
    uint64_t offset = 0;  // of its tag there
  };
  // A subreport that is not samples; of several of the same name in one file all text together.
  struct Subreport {
    std::string file;
    std::string id;
    std::string text;  // whole lines
  };

  // The files are reports, and may be .sites files, which count as programs, and .cfg files, which
  // info() counts. Errors: bad_magic for
  // another file; io and others of a program that cannot be read.
  static Result<SamplerReports> open(std::vector<InputFile> files, const SamplerOptions& options);

  [[nodiscard]] const std::deque<Section>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<Subreport>& subreports() const { return subreports_; }
  [[nodiscard]] const SamplerSites& sites() const { return sites_; }
  [[nodiscard]] const ProblemLog& problems() const { return info_.problems; }
  // `keeps`: which sites count; empty: all.
  [[nodiscard]] RecordingInfo info(const std::function<bool(const CountedSite&)>& keeps = {}) const;
  [[nodiscard]] size_t report_count() const { return report_count_; }  // files that are reports
  // Sections that no program has sites for.
  [[nodiscard]] uint64_t unresolved_sections() const;
  // Entries of problems() that say so: no damage of the reports themselves.
  [[nodiscard]] uint64_t unresolved_problems() const { return unresolved_problems_; }
  // Units of the programs of which no report has samples.
  [[nodiscard]] uint64_t unreported_units() const;
  // There are samples of sites, and nothing was observed at any: in words what that means,
  // otherwise empty.
  [[nodiscard]] std::string_view nothing_observed() const;
  // Sections whose rows are not as many as the program's sites.
  [[nodiscard]] uint64_t uneven_sections() const { return uneven_; }
  // Rows that were not the numbers that they should be.
  [[nodiscard]] uint64_t bad_rows() const { return bad_rows_; }
  // One of the programs has no site information.
  [[nodiscard]] bool program_without_sites() const { return program_without_sites_; }
  // In the order of first appearance: (section, first or last) for each kind of timestamps.
  [[nodiscard]] const std::vector<std::pair<size_t, bool>>& timestamps() const {
    return timestamps_;
  }

  // Tells one site to `use(const CountedSite&)`. REQUIRES: row < section.rows.
  template <typename Use>
  void tell_site(const Section& section, size_t row, Use use) const {
    std::string minimum;
    std::string maximum;
    use(site(section, row, minimum, maximum));
  }
  // Tells every site of a section to `use(const CountedSite&)`, in order.
  template <typename Use>
  void for_each_site(const Section& section, Use use) const {
    std::string minimum;
    std::string maximum;
    for (uint64_t row = 0; row < section.rows; ++row)
      use(site(section, static_cast<size_t>(row), minimum, maximum));
  }
  // Of all sections; `unreported`: also sites that only a program knows, with counts of 0.
  template <typename Use>
  void for_each_site(bool unreported, Use use) const {
    for (const Section& section : sections_) {
      if (!unreported && section.times_reported == 0) continue;
      for_each_site(section, [&](const CountedSite& site) {
        if (unreported || site.reported) use(site);
      });
    }
  }

 private:
  SamplerReports() = default;
  void read(const InputFile& file);
  void read_section(const sampler::ReportItem& item, const std::string& file);
  void read_samples(const sampler::ReportItem& item, const std::string& file, Section& section);
  void add_subreport(const std::string& file, std::string_view id, std::string_view text);
  void count_graphs(const InputFile& file);
  void note_unresolved();
  void add_unreported();
  void note_rows(const sampler::ReportItem& item, const std::string& file, const Section& section,
                 const sampler::RowTally& tally);
  // Index in sections_.
  size_t find_or_add(std::string_view unit, std::string_view scheme, size_t unknown_counters);
  const SiteScheme* scheme_of(std::string_view name, size_t unknown_counters);
  CountedSite site(const Section& section, size_t row, std::string& minimum,
                   std::string& maximum) const;

  std::vector<InputFile> files_;
  SamplerSites sites_;
  RecordingInfo info_;
  std::deque<Section> sections_;  // places stay: by_key_ holds views of them
  std::map<std::pair<std::string_view, std::string_view>, size_t> by_key_;
  std::map<std::string, std::unique_ptr<SiteScheme>, std::less<>> schemes_;
  std::vector<Subreport> subreports_;
  std::map<std::pair<std::string, std::string>, size_t> subreport_of_;  // by file and id
  std::vector<std::pair<size_t, bool>> timestamps_;
  std::map<std::string, uint64_t, std::less<>> kinds_;
  size_t report_count_ = 0;
  uint64_t uneven_ = 0;
  uint64_t bad_rows_ = 0;
  uint64_t unresolved_problems_ = 0;
  bool program_without_sites_ = false;
};

}  // namespace telltale
