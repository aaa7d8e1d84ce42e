// Isolation of 30,000 runs of a program with 50,000 sites: from packed evidence in memory, where
// the goals are 10 s on two cores and 1 GiB, and from the text of reports, where the goals are 60 s
// and 400 MB/s on each core. A run observes a fifth of the sites, and 400 runs fail by one of two
// bugs. The text is that of 300 runs, read a hundred times, so that it stays in the page cache.
// Answers are checked: the two causes are the first and the second predictor.

#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "analysis/isolation/isolate.h"
#include "import/sampler/sampler_evidence.h"
#include "import/sampler/sampler_predicates.h"
#include "simulated_runs.h"

namespace {

using namespace telltale;
using namespace telltale::isolation;
using namespace telltale::bench;

constexpr size_t kRuns = 30000;
constexpr size_t kReports = 300;  // whose text is made

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class Stopwatch {
 public:
  [[nodiscard]] double wall() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] double cpu() const { return process_seconds() - cpu_start_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_start_ = process_seconds();
};

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void check_causes(const SiteTable& sites, const Isolation& answer) {
  require(answer.predictors.size() >= 2, "two predictors");
  for (size_t i = 0; i < 2; ++i)
    require(sites.site_of(answer.predictors[i].predicate) == kCauses[i], "the causes come first");
}

void bench_packed(const SiteTable& sites) {
  std::vector<LabelledRun> runs;
  std::vector<uint32_t> groups(sites.groups().size());
  for (uint32_t i = 0; i < groups.size(); ++i) groups[i] = i;
  RunMaker maker(sites);
  std::vector<ObservedSite> observed;
  size_t bytes = 0;
  uint64_t observations = 0;
  for (size_t i = 0; i < kRuns; ++i) {
    const bool failed = maker.make(i, observed);
    observations += observed.size();
    runs.push_back({RunEvidence(observed, groups), failed});
    bytes += runs.back().evidence.memory_bytes();
  }
  const Stopwatch watch;
  const Isolation answer = isolate(sites, runs, {});
  std::printf(
      "isolated: %.2f s, %.2f s of processor time; %.0f million observations, %.0f MiB of "
      "evidence, peak %.0f MiB\n",
      watch.wall(), watch.cpu(), static_cast<double>(observations) / 1e6,
      static_cast<double>(bytes) / (1 << 20), peak_mib());
  check_causes(sites, answer);
}

std::string make_report(const SiteTable& sites, const std::vector<ObservedSite>& observed,
                        std::mt19937_64& random) {
  std::string text = "<report id=\"samples\">\n";
  size_t next = 0;
  uint32_t site = 0;
  for (uint32_t group = 0; group < sites.groups().size(); ++group) {
    const Part& part = kParts[group % std::size(kParts)];
    text += "<samples unit=\"" + unit_name(group / std::size(kParts)) + "\" scheme=\"" +
            part.scheme + "\">\n";
    for (uint32_t row = 0; row < part.sites; ++row, ++site) {
      const bool here = next < observed.size() && observed[next].site == site;
      for (unsigned i = 0; i < part.counters; ++i) {
        const bool counted = here && (observed[next].counted >> i & 1U) != 0;
        text += counted ? std::to_string(1 + (random() >> (44 + random() % 20))) : "0";
        text += i + 1 == part.counters ? '\n' : '\t';
      }
      if (here) ++next;
    }
    text += "</samples>\n";
  }
  return text + "</report>\n";
}

SamplerEvidence read_text(const std::vector<RunReport>& reports, const SamplerSites& sites,
                          const SamplerPredicates& predicates) {
  return read_sampler_evidence(
      reports, sites, predicates,
      [](const RunReport& report) { return InputFile::open(report.path); }, 0);
}

// What `telltale isolate` does with the list of all runs.
void bench_all_text(const std::vector<RunReport>& reports, const SamplerSites& sites,
                    const SamplerPredicates& predicates) {
  std::vector<RunReport> all;
  while (all.size() < kRuns) all.insert(all.end(), reports.begin(), reports.end());
  const Stopwatch watch;
  const SamplerEvidence evidence = read_text(all, sites, predicates);
  const Isolation answer = isolate(predicates.table(), evidence.runs, {});
  std::printf("from text: %.2f s, %.2f s of processor time; peak %.0f MiB\n", watch.wall(),
              watch.cpu(), peak_mib());
  check_causes(predicates.table(), answer);
}

void bench_text(const SamplerSites& sites, const SamplerPredicates& predicates) {
  std::string pattern = (std::filesystem::temp_directory_path() / "isolate-bench-XXXXXX").string();
  require(::mkdtemp(pattern.data()) != nullptr, "a folder");
  std::vector<RunReport> reports;
  RunMaker maker(predicates.table());
  std::vector<ObservedSite> observed;
  std::mt19937_64 random(9);
  uint64_t bytes = 0;
  uint64_t observations = 0;
  for (size_t i = 0; i < kReports; ++i) {
    const bool failed = maker.make(i, observed);
    observations += observed.size();
    const std::string text = make_report(predicates.table(), observed, random);
    bytes += text.size();
    reports.push_back({pattern + "/" + std::to_string(i), failed});
    std::ofstream(reports.back().path) << text;
  }
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const Stopwatch watch;
    const SamplerEvidence evidence = read_text(reports, sites, predicates);
    best = std::min(best, watch.cpu());
    require(evidence.runs.size() == kReports && evidence.observations == observations &&
                evidence.problems.count() == 0,
            "every observation is read");
  }
  std::printf("report text: %.0f MB/s a core\n", static_cast<double>(bytes) / 1e6 / best);
  bench_all_text(reports, sites, predicates);
  std::filesystem::remove_all(pattern);
}

}  // namespace

int main() {
  const std::string text = make_sites();
  SamplerSites sites;
  ProblemLog problems;
  const auto added =
      sites.add(InputFile::from_memory("sites", std::as_bytes(std::span(text))), problems);
  require(added && *added && problems.count() == 0, "sites");
  const SamplerPredicates predicates(sites);
  bench_text(sites, predicates);
  bench_packed(predicates.table());
}
