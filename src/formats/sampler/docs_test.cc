// Compares the table of schemes in docs/formats/sampler.md with the code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/joined.h"
#include "formats/sampler/verifier.h"
#include "formats/sampler/wire.h"
#include "support/golden.h"

namespace telltale::sampler {
namespace {

TEST(SamplerDocs, NameEverySchemeWithItsColumnsAndValues) {
  const std::string page = testing::read_source_file("docs/formats/sampler.md");
  for (const SchemeLayout& scheme : kSchemes) {
    const std::vector<std::string> columns(scheme.column_names,
                                           scheme.column_names + scheme.columns);
    const std::vector<std::string> values(scheme.counter_names,
                                          scheme.counter_names + scheme.counters);
    const std::string row = fmt::format("| `{}` | {} | {} | {} |\n", scheme.name, scheme.code,
                                        joined(columns, ", "), joined(values, ", "));
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(SamplerDocs, NameEveryViolation) {
  const std::string page = testing::read_source_file("docs/formats/sampler.md");
  for (size_t i = 0; i < Violation::kKinds; ++i) {
    const std::string name = fmt::format("`{}`", to_string(static_cast<Violation::Kind>(i)));
    EXPECT_NE(page.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace telltale::sampler
