#include "cli/options/counts_options.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/options/message.h"

namespace telltale::cli {

void add_counts_options(Command verb, CountsOptions& options) {
  verb.add_option("--sparsity", options.sparsity,
                  "feedback reports: one event in N was counted (SAMPLER_SPARSITY of the run); "
                  "shows estimates; 1: all were counted")
      .type_name("N")
      .in_range(uint64_t{1}, uint64_t{1} << 53);
  verb.add_option("--scheme", options.schemes, "feedback reports: only this scheme")
      .type_name("NAME")
      .one_value_each();
  verb.add_flag("--observed", options.observed, "feedback reports: only sites with a count");
}

std::unexpected<Error> counts_only() {
  return usage_error("--sparsity, --scheme and --observed are for feedback reports");
}

void remark_nothing_observed(const SamplerReports& reports) {
  const std::string_view note = reports.nothing_observed();
  if (!note.empty()) print_message("telltale: {}\n", note);
}

}  // namespace telltale::cli
