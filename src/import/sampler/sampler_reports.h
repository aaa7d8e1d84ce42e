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
  std::vector<std::string> programs;  // any file that SamplerSites::add accepts
  InputLimits limits;
  std::string section = ".debug_site_info";  // section of the programs' site information
  bool any_text = false;                     // treats all files as reports without sniffing
};

// Feedback reports of one run or of several, joined by unit and scheme with the sites of programs.
// Sections of the same unit and scheme are merged: counters are added, bounds are widened, and
// timestamps keep the earliest first and the latest last one. Move-only.
class SamplerReports {
 public:
  // The data of all reports for one unit and scheme.
  struct Section {
    std::string unit;
    const SiteScheme* scheme = nullptr;
    const SamplerSites::Section* sites = nullptr;  // null: no program has them
    uint64_t rows = 0;                             // known or reported sites
    uint64_t times_reported = 0;                   // sections of samples
    uint64_t reported_rows = 0;                    // rows of the longest section
    std::vector<uint32_t> bad_rows;                // by row: sections in which it was damaged
    std::vector<uint64_t> counts;                  // scheme->counters.size() a row
    std::vector<sampler::Bounds> bounds;
    std::vector<uint64_t> first_times;  // empty: none were recorded
    std::vector<uint64_t> last_times;
    bool tells_first = false;  // whether such timestamps exist, even if empty
    bool tells_last = false;
    std::string file;     // the first report that contains it; empty: none
    uint64_t offset = 0;  // offset of its tag there
  };
  // A subreport other than samples; texts of the same name in one file are concatenated.
  struct Subreport {
    std::string file;
    std::string id;
    std::string text;    // whole lines; none of first executions, which are sections
    uint64_t bytes = 0;  // of the text, or of the sections
  };
  // -fsampler-adaptive: counts that are not in the sample.
  struct FirstExecutions {
    bool exist = false;            // whether a report has them, even if none
    std::deque<Section> sections;  // merged like those of the sample
    std::string sparsity;          // of the only report, as given; empty: of several, or not told
    std::string executions;        // of a place, likewise
  };

  // The files are reports, .sites files (treated as programs) or .cfg files (only counted by
  // info()). Errors: bad_magic for another file; io and others for an unreadable program.
  static Result<SamplerReports> open(std::vector<InputFile> files, const SamplerOptions& options);

  [[nodiscard]] const std::deque<Section>& sections() const { return sections_; }
  [[nodiscard]] const FirstExecutions& first_executions() const { return first_; }
  [[nodiscard]] const std::vector<Subreport>& subreports() const { return subreports_; }
  [[nodiscard]] const SamplerSites& sites() const { return *sites_; }
  [[nodiscard]] std::shared_ptr<const SamplerSites> shared_sites() const { return sites_; }
  [[nodiscard]] const ProblemLog& problems() const { return info_.problems; }
  // `keeps`: selects sites; empty: all.
  [[nodiscard]] RecordingInfo info(const std::function<bool(const CountedSite&)>& keeps = {}) const;
  [[nodiscard]] size_t report_count() const { return report_count_; }  // files that are reports
  // Sections without sites in any program.
  [[nodiscard]] uint64_t unresolved_sections() const;
  // Number of problems() about them; those are not damage of the reports.
  [[nodiscard]] uint64_t unresolved_problems() const { return unresolved_problems_; }
  // Units of the programs that have sites, but no samples in any report.
  [[nodiscard]] uint64_t unreported_units() const;
  // If there are samples, but none has an observation, a text that explains it; otherwise empty.
  [[nodiscard]] std::string_view nothing_observed() const;
  // Sections whose number of rows differs from the program's number of sites.
  [[nodiscard]] uint64_t uneven_sections() const { return uneven_; }
  // Malformed rows.
  [[nodiscard]] uint64_t bad_rows() const { return bad_rows_; }
  // Whether one of the programs has no site information.
  [[nodiscard]] bool program_without_sites() const { return program_without_sites_; }
  // In the order of first appearance: (section, first or last) for each kind of timestamps.
  [[nodiscard]] const std::vector<std::pair<size_t, bool>>& timestamps() const {
    return timestamps_;
  }

  // Passes one site to `use(const CountedSite&)`. REQUIRES: row < section.rows.
  template <typename Use>
  void tell_site(const Section& section, size_t row, Use use) const {
    std::string minimum;
    std::string maximum;
    use(site(section, row, minimum, maximum));
  }
  // Passes every site of a section to `use(const CountedSite&)`, in order.
  template <typename Use>
  void for_each_site(const Section& section, Use use) const {
    std::string minimum;
    std::string maximum;
    for (uint64_t row = 0; row < section.rows; ++row)
      use(site(section, static_cast<size_t>(row), minimum, maximum));
  }
  // The same for all sections; `unreported`: includes sites that no report contains, with counts of
  // 0.
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
  void begin_first_executions(const sampler::ReportItem& item);
  Subreport& find_subreport(const std::string& file, std::string_view id);
  void count_graphs(const InputFile& file);
  void note_unresolved();
  void add_unreported();
  void note_rows(const sampler::ReportItem& item, const std::string& file, const Section& section,
                 const sampler::RowTally& tally);
  using SectionNumbers = std::map<std::pair<std::string_view, std::string_view>, size_t>;
  // Index in `sections`.
  size_t find_or_add(std::deque<Section>& sections, SectionNumbers& by_key, std::string_view unit,
                     std::string_view scheme, size_t unknown_counters);
  static void resize(Section& section);
  const SiteScheme* scheme_of(std::string_view name, size_t unknown_counters);
  CountedSite site(const Section& section, size_t row, std::string& minimum,
                   std::string& maximum) const;

  std::vector<InputFile> files_;
  std::shared_ptr<SamplerSites> sites_ = std::make_shared<SamplerSites>();
  RecordingInfo info_;
  std::deque<Section> sections_;  // stable addresses: by_key_ holds views of them
  SectionNumbers by_key_;
  FirstExecutions first_;
  SectionNumbers first_by_key_;
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
