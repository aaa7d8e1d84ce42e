// Which inputs are headers, which are compiled without the runtime, or LLVM's representation, which
// is not instrumented; which command lines instrument nothing.
#include "command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace telltale::driver {
namespace {

bool links_runtime(const std::vector<std::string>& words) {
  const CommandLine line = rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
  EXPECT_FALSE(line.error) << *line.error;
  return std::any_of(line.arguments.begin(), line.arguments.end(), [](const std::string& word) {
    return word.starts_with("/library/libtelltale_sampler");
  });
}

TEST(CommandLine, HeadersAreNotLinked) {
  EXPECT_FALSE(links_runtime({"shapes.h"}));
  EXPECT_FALSE(links_runtime({"-x", "c++-header", "shapes"}));
  EXPECT_FALSE(links_runtime({"-xc-header", "shapes"}));
  EXPECT_TRUE(links_runtime({"shapes.h", "user.c"}));
  EXPECT_TRUE(links_runtime({"shapes.h", "-l", "m"}));
}

TEST(CommandLine, LanguageHoldsForFilesBehindIt) {
  EXPECT_TRUE(links_runtime({"-x", "c", "program.h"}));
  EXPECT_TRUE(links_runtime({"-xc++", "program.h"}));
  EXPECT_FALSE(links_runtime({"shapes.h", "-x", "c"}));
  EXPECT_FALSE(links_runtime({"-x", "c++-header", "shapes", "-x", "none", "other.h"}));
  EXPECT_TRUE(links_runtime({"-x", "c++-header", "shapes", "-x", "none", "user.cc"}));
}

// They are built for this machine. A linker refuses the others' files as soon as it looks for
// signal() in them.
TEST(CommandLine, OtherMachinesGetNoRuntimes) {
  EXPECT_TRUE(links_runtime({"--trace=pt.schema", "user.o"}));
  for (const char* const target : {"-m32", "--target=riscv64-linux-gnu"}) {
    EXPECT_FALSE(links_runtime({target, "--trace=pt.schema", "user.o"})) << target;
    EXPECT_FALSE(links_runtime({target, "user.o"})) << target;
  }
}

TEST(CommandLine, OtherMachinesGetNoCrashHandler) {
  const auto links_handler = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--trace=pt.schema", "user.c"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandLine line = rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
    return std::ranges::find(line.arguments, "/library/libtelltale_paths.a") !=
           line.arguments.end();
  };
  EXPECT_TRUE(links_handler({}));
  EXPECT_TRUE(links_handler({"-m32", "-m64"}));
  EXPECT_FALSE(links_handler({"-m32"}));
  EXPECT_FALSE(links_handler({"--target=riscv64-linux-gnu"}));
}

TEST(CommandLine, ProgramsWithSchemesAreNotLinkedForOtherMachines) {
  const auto error_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"-fsampler-scheme=branches", "user.c"};
    words.insert(words.end(), more.begin(), more.end());
    return rewrite(words, {"clang-19", "/plugin.so", "/library", 19}).error.value_or("");
  };
  EXPECT_THAT(error_of({"-m32"}), testing::HasSubstr("no runtime of -fsampler-scheme for i386"));
  EXPECT_THAT(error_of({"--target=riscv64-linux-gnu"}), testing::HasSubstr("riscv64-linux-gnu"));
  for (const char* const word : {"-m64", "-c", "-S", "-r", "-E", "-nostdlib"})
    EXPECT_EQ(error_of({"-m32", word}), "") << word;
  EXPECT_EQ(error_of({}), "");
}

// libdw cannot read it in DWARF 4.
TEST(CommandLine, SplitDebugInformationKeepsWhatIsInlinedInTheProgram) {
  const auto keeps = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"-c", "user.c"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandLine line = rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
    return std::ranges::find(line.arguments, "-fsplit-dwarf-inlining") != line.arguments.end();
  };
  EXPECT_TRUE(keeps({"--trace=pt.schema", "-gsplit-dwarf"}));
  EXPECT_TRUE(keeps({"--trace=pt.schema", "-gsplit-dwarf=single", "-gdwarf-4", "-gdwarf-5"}));
  EXPECT_FALSE(keeps({"--trace=pt.schema", "-gsplit-dwarf", "-gdwarf-4"}));
  EXPECT_FALSE(keeps({"--trace=pt.schema", "-g"}));
  EXPECT_FALSE(keeps({"-fsampler-scheme=branches", "-gsplit-dwarf"}));
}

std::size_t warnings_of(const std::vector<std::string>& words) {
  return rewrite(words, {"clang-19", "/plugin.so", "/library", 19}).warnings.size();
}

TEST(CommandLine, InputThatIsNotInstrumentedIsNamed) {
  const CommandLine line = rewrite({"-fsampler-scheme=branches", "-c", "user.c", "old.bc", "x.ll"},
                                   {"clang-19", "/plugin.so", "/library", 19});
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_TRUE(line.warnings[0].starts_with("old.bc is not instrumented"));
  EXPECT_EQ(warnings_of({"-fsampler-scheme=branches", "-c", "-x", "ir", "code"}), 1U);
  EXPECT_EQ(warnings_of({"-fsampler-scheme=branches", "-c", "-x", "c", "code.ll"}), 0U);
  EXPECT_EQ(warnings_of({"-fsampler-scheme=branches", "code.s", "code.o"}), 0U);
  EXPECT_EQ(warnings_of({"-c", "old.bc"}), 0U);
}

TEST(CommandLine, SourcesThatAreCompiledPlainAreNoted) {
  const auto has_note = [](const std::vector<std::string>& words) {
    return rewrite(words, {"clang-19", "/plugin.so", "/library", 19}).note.has_value();
  };
  EXPECT_TRUE(has_note({"user.c", "-o", "user"}));
  EXPECT_TRUE(has_note({"-c", "-x", "c++", "user"}));
  EXPECT_FALSE(has_note({"-w", "-c", "user.c"}));
  EXPECT_FALSE(has_note({"user.o", "old.ll", "-o", "user"}));
  EXPECT_FALSE(has_note({"-x", "ir", "user.c"}));
  EXPECT_FALSE(has_note({"-fsampler-scheme=branches", "-c", "user.c"}));
  EXPECT_FALSE(has_note({"--trace=pt.schema", "-c", "user.c"}));
  EXPECT_FALSE(has_note({"--version"}));
  EXPECT_FALSE(has_note({"-E", "user.c"}));
}

TEST(CommandLine, StandardInputHasTheSchemaOrTheSource) {
  const auto rewritten = [](const std::vector<std::string>& words) {
    return rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
  };
  const CommandLine line = rewritten({"-trace=-", "-c", "user.c"});
  EXPECT_EQ(line.error, std::nullopt);
  EXPECT_TRUE(line.reads_schema);
  EXPECT_EQ(std::count(line.arguments.begin(), line.arguments.end(), kSchemaOfInput), 1);
  EXPECT_FALSE(rewritten({"--trace=pt.schema", "-c", "-x", "c", "-"}).reads_schema);
  EXPECT_EQ(rewritten({"--trace=-", "-c", "-x", "c", "-"}).error,
            "the schema needs a file, --trace=FILE: standard input has the source");
}

TEST(CommandLine, FilesOfOptionsAreDependencies) {
  const std::string folder = testing::TempDir();
  const std::string schema = folder + "my.schema";
  const std::string scales = folder + "my.scales";
  for (const std::string& name : {schema, scales}) std::ofstream(name) << "\n";
  const auto depends_on = [](const std::vector<std::string>& words, const std::string& file) {
    const CommandLine line = rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
    const auto found = std::ranges::find(line.arguments, "-fdepfile-entry=" + file);
    return found != line.arguments.end() && *std::prev(found) == "-Xclang";
  };
  EXPECT_TRUE(depends_on({"--trace=" + schema, "-c", "user.c"}, schema));
  EXPECT_TRUE(depends_on({"--trace", schema, "-c", "user.c"}, schema));
  EXPECT_TRUE(depends_on(
      {"-fsampler-scheme=branches", "-fsampler-scales=" + scales, "-c", "user.c"}, scales));
  EXPECT_FALSE(depends_on({"--trace=pt.schema", "-c", "user.c"}, "pt.schema"));  // is built in
}

// Whether clang gets an argument, and whether before another one.
bool passes(const std::vector<std::string>& words, const char* argument) {
  const CommandLine line = rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
  return std::ranges::find(line.arguments, argument) != line.arguments.end();
}
bool passes_in_order(const std::vector<std::string>& words, const char* one, const char* other) {
  const CommandLine line = rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
  const auto place = std::ranges::find(line.arguments, one);
  return std::find(place, line.arguments.end(), other) != line.arguments.end();
}

TEST(CommandLine, StraightLineCodeThatCountsAllPairsIsNotVectorisedUnlessAsked) {
  const auto has = [](const std::vector<std::string>& words) {
    return passes(words, "-fno-slp-vectorize");
  };
  EXPECT_TRUE(has({"-fsampler-scheme=scalar-pairs", "-fno-sample", "-c", "user.c"}));
  EXPECT_FALSE(has({"-fsampler-scheme=scalar-pairs", "-c", "user.c"}));
  EXPECT_FALSE(has({"-fsampler-scheme=branches", "-fno-sample", "-c", "user.c"}));
  EXPECT_TRUE(passes_in_order(
      {"-fslp-vectorize", "-fsampler-scheme=scalar-pairs", "-fno-sample", "-c", "user.c"},
      "-fno-slp-vectorize", "-fslp-vectorize"));
}

TEST(CommandLine, PragmasOfLoopsThatCountGiveNoWarningsUnlessAsked) {
  const auto has = [](const std::vector<std::string>& words) {
    return passes(words, "-Wno-pass-failed");
  };
  EXPECT_TRUE(has({"-fsampler-scheme=branches", "-c", "user.c"}));
  EXPECT_TRUE(has({"--trace=pt.schema", "-c", "user.c"}));
  EXPECT_FALSE(has({"-c", "user.c"}));
  EXPECT_TRUE(passes_in_order({"-Wpass-failed", "--trace=pt.schema", "-c", "user.c"},
                              "-Wno-pass-failed", "-Wpass-failed"));
}

}  // namespace
}  // namespace telltale::driver
