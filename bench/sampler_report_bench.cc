// Parses and resolves feedback reports: from text in memory to counts joined with their sites, on
// one thread. The budget is 400 MB of report text a second. The answer is checked first, against
// the numbers that the text was generated from. For comparison: a single pass over the text with
// memchr, and a plain reader of lines with strtoull.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/as_bytes.h"
#include "formats/sampler/report_writer.h"
#include "formats/sampler/site_info.h"
#include "import/sampler/sampler_reports.h"

namespace {

using namespace telltale;

constexpr int kRounds = 7;
constexpr size_t kUnits = 100;
constexpr size_t kRuns = 12;  // the same program, again and again

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Part {
  const char* scheme;
  size_t sites;
  size_t counters;
};
// Typical of real builds for statistical debugging: scalar-pairs outnumber everything.
constexpr Part kParts[] = {{"scalar-pairs", 12000, 3}, {"branches", 2500, 2}, {"returns", 1500, 3}};

struct Made {
  std::string report;
  std::string sites;
  std::vector<uint64_t> sums;  // in the order of the report's rows
};

// Most sites of a run are never reached; the others have counts of all sizes. `busy`: percentage of
// sites that are reached.
Made make(unsigned busy) {
  Made made;
  std::mt19937_64 random(42);
  for (size_t unit = 0; unit < kUnits; ++unit) {
    char name[33];
    std::snprintf(name, sizeof(name), "%032zx", unit);
    for (const Part& part : kParts) {
      made.sites += std::string("<sites unit=\"") + name + "\" scheme=\"" + part.scheme + "\">\n";
      for (size_t site = 0; site < part.sites; ++site) {
        made.sites += "src/module.c\t" + std::to_string(site / 8 + 1) + "\tfunction\t" +
                      std::to_string(site) + "\tleft\n";
      }
      made.sites += "</sites>\n";
    }
  }
  std::vector<uint64_t> values;
  for (size_t run = 0; run < kRuns; ++run) {
    size_t at = 0;
    sampler::append_report_begin(made.report, "samples");
    for (size_t unit = 0; unit < kUnits; ++unit) {
      char name[33];
      std::snprintf(name, sizeof(name), "%032zx", unit);
      for (const Part& part : kParts) {
        sampler::append_samples_begin(made.report, name, part.scheme);
        values.resize(part.counters);
        for (size_t site = 0; site < part.sites; ++site) {
          const bool reached = random() % 100 < busy;
          for (uint64_t& value : values) {
            value = reached && random() % 2 == 0 ? random() >> (44 + random() % 20) : 0;
            if (made.sums.size() == at) made.sums.push_back(0);
            made.sums[at++] += value;
          }
          sampler::append_row(made.report, values);
        }
        sampler::append_samples_end(made.report);
      }
    }
    sampler::append_report_end(made.report);
  }
  return made;
}

SamplerReports resolve(const Made& made) {
  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory("report", as_bytes(made.report)));
  inputs.push_back(InputFile::from_memory("sites", as_bytes(made.sites)));
  Result<SamplerReports> reports = SamplerReports::open(std::move(inputs), {});
  if (!reports) std::exit(1);
  return *std::move(reports);
}

void check(const Made& made) {
  const SamplerReports reports = resolve(made);
  size_t at = 0;
  reports.for_each_site(false, [&](const CountedSite& site) {
    for (const uint64_t count : site.counts) {
      if (at >= made.sums.size() || made.sums[at++] != count || site.function != "function") {
        std::fprintf(stderr, "the answer is wrong at number %zu\n", at);
        std::exit(1);
      }
    }
  });
  if (at != made.sums.size() || reports.problems().count() != 0) std::exit(1);
}

// The obvious implementation: a line, its fields, a map.
uint64_t read_plainly(const std::string& report) {
  std::map<std::string, std::vector<uint64_t>> sums;
  std::vector<uint64_t>* section = nullptr;
  size_t row = 0;
  for (size_t begin = 0; begin < report.size();) {
    const size_t end = report.find('\n', begin);
    const std::string line = report.substr(begin, end - begin);
    begin = end + 1;
    if (line[0] == '<') {
      section = &sums[line];
      row = 0;
      continue;
    }
    const char* at = line.c_str();
    while (*at != '\0') {
      char* next = nullptr;
      const uint64_t value = std::strtoull(at, &next, 10);
      if (section->size() == row) section->push_back(0);
      (*section)[row++] += value;
      at = *next == '\t' ? next + 1 : next;
    }
  }
  return sums.size();
}

uint64_t count_lines(const std::string& report) {
  return static_cast<uint64_t>(std::ranges::count(report, '\n'));
}

template <typename Work>
double least_seconds(int rounds, Work work) {
  double least = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double start = thread_seconds();
    work();
    least = std::min(least, thread_seconds() - start);
  }
  return least;
}

void measure(unsigned busy) {
  const Made made = make(busy);
  check(made);
  const double bytes = static_cast<double>(made.report.size());
  uint64_t kept = 0;
  // Sites are read once per program, not once per report: subtracted.
  const double sites = least_seconds(kRounds, [&] {
    ProblemLog problems;
    kept += sampler::SiteInfo::read(as_bytes(made.sites), "sites", 0, problems).sections().size();
  });
  const double all = least_seconds(kRounds, [&] { kept += resolve(made).sections().size(); });
  const double scan = least_seconds(kRounds, [&] { kept += count_lines(made.report); });
  const double plain = least_seconds(1, [&] { kept += read_plainly(made.report); });
  std::printf(
      "%3u %% of sites reached: %6.1f MB, %6.1f MB of sites: %7.0f MB/s with the sites, %7.0f MB/s "
      "of report alone; counting lines %7.0f MB/s; a plain reader %5.0f MB/s, %.0f times slower\n",
      busy, bytes / 1e6, static_cast<double>(made.sites.size()) / 1e6, bytes / all / 1e6,
      bytes / (all - sites) / 1e6, bytes / scan / 1e6, bytes / plain / 1e6, plain / all);
  if (kept == 0) std::exit(1);
}

}  // namespace

int main() {
  for (const unsigned busy : {1U, 20U, 60U, 100U}) measure(busy);
  return 0;
}
