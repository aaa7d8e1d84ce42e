// `telltale isolate` of 30,000 runs of a program with 50,000 sites, from a store on the disk. The
// goals are 10 s on two cores and 1 GiB. The first isolation reads the Parquet files, later ones
// their digests. The answer of both is checked: the two causes are the first and the second
// predictor.
//
//     store_isolate_bench [RUNS FOLDER [UNITS]]
//
// FOLDER: only make a store there, of so many runs of a program with 1,000 sites in each unit (50
// if not given), for other measurements.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "collect/store/duckdb.h"
#include "collect/store/run_rows.h"
#include "collect/store_folder.h"
#include "import/sampler/sampler_predicates.h"
#include "process.h"
#include "simulated_runs.h"

namespace {

using namespace telltale;
using namespace telltale::bench;

constexpr size_t kRuns = 30000;

collect::RunRow row_of(size_t run, bool failed, const std::vector<ObservedSite>& observed,
                       const SiteTable& table) {
  collect::RunRow row;
  row.report.id = "run-" + std::to_string(10000000 + run);
  row.report.label = failed ? RunLabel::failed : RunLabel::passed;
  row.report.rule = "status";
  row.report.status = failed ? 1 : 0;
  row.report.received_us = 1764000000000000 + run;
  row.report.body = "\n";
  size_t next = 0;
  for (uint32_t group = 0; group < table.groups().size(); ++group) {
    const Part& part = kParts[group % std::size(kParts)];
    collect::SectionObservations section{
        unit_name(static_cast<uint32_t>(group / std::size(kParts))),
        part.scheme,
        part.sites,
        {},
        {},
        {}};
    const uint32_t first = table.first_site(group);
    for (; next < observed.size() && observed[next].site < first + part.sites; ++next) {
      section.sites.push_back(static_cast<int32_t>(observed[next].site - first));
      section.counted.push_back(static_cast<int16_t>(observed[next].counted));
    }
    row.sections.push_back(std::move(section));
  }
  return row;
}

void make_store(const std::string& folder, size_t runs_wanted, uint32_t units = kUnits) {
  const collect::StoreFolder store(folder);
  require(store.create().has_value(), "a store");
  const std::string text = make_sites(units);
  const std::string sites = store.sites_of("app", "b1");
  std::filesystem::create_directories(std::filesystem::path(sites).parent_path());
  write_file(sites, text);
  SamplerSites known;
  ProblemLog problems;
  require(known.add(sites, {}, problems).has_value(), "sites");
  const SamplerPredicates predicates(known);
  const auto database = collect::Database::open(uint64_t{1} << 30, store.temporary());
  require(database.has_value(), "DuckDB's library");
  collect::Connection connection(*database);
  const std::string runs = store.runs() + "/application=app/build=b1/day=2025-11-24";
  std::filesystem::create_directories(runs);
  RunMaker maker(predicates.table());
  std::vector<ObservedSite> observed;
  collect::RunRowWriter writer(connection);
  for (size_t run = 0; run < runs_wanted; ++run) {
    const bool failed = maker.make(run, observed);
    require(writer.add(row_of(run, failed, observed, predicates.table())).has_value(), "a row");
    if (!writer.is_full() && run + 1 < runs_wanted) continue;
    require(writer.write(runs + "/" + std::to_string(1000000 + run) + ".parquet").has_value(),
            "a file");
  }
}

uint64_t bytes_of(const std::string& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  return bytes;
}

void print(const char* what, const Measured& measured) {
  std::printf("%-16s %6.2f s, %6.2f s of processor time, peak %4.0f MiB\n", what, measured.wall_s,
              measured.cpu_s, static_cast<double>(measured.peak_kib) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 || argc == 4) {
    constexpr uint32_t kLeastUnits = 5;  // one for each cause, and others
    const size_t runs_wanted = std::strtoull(argv[1], nullptr, 10);
    const uint64_t units = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : kUnits;
    require(runs_wanted != 0, "RUNS is a number");
    require(units >= kLeastUnits && units <= kUnits, "UNITS is a number from 5 to 50");
    make_store(argv[2], runs_wanted, static_cast<uint32_t>(units));
    return 0;
  }
  const std::filesystem::path program =
      std::filesystem::absolute(argv[0]).parent_path() / "telltale";
  std::string folder = (std::filesystem::temp_directory_path() / "store-bench-XXXXXX").string();
  require(::mkdtemp(folder.data()) != nullptr, "a folder");
  const std::string store = folder + "/store";
  make_store(store, kRuns);
  const std::string answer = folder + "/answer.json";
  const std::vector<std::string> isolate = {program.string(), "isolate", store, "--json"};
  const double mebibytes = static_cast<double>(bytes_of(store)) / (1 << 20);
  const Run first = run_or_exit(isolate, answer);
  const nlohmann::json document = nlohmann::json::parse(read_file(answer));
  require(document["runs"]["failing"] == 400 && document["runs"]["successful"] == 29600, "labels");
  // Lines are numbered in simulated_runs.h: eight sites of a unit and scheme share one.
  for (size_t i = 0; i < 2; ++i) {
    const auto& row = document["rows"][i];
    const uint32_t site = kCauses[i] % 1000 - kParts[0].sites;
    require(row["scheme"] == "branches" && row["line"] == site / 8 + 1, "the causes come first");
  }
  const std::string later = folder + "/later.json";
  std::vector<Run> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(run_or_exit(isolate, later));
  require(read_file(later) == read_file(answer), "digests give the same answer");
  std::printf("store of 30,000 runs x 50,000 sites, %.0f MiB\n", mebibytes);
  print("first isolation", summarise({first}));
  print("later ones", summarise(runs));
  std::filesystem::remove_all(folder);
}
