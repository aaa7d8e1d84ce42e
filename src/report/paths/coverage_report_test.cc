#include "report/paths/coverage_report.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace telltale {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FunctionCoverage function(const std::string& name, const std::string& file, Ran ran) {
  FunctionCoverage function;
  function.function = function.linkage_name = name;
  function.file = file;
  function.line = 3;
  function.ran = ran;
  function.lines.try_emplace({file, 4u}, ran);
  return function;
}

std::string written(Result<void> (*write)(const std::vector<FunctionCoverage>&, const ByteSink&),
                    const std::vector<FunctionCoverage>& functions) {
  std::string text;
  const Result<void> done = write(functions, [&text](std::string_view block) -> Result<void> {
    text += block;
    return {};
  });
  EXPECT_TRUE(done);
  return text;
}

TEST(CoverageReport, FunctionThatMayHaveRunInOneModuleIsNotSaidNotToHaveRun) {
  for (const auto& [first, second] : {std::pair{Ran::no, Ran::maybe}, {Ran::maybe, Ran::no}}) {
    const std::vector functions = {function("helper", "/src/h.h", first),
                                   function("helper", "/src/h.h", second)};
    EXPECT_THAT(written(write_coverage_lcov, functions), Not(HasSubstr("helper")));
    EXPECT_THAT(written(write_coverage_cobertura, functions), Not(HasSubstr("helper")));
  }
  const std::vector ran = {function("helper", "/src/h.h", Ran::maybe),
                           function("helper", "/src/h.h", Ran::yes)};
  EXPECT_THAT(written(write_coverage_lcov, ran), HasSubstr("FNDA:1,helper\n"));
  EXPECT_THAT(written(write_coverage_cobertura, ran),
              HasSubstr("<line number=\"3\" hits=\"1\"/></lines></method>"));
}

TEST(CoverageReport, FilesAreNamedAsCoverageViewersNameThem) {
  const std::vector functions = {function("f", "./././h.h", Ran::yes),
                                 function("g", "h.h", Ran::no),
                                 function("k", "/src/./part/../k.c", Ran::yes)};
  const std::string lcov = written(write_coverage_lcov, functions);
  EXPECT_THAT(lcov, HasSubstr("SF:h.h\nFN:3,f\nFN:3,g\n"));
  // Behind a link, ".." is elsewhere.
  EXPECT_THAT(lcov, HasSubstr("SF:/src/part/../k.c\n"));
  const std::string cobertura = written(write_coverage_cobertura, functions);
  EXPECT_THAT(cobertura, HasSubstr("filename=\"h.h\""));
  EXPECT_THAT(cobertura, HasSubstr("<source>.</source>\n    <source>/</source>\n"));
}

// genhtml opens files by these names, without removing escapes.
TEST(CoverageReport, FilesForLcovAreNamedAsTheyAre) {
  const auto lcov = [](const std::string& file) {
    return written(write_coverage_lcov, {function("f", file, Ran::yes)});
  };
  EXPECT_THAT(lcov("/src/a\\b.c"), HasSubstr("SF:/src/a\\b.c\n"));
  EXPECT_THAT(lcov("/src/two\nlines.c"), HasSubstr("SF:/src/two\\nlines.c\n"));
}

TEST(CoverageReport, SourcesHaveTheFoldersOfRelativeNamesOnlyIfThereAreAny) {
  EXPECT_THAT(written(write_coverage_cobertura, {function("f", "/src/a.c", Ran::yes)}),
              HasSubstr("  <sources>\n    <source>/</source>\n  </sources>\n"));
  EXPECT_THAT(written(write_coverage_cobertura, {function("f", "a.c", Ran::yes)}),
              HasSubstr("  <sources>\n    <source>.</source>\n  </sources>\n"));
}

// lcov and genhtml take functions of one name in one file for one function.
TEST(CoverageReport, FunctionsHaveUniqueNames) {
  FunctionCoverage later = function("helper", "/src/h.h", Ran::yes);
  later.line = 30;
  const std::vector functions = {function("helper", "/src/h.h", Ran::no), later};
  EXPECT_THAT(written(write_coverage_lcov, functions),
              HasSubstr("FN:3,helper:3\nFN:30,helper:30\nFNDA:0,helper:3\nFNDA:1,helper:30\n"));
  const std::string cobertura = written(write_coverage_cobertura, functions);
  EXPECT_THAT(cobertura, HasSubstr("<method name=\"helper:3\""));
  EXPECT_THAT(cobertura, HasSubstr("<method name=\"helper:30\""));
}

TEST(CoverageReport, FunctionsThatWereInlinedEverywhereBeginAtTheirFirstLine) {
  FunctionCoverage inlined = function("never", "/src/a.c", Ran::no);
  inlined.line = 0;
  inlined.source_lines = {{4, Ran::no}, {5, Ran::no}};
  const std::vector functions = {function("main", "/src/a.c", Ran::yes), inlined};
  EXPECT_THAT(written(write_coverage_lcov, functions),
              HasSubstr("FN:3,main\nFN:4,never\nFNDA:1,main\nFNDA:0,never\nFNF:2\nFNH:1\n"));
  EXPECT_THAT(written(write_coverage_cobertura, functions),
              HasSubstr("<line number=\"4\" hits=\"0\"/></lines></method>"));
  // Another program has code for it that is not inlined.
  const std::vector both = {inlined, function("never", "/src/a.c", Ran::yes)};
  EXPECT_THAT(written(write_coverage_lcov, both), HasSubstr("FN:3,never\nFNDA:1,never\nFNF:1\n"));
}

// As a complete object and as a part of one.
TEST(CoverageReport, CoberturaJoinsBothSymbolsOfAConstructor) {
  const auto both = [](Ran first, Ran second) {
    return written(write_coverage_cobertura, {function("_ZN1SC1Ei", "/src/s.cc", first),
                                              function("_ZN1SC2Ei", "/src/s.cc", second)});
  };
  EXPECT_THAT(both(Ran::no, Ran::yes),
              HasSubstr("<methods>\n            <method name=\"S::S(int)\" signature=\"\" "
                        "line-rate=\"1\" branch-rate=\"0\" complexity=\"0\"><lines><line "
                        "number=\"3\" hits=\"1\"/></lines></method>\n          </methods>"));
  EXPECT_THAT(both(Ran::no, Ran::maybe), Not(HasSubstr("<method name")));
}

}  // namespace
}  // namespace telltale
