// The plugin's options: how each kind of word is parsed, and what the files that they name may
// hold.
#include "options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "option_table.h"

namespace telltale::instrument {
namespace {

// The options after these words, all of which must be valid.
Options parsed(const std::vector<std::string>& words) {
  Options options;
  for (const std::string& word : words) {
    std::optional<std::string> error;
    EXPECT_TRUE(parse_option(word, options, error)) << word;
    EXPECT_FALSE(error) << *error;
  }
  return options;
}

// The error that a word of ours gives.
std::string error_of(const std::string& word) {
  Options options;
  std::optional<std::string> error;
  EXPECT_TRUE(parse_option(word, options, error)) << word;
  return error.value_or("no error");
}

class OptionFiles : public testing::Test {
 protected:
  OptionFiles()
      : path_(testing::TempDir() + "telltale_options_test." + std::to_string(::getpid())) {}
  ~OptionFiles() override { std::filesystem::remove(path_); }
  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

 private:
  std::string path_;
};

TEST(PluginOptions, SchemesHaveTheirNamesAndArities) {
  EXPECT_STREQ(scheme_name(Scheme::kScalarPairs), "scalar-pairs");
  EXPECT_STREQ(scheme_name(Scheme::kCoverage), "coverage");
  EXPECT_STREQ(scheme_name(Scheme::kData), "data");
  EXPECT_STREQ(scheme_name(Scheme::kYields), "yields");
  EXPECT_STREQ(scheme_name(Scheme::kAtoms), "atoms");
  EXPECT_STREQ(scheme_name(Scheme::kBranches), "branches");
  EXPECT_STREQ(scheme_name(Scheme::kBounds), "bounds");
  EXPECT_STREQ(scheme_name(Scheme::kFunctionEntries), "function-entries");
  EXPECT_STREQ(scheme_name(Scheme::kReturns), "returns");
  EXPECT_STREQ(scheme_name(Scheme::kFloatKinds), "float-kinds");
  EXPECT_STREQ(scheme_name(Scheme::kGObjectUnref), "g-object-unref");
  EXPECT_STREQ(scheme_name(Scheme::kFunReentries), "fun-reentries");
  EXPECT_STREQ(scheme_name(Scheme::kCompareSwap), "compare-swap");
  EXPECT_STREQ(scheme_name(Scheme::kAtomsRw), "atoms-rw");
  EXPECT_EQ(scheme_arity(Scheme::kScalarPairs), 3U);
  EXPECT_EQ(scheme_arity(Scheme::kFloatKinds), 9U);
  EXPECT_EQ(scheme_arity(Scheme::kGObjectUnref), 4U);
}

TEST(PluginOptions, ASchemeIsTurnedOnByItsName) {
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    const auto scheme = static_cast<Scheme>(i);
    const Options options = parsed({std::string("-fsampler-scheme=") + scheme_name(scheme)});
    EXPECT_TRUE(options.any_scheme());
    for (std::size_t j = 0; j < kSchemeCount; ++j)
      EXPECT_EQ(options.has(static_cast<Scheme>(j)), i == j) << scheme_name(scheme);
  }
  EXPECT_FALSE(Options().any_scheme());
  EXPECT_EQ(error_of("-fsampler-scheme=branch"),
            "unknown scheme 'branch'; telltale-cc --help lists them");
}

TEST(PluginOptions, SchemesCanBeSeparatedByCommas) {
  const Options options = parsed({"-fsampler-scheme=branches,returns,bounds"});
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    const auto scheme = static_cast<Scheme>(i);
    const std::set<Scheme> wanted = {Scheme::kBranches, Scheme::kReturns, Scheme::kBounds};
    EXPECT_EQ(options.has(scheme), wanted.contains(scheme)) << scheme_name(scheme);
  }
  for (const auto& [words, wrong] :
       {std::pair{"branches,branch", "branch"}, std::pair{"branches,", ""},
        std::pair{",branches", ""}, std::pair{"", ""}}) {
    EXPECT_EQ(error_of(std::string("-fsampler-scheme=") + words),
              "unknown scheme '" + std::string(wrong) + "'; telltale-cc --help lists them");
  }
}

TEST(PluginOptions, OnlySchemesOfSharedMemoryObserveAccesses) {
  const std::set<Scheme> access_schemes = {Scheme::kData, Scheme::kYields, Scheme::kAtoms,
                                           Scheme::kCompareSwap, Scheme::kAtomsRw};
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    const auto scheme = static_cast<Scheme>(i);
    const Options options = parsed({std::string("-fsampler-scheme=") + scheme_name(scheme)});
    EXPECT_EQ(options.has_access_scheme(), access_schemes.contains(scheme)) << scheme_name(scheme);
  }
}

TEST(PluginOptions, EachToggleIsTurnedOnAndOff) {
  for (const Option& option : all_options()) {
    if (option.toggle == nullptr) continue;
    const std::string name(option.name);
    EXPECT_TRUE(parsed({"-fno-" + name, "-f" + name}).*(option.toggle)) << name;
    EXPECT_FALSE(parsed({"-f" + name, "-fno-" + name}).*(option.toggle)) << name;
  }
}

TEST(PluginOptions, TheTwoSpellingsOfSpecializeAreOne) {
  EXPECT_FALSE(parsed({"-fno-specialise-empty-regions"}).specialize_empty_regions);
  EXPECT_FALSE(parsed({"-fno-specialise-singleton-regions"}).specialize_singleton_regions);
}

TEST(PluginOptions, WordsOfClangAreNotOurs) {
  Options options;
  std::optional<std::string> error;
  for (const char* const word : {"-O2", "-fsample-profile", "-fno-sampler-scheme=branches",
                                 "sample", "-fthreadsafe-statics", "-f", ""}) {
    EXPECT_FALSE(parse_option(word, options, error)) << word;
    EXPECT_EQ(find_option(word), nullptr) << word;
  }
}

TEST(PluginOptions, CountdownsComeFromThreeSources) {
  EXPECT_EQ(parsed({"-fsampler-random=online"}).random, Random::kOnline);
  EXPECT_EQ(parsed({"-fsampler-random=offline"}).random, Random::kOffline);
  EXPECT_EQ(parsed({"-fsampler-random=fixed"}).random, Random::kFixed);
  EXPECT_EQ(error_of("-fsampler-random=on"),
            "-fsampler-random= must be online, offline or fixed, but is 'on'");
}

TEST(PluginOptions, TheRuntimeIsStaticOrShared) {
  EXPECT_TRUE(parsed({"-fsampler-runtime=shared"}).shared_runtime);
  EXPECT_FALSE(parsed({"-fsampler-runtime=shared", "-fsampler-runtime=static"}).shared_runtime);
  EXPECT_EQ(error_of("-fsampler-runtime=none"),
            "-fsampler-runtime= must be static or shared, but is 'none'");
}

TEST(PluginOptions, FirstExecutionsAreObservedBesideASampleOfRegions) {
  EXPECT_FALSE(Options().observes_first());
  EXPECT_TRUE(parsed({"-fsampler-adaptive", "-fsampler-scheme=branches"}).observes_first());
  for (const char* const word :
       {"-fno-sample", "-fno-sample-regions", "-ftimestamp-first", "-ftimestamp-last",
        "-ftrace-sites", "-fsampler-scheme=data", "-fsampler-scheme=atoms",
        "-fsampler-scheme=g-object-unref", "-fno-sampler-adaptive"})
    EXPECT_FALSE(parsed({"-fsampler-adaptive", word}).observes_first()) << word;
}

TEST(PluginOptions, RegionsAreSampledUnlessSitesAreCounted) {
  EXPECT_TRUE(Options().uses_region_sampling());
  for (const char* const word :
       {"-fno-sample-regions", "-fsampler-random=offline", "-fsampler-random=fixed",
        "-fbalance-paths", "-fannotate-sites", "-fsampler-scales=weights.txt"})
    EXPECT_FALSE(parsed({word}).uses_region_sampling()) << word;
}

TEST(PluginOptions, TheFirstFilterThatMatchesAFunctionDecides) {
  const Options options =
      parsed({"-finclude-function=main", "-fexclude-function=*", "-finclude-function=late"});
  EXPECT_TRUE(options.wants_function("main"));
  EXPECT_FALSE(options.wants_function("late"));
  EXPECT_TRUE(Options().wants_function("any"));
}

TEST(PluginOptions, FiltersTakePatterns) {
  const Options options =
      parsed({"-fexclude-function=*::operator[]*", "-finclude-function=f?", "-fexclude-function=f*",
              "-fexclude-file=lib/*", "-fexclude-location=*.h:7"});
  EXPECT_FALSE(options.wants_function("A::operator[](int)"));
  EXPECT_TRUE(options.wants_function("A::operatori(int)"));
  EXPECT_TRUE(options.wants_function("f1"));
  EXPECT_FALSE(options.wants_function("f"));
  EXPECT_FALSE(options.wants_function("f12"));
  EXPECT_TRUE(options.wants_function("g"));
  EXPECT_FALSE(options.wants_location("lib/a.c", 1));
  EXPECT_FALSE(options.wants_location("lib/sub/a.c", 1));
  EXPECT_TRUE(options.wants_location("src/lib/a.c", 1));
  EXPECT_FALSE(options.wants_location("a.h", 7));
  EXPECT_TRUE(options.wants_location("a.h", 8));
}

TEST(PluginOptions, FiltersOfFilesAndLinesAreOneList) {
  const Options options = parsed({"-finclude-location=a.c:7", "-fexclude-file=a.c",
                                  "-fexclude-location=b.c:3", "-fexclude-location=c.c:*"});
  EXPECT_TRUE(options.wants_location("a.c", 7));
  EXPECT_FALSE(options.wants_location("a.c", 8));
  EXPECT_FALSE(options.wants_location("b.c", 3));
  EXPECT_TRUE(options.wants_location("b.c", 4));
  EXPECT_FALSE(options.wants_location("c.c", 5));
  EXPECT_TRUE(options.wants_location("d.c", 5));
}

TEST(PluginOptions, ALocationNeedsALine) {
  for (const char* const place : {"a.c", "a.c:", "a.c:0", "a.c:x", "a.c:1x", "a.c:-1"}) {
    EXPECT_EQ(error_of(std::string("-fexclude-location=") + place),
              std::string("a location must be FILE:LINE or FILE:*, but is '") + place + "'");
  }
}

TEST_F(OptionFiles, ResetPointsAreFilesAndLines) {
  Options options = parsed({"-fsampler-reset-at-points=" + write("main.c 12\n\na b.c\t7  \n")});
  ASSERT_EQ(read_files(options), std::nullopt);
  ASSERT_EQ(options.reset_points.size(), 2U);
  EXPECT_EQ(options.reset_points[0].name, "main.c");
  EXPECT_EQ(options.reset_points[0].line, 12U);
  EXPECT_EQ(options.reset_points[1].name, "a b.c");
  EXPECT_EQ(options.reset_points[1].line, 7U);
  // The signature depends on the file's contents.
  EXPECT_EQ(options.signature_input, "main.c 12\n\na b.c\t7  \n");
}

TEST_F(OptionFiles, ABadResetPointIsPlaced) {
  for (const char* const line : {"main.c", "main.c 0", "main.c twelve", " 12"}) {
    Options options = parsed({"-fsampler-reset-at-points=" + write("x.c 1\n" + std::string(line))});
    EXPECT_EQ(read_files(options), options.reset_file + ":2: a line must have the form FILE LINE")
        << line;
  }
}

TEST_F(OptionFiles, ScalesHaveFunctionNodeAndWeight) {
  Options options = parsed({"-fsampler-scales=" + write("f\t3\t20\nf\t*\t0\n*\t*\t1000000\n")});
  ASSERT_EQ(read_files(options), std::nullopt);
  ASSERT_EQ(options.scales.size(), 3U);
  EXPECT_EQ(options.scales[0].function, "f");
  EXPECT_EQ(options.scales[0].node, 3U);
  EXPECT_EQ(options.scales[0].weight, 20U);
  EXPECT_EQ(options.scales[1].node, std::nullopt);
  EXPECT_EQ(options.scales[1].weight, 0U);
  EXPECT_EQ(options.scales[2].function, "*");
  EXPECT_EQ(options.scales[2].weight, 1000000U);
}

TEST_F(OptionFiles, ABadScaleIsPlaced) {
  for (const char* const line : {"f 3 20", "f\t3", "\t3\t20", "*\t3\t20", "f\tx\t20", "f\t3\tx",
                                 "f\t3\t1000001", "f\t3\t-1"}) {
    Options options = parsed({"-fsampler-scales=" + write(line)});
    EXPECT_EQ(read_files(options),
              options.scales_file + ":1: a line must have the form FUNCTION<TAB>NODE<TAB>COST")
        << line;
  }
}

TEST(PluginOptions, AFileThatCannotBeReadIsAnError) {
  Options options = parsed({"-fsampler-scales=/nonexistent/scales"});
  EXPECT_EQ(read_files(options), "cannot read /nonexistent/scales");
}

}  // namespace
}  // namespace telltale::instrument
