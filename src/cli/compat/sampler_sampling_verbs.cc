// decimate-samples and precompute: sampling after and before the run.
#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "bytes/input_file.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "formats/sampler/decimate.h"
#include "formats/sampler/wire.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

constexpr int kWriteFailed = 1;  // of precompute

uint64_t random_seed() {
  uint64_t seed = 0;
  if (::getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) return 1;
  return seed;
}

struct DecimateOptions {
  uint64_t sparsity = 0;
  std::optional<uint64_t> seed;
};

int run_decimate(const DecimateOptions& options) {
  const Result<InputFile> input = InputFile::open("-");
  if (!input) return report_error(input.error());
  ProblemLog problems;
  const uint64_t seed = options.seed ? *options.seed : random_seed();
  const Result<void> done =
      sampler::decimate(input->bytes(), options.sparsity, seed, print_block, problems);
  for (const Problem& problem : problems.kept())
    print_message("telltale: {}\n", visible(to_string(problem)));
  return done ? static_cast<int>(kDone) : report_error(done.error());
}

// The whole text as a number of at least 1.
std::optional<double> sparsity_of(const char* text) {
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const double sparsity = std::strtod(text, &end);
  if (*end != '\0' || !(sparsity >= 1)) return std::nullopt;
  return sparsity;
}

int run_precompute(const std::string& path) {
  const std::optional<double> sparsity = sparsity_of(std::getenv("SAMPLER_SPARSITY"));
  if (!sparsity) {
    return report_error(
        usage_error("precompute needs a number of at least 1 in SAMPLER_SPARSITY").error());
  }
  const char* given = std::getenv("SAMPLER_SEED");
  char* end = nullptr;
  const uint64_t seed = given == nullptr ? random_seed() : std::strtoull(given, &end, 0);
  if (given != nullptr && (end == given || *end != '\0'))
    return report_error(usage_error("SAMPLER_SEED is not a number").error());
  uint64_t state = sampler::begin_uniform(seed);
  std::array<int32_t, sampler::kCountdowns> countdowns{};
  const double passing = sampler::log_of_passing(*sparsity);
  for (int32_t& countdown : countdowns) countdown = sampler::draw_countdown(state, passing);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(countdowns.data(), sizeof(int32_t),
                                                countdowns.size(), file) == countdowns.size();
  int error = errno;
  if (file != nullptr && std::fclose(file) != 0) {
    written = false;
    error = errno;
  }
  if (written) return kDone;
  report_error(io_error(path, "cannot write", error).error());
  return kWriteFailed;
}

}  // namespace

void add_decimate_samples_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "decimate-samples",
      "thin the feedback report on standard input as if one event in SPARSITY had been counted");
  const auto options = std::make_shared<DecimateOptions>();
  verb.add_option("SPARSITY", options->sparsity, "each count becomes Binomial(count, 1/SPARSITY)")
      .required()
      .in_range(uint64_t{1}, uint64_t{1} << 53);
  verb.add_option("SEED", options->seed, "seed of the random numbers; default: a random one");
  verb.callback([options, &status] { status = run_decimate(*options); });
}

void add_precompute_verb(Command app, int& status) {
  Command verb =
      app.add_verb("precompute",
                   "write countdowns for offline sampling; uses SAMPLER_SPARSITY and SAMPLER_SEED");
  const auto path = std::make_shared<std::string>();
  verb.add_option("OUTFILE", *path, "file to write: 1,021 integers in native byte order")
      .required();
  verb.callback([path, &status] { status = run_precompute(*path); });
}

}  // namespace telltale::cli
