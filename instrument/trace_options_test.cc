// The options of --trace, and schema files.
#include "trace_options.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace telltale::instrument {
namespace {

TraceOptions parsed(const std::vector<std::string>& words) {
  TraceOptions options;
  for (const std::string& word : words) {
    std::optional<std::string> error;
    std::optional<std::string> warning;
    EXPECT_TRUE(parse_trace_option(word, options, error, warning)) << word;
    EXPECT_FALSE(error) << *error;
    EXPECT_FALSE(warning) << *warning;
  }
  return options;
}

std::string warning_of(const std::string& word) {
  TraceOptions options;
  std::optional<std::string> error;
  std::optional<std::string> warning;
  EXPECT_TRUE(parse_trace_option(word, options, error, warning));
  EXPECT_EQ(options.ring_size, 10U);
  EXPECT_EQ(options.most_paths, TraceOptions().most_paths);
  return warning.value_or("");
}

std::string schema_error(std::string_view text) {
  TraceOptions options;
  return parse_schema(text, "s", options).value_or("");
}

TEST(TraceOptions, ValuesThatMayBeTheNextWord) {
  EXPECT_TRUE(takes_next_word("-path-array-size"));
  EXPECT_TRUE(takes_next_word("--hash-size"));
  EXPECT_TRUE(takes_next_word("--trace"));
  EXPECT_FALSE(takes_next_word("-path-array-size=5"));
  EXPECT_FALSE(takes_next_word("-csi-opt"));
}

TEST(TraceOptions, NumbersAreInAnyBaseOfC) {
  EXPECT_EQ(parsed({"-path-array-size=25"}).ring_size, 25U);
  EXPECT_EQ(parsed({"--path-array-size=0x10"}).ring_size, 16U);
  EXPECT_EQ(parsed({"-path-array-size=010"}).ring_size, 8U);
  EXPECT_EQ(parsed({"-hash-size=1000"}).most_paths, 1000U);
  EXPECT_EQ(parsed({"-hash-size=9223372036854775806"}).most_paths, 9223372036854775806U);
}

TEST(TraceOptions, OtherNumbersAreIgnoredWithAWarning) {
  for (const char* const word :
       {"-path-array-size=0", "-path-array-size=-1", "-path-array-size=", "-path-array-size=3x",
        "-path-array-size= 3", "-path-array-size=1048577", "-hash-size=9223372036854775807",
        "-hash-size=99999999999999999999999"}) {
    EXPECT_NE(warning_of(word).find("ignored"), std::string::npos) << word;
  }
}

TEST(TraceOptions, WordsHaveOneDashOrTwo) {
  EXPECT_EQ(parsed({"-trace=a"}).schema_file, "a");
  EXPECT_EQ(parsed({"--trace=a"}).schema_file, "a");
  EXPECT_TRUE(parsed({"-silent"}).is_silent);
  EXPECT_TRUE(parsed({"--silent"}).is_silent);
  EXPECT_FALSE(parsed({"-no-filter"}).filters);
  EXPECT_TRUE(parsed({"-ftrace-legacy-names"}).legacy_names);
  EXPECT_FALSE(parsed({"-ftrace-legacy-names", "-fno-trace-legacy-names"}).legacy_names);
  EXPECT_TRUE(parsed({}).records_data);
  EXPECT_FALSE(parsed({"-fno-trace-data"}).records_data);
  EXPECT_TRUE(parsed({"-fno-trace-data", "-ftrace-data"}).records_data);
  EXPECT_TRUE(parsed({"-ftrace-line-tables"}).line_tables);
  EXPECT_FALSE(parsed({"-ftrace-line-tables", "-fno-trace-line-tables"}).line_tables);
}

TEST(TraceOptions, WordsOfClangAreNotOurs) {
  for (const char* const word : {"-trace", "-silently", "-no-filters", "trace=a", "-ftrace-legacy",
                                 "-ftrace-legacy-names=1", "-c", ""}) {
    TraceOptions options;
    std::optional<std::string> error;
    std::optional<std::string> warning;
    EXPECT_FALSE(parse_trace_option(word, options, error, warning)) << word;
  }
}

TEST(TraceOptions, VariablesOfTheEnvironmentStandForOptions) {
  ::setenv("PT_ARRAY_SIZE", "7", 1);
  ::setenv("PT_HASH_SIZE", "99", 1);
  ::setenv("CSI_SILENT", "", 1);
  EXPECT_EQ(trace_options_of_environment(),
            (std::vector<std::string>{"-path-array-size=7", "-hash-size=99", "-silent"}));
  for (const char* const name : {"PT_ARRAY_SIZE", "PT_HASH_SIZE", "CSI_SILENT"}) ::unsetenv(name);
  EXPECT_TRUE(trace_options_of_environment().empty());
}

TEST(TraceSchema, TheFirstRuleThatMatchesDecides) {
  TraceOptions options;
  EXPECT_EQ(parse_schema("main ; { pt }\n\n\tf;{}\r\n*;{PT};\nf;{PT}", "s", options), std::nullopt);
  ASSERT_EQ(options.rules.size(), 4U);
  using Variants = std::vector<MechanismSet>;
  EXPECT_EQ(options.rule_for("main")->variants, Variants{kTracePaths});
  EXPECT_EQ(options.rule_for("f")->variants, Variants{0});
  EXPECT_EQ(options.rule_for("g")->variants, Variants{kTracePaths});
  options.rules.pop_back();
  options.rules.pop_back();
  EXPECT_EQ(options.rule_for("g"), nullptr);
}

TEST(TraceSchema, AnErrorHasItsLine) {
  EXPECT_EQ(schema_error("*;{PT}\n\nf"), "s:3: a rule must have the form FUNCTION;{MECHANISM,...}");
  EXPECT_EQ(schema_error(";{PT}"), "s:1: a rule must have the form FUNCTION;{MECHANISM,...}");
  EXPECT_EQ(schema_error("*;PT"), "s:1: a variant must have the form {MECHANISM,...}");
  EXPECT_EQ(schema_error("*;{PT"), "s:1: a variant must have the form {MECHANISM,...}");
  EXPECT_EQ(schema_error("*;{PT,}"), "s:1: a mechanism is missing after ','");
  EXPECT_EQ(schema_error("*;{PX}"),
            "s:1: unknown mechanism 'PX'; mechanisms are PT, FC, CC and BBC");
  EXPECT_EQ(schema_error("*;{CC}{PT}"), "s:1: ';' must separate variants");
  EXPECT_EQ(schema_error("*;{CC};;{PT}"), "s:1: a variant must have the form {MECHANISM,...}");
  EXPECT_EQ(schema_error("*;{};{PT};"), "");
}

TEST(TraceSchema, ARuleHasVariantsOfAnyMechanisms) {
  TraceOptions options;
  EXPECT_EQ(parse_schema("*;{};{cc};{CC,PT};{bbc,FC}", "s", options), std::nullopt);
  EXPECT_EQ(options.rules[0].variants,
            (std::vector<MechanismSet>{0, kCoverCalls, kCoverCalls | kTracePaths,
                                       kCoverBlocks | kCoverFunctions}));
  EXPECT_EQ(name_of(options.rules[0].variants[2]), "CC$PT");
  EXPECT_EQ(name_of(options.rules[0].variants[3]), "BBC$FC");
  EXPECT_EQ(name_of(0), "none");
}

TEST(TraceSchema, TheOriginalsSchemasAreBuiltIn) {
  for (const char* const name : {"all.schema", "bb.schema", "cc.schema", "cc_pt.schema"}) {
    TraceOptions options;
    options.schema_file = name;
    EXPECT_EQ(read_schema(options), std::nullopt) << name;
    EXPECT_EQ(options.rule_for("f")->variants.size(), 1U) << name;
  }
  TraceOptions options;
  options.schema_file = "realistic.schema";
  EXPECT_EQ(read_schema(options), std::nullopt);
  EXPECT_EQ(options.rule_for("f")->variants,
            (std::vector<MechanismSet>{0, kCoverCalls, kCoverCalls | kTracePaths}));
}

TEST(TraceOptions, LevelsAndStylesOfCoverage) {
  EXPECT_EQ(parsed({}).coverage_level, 2U);
  EXPECT_EQ(parsed({"-csi-opt=3"}).coverage_level, 3U);
  EXPECT_EQ(parsed({"--csi-opt=0"}).coverage_level, 0U);
  EXPECT_EQ(parsed({"-opt-style=simple"}).coverage_style, ProbeStyle::kSimple);
  EXPECT_EQ(parsed({"-opt-style=local"}).coverage_style, ProbeStyle::kLocal);
  EXPECT_EQ(parsed({"-opt-style=lemon"}).coverage_style, ProbeStyle::kLocalPrepass);
  EXPECT_TRUE(parsed({"-complete-exe"}).only_complete_runs);
  EXPECT_TRUE(parsed({"--indirect-style=ifunc"}).dispatches_by_ifunc);
  for (const char* const word :
       {"-csi-opt=4", "-csi-opt=", "-opt-style=best", "--indirect-style="}) {
    TraceOptions options;
    std::optional<std::string> error;
    std::optional<std::string> warning;
    EXPECT_TRUE(parse_trace_option(word, options, error, warning));
    EXPECT_TRUE(error.has_value()) << word;
  }
}

TEST(TraceOptions, OptionsForTheDevelopmentOfTheOriginalAreIgnored) {
  for (const char* const word :
       {"-verify-results", "--no-heuristics", "-log-stats", "-debug-pass=all"}) {
    TraceOptions options;
    std::optional<std::string> error;
    std::optional<std::string> warning;
    EXPECT_TRUE(parse_trace_option(word, options, error, warning));
    EXPECT_EQ(error, std::nullopt);
    EXPECT_EQ(warning, std::string(word) + " is ignored: it was for the development of csi-cc");
  }
}

TEST(TraceOptions, ASchemaFileHasAName) {
  TraceOptions options;
  std::optional<std::string> error;
  std::optional<std::string> warning;
  EXPECT_TRUE(parse_trace_option("--trace=", options, error, warning));
  EXPECT_EQ(error, "--trace= needs the name of a schema file");
  EXPECT_TRUE(parse_trace_option("--trace=first.cc", options, error, warning));
  EXPECT_EQ(error,
            "--trace needs a schema file, not first.cc: --trace=pt.schema traces all functions");
  error.reset();
  EXPECT_TRUE(parse_trace_option("--trace=x", options, error, warning));
  EXPECT_EQ(error, std::nullopt);
}

TEST(TraceSchema, AFileThatCannotBeReadIsAnError) {
  TraceOptions options;
  options.schema_file = "/nowhere/x.schema";
  EXPECT_EQ(read_schema(options),
            "--trace: cannot read the schema file /nowhere/x.schema; without a file of that name, "
            "pt.schema traces all functions");
  options.schema_file = "/";
  EXPECT_EQ(read_schema(options),
            "--trace: cannot read the schema file /; without a file of that name, "
            "pt.schema traces all functions");
  options.schema_file = "-g";
  EXPECT_EQ(read_schema(options),
            "--trace needs a schema file: --trace=pt.schema traces all functions");
  options.schema_file = "pt.schema";
  EXPECT_EQ(read_schema(options), std::nullopt);
  EXPECT_EQ(options.rule_for("anything")->variants, std::vector<MechanismSet>{kTracePaths});
}

}  // namespace
}  // namespace telltale::instrument
