#include "output/export.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "output/export_format.h"
#include "output/output_file.h"
#include "output/timeline/perfetto_export.h"
#include "output/timeline/text_calls.h"
#include "output/tree/tree_export.h"
#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Exports : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "telltale-export-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/out";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // What `make(context, out)` writes of the source.
  template <typename Make>
  std::string written(const ScriptedSource& source, Make make, size_t workers = 1) {
    Result<OutputFile> out = OutputFile::open(path_);
    EXPECT_TRUE(out.has_value());
    const ExportContext context = export_context(source);
    auto exporter = make(context, *out);
    ProblemLog problems;
    EXPECT_TRUE(run_export(source, CallFilter(), workers, exporter, problems).has_value());
    EXPECT_TRUE(out->finish().has_value());
    return read_file(path_);
  }
  std::string rows(const ScriptedSource& source, RowsSink::Form form, size_t workers = 1) {
    return written(
        source, [form](const ExportContext& c, OutputFile& o) { return RowsExport(c, o, form); },
        workers);
  }
  std::string perfetto(const ScriptedSource& source, size_t workers = 1) {
    return written(
        source, [](const ExportContext& c, OutputFile& o) { return PerfettoExport(c, o); },
        workers);
  }
  std::string chrome(const ScriptedSource& source, size_t workers = 1) {
    return written(
        source, [](const ExportContext& c, OutputFile& o) { return ChromeExport(c, o); }, workers);
  }

  std::string folder_;
  std::string path_;
};

// The same events, in one shard or cut after each.
ScriptedSource sample(bool cut) {
  ScriptedSource source;
  source.starts_at(100);
  const auto next = [&]() -> ScriptedSource& { return cut ? source.shard() : source; };
  source.thread({1, 7}, "main").enter(100, 1).argument(5).argument(uint64_t{1} << 60);
  next().enter(110, 2).argument(9);
  next().instant(115, "custom", "hi");
  next().loss(116, 12, "gap");
  next().leave(120, 2);
  next().leave(121, 50);
  next().enter(130, 3);
  next().leave(150, 1);
  source.thread({1, 8}).enter(105, 300);
  return source;
}

TEST_F(Exports, ArgumentsFollowTheirCallOverShards) {
  const std::string whole = rows(sample(false), RowsSink::Form::json);
  EXPECT_EQ(rows(sample(true), RowsSink::Form::json), whole);
  EXPECT_EQ(rows(sample(true), RowsSink::Form::json, 8), whole);
  EXPECT_EQ(rows(sample(true), RowsSink::Form::csv), rows(sample(false), RowsSink::Form::csv));
  const auto parsed = nlohmann::json::parse(whole);
  ASSERT_EQ(parsed.size(), 7u);
  EXPECT_EQ(parsed[2]["arguments"], nlohmann::json::parse("[9]"));
  EXPECT_EQ(parsed[3]["kind"], "orphan_exit");
  EXPECT_EQ(parsed[4]["ended"], "unwound");
  EXPECT_EQ(parsed[5]["arguments"], nlohmann::json::parse("[5,\"1152921504606846976\"]"));
  EXPECT_EQ(parsed[6]["ended"], "unfinished");
}

TEST_F(Exports, RowsNameTheThread) {
  const auto parsed = nlohmann::json::parse(rows(sample(false), RowsSink::Form::json));
  EXPECT_EQ(parsed[0]["thread"], "main");
  EXPECT_FALSE(parsed[0].contains("process")) << "unknown";
  EXPECT_FALSE(parsed[6].contains("thread")) << "unknown";
  const std::string csv = rows(sample(false), RowsSink::Form::csv);
  EXPECT_TRUE(csv.starts_with("pid,tid,process,thread,depth,function,")) << csv;
  EXPECT_NE(csv.find("\n1,7,,main,2,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n1,8,,,1,"), std::string::npos) << csv;
}

TEST_F(Exports, ChromeDoesNotDependOnShards) {
  const std::string whole = chrome(sample(false));
  EXPECT_EQ(chrome(sample(true), 8), whole);
  EXPECT_EQ(nlohmann::json::parse(whole)["traceEvents"].size(), 12u);
}

// Perfetto takes the calls of all threads with ids above 32 bits as those of one thread.
TEST_F(Exports, ChromeReplacesThreadIdsThatDoNotFit) {
  ScriptedSource source;
  source.thread({1, 7}).enter(0, 1).leave(1, 1);
  source.thread({1, 140'234'567'890'123}).enter(0, 2).leave(1, 2);
  source.thread({1, 140'234'567'890'124}, "Main").enter(0, 3).leave(1, 3);
  const auto events = nlohmann::json::parse(chrome(source))["traceEvents"];
  std::string shown;
  for (const auto& event : events) {
    shown += event["ph"].get<std::string>() + std::to_string(event["tid"].get<int64_t>());
    if (event["ph"] == "M") shown += "=" + event["args"]["name"].get<std::string>();
    shown += ' ';
  }
  EXPECT_EQ(shown, "B7 E7 M2=thread 140234567890123 B2 E2 M3=Main B3 E3 ");
}

TEST_F(Exports, EmptyRecordingsAreValid) {
  const ScriptedSource empty;
  EXPECT_TRUE(nlohmann::json::parse(chrome(empty))["traceEvents"].empty());
  EXPECT_TRUE(nlohmann::json::parse(rows(empty, RowsSink::Form::json)).empty());
  EXPECT_EQ(perfetto(empty), "");
}

TEST_F(Exports, PerfettoBeginsAndEndsAreSmall) {
  ScriptedSource one;
  one.thread({1, 7}).enter(0, 1).leave(50, 1);
  ScriptedSource two;
  two.thread({1, 7}).enter(0, 1).leave(50, 1).enter(90, 1).leave(140, 1);
  EXPECT_EQ(perfetto(two).size() - perfetto(one).size(), 14u + 10u);
}

TEST_F(Exports, PerfettoTakesManyArguments) {
  ScriptedSource source;
  source.thread({1, 7}).enter(0, 1);
  for (uint64_t i = 0; i < 3000; ++i) source.argument(i);
  source.leave(5, 1);
  const std::string trace = perfetto(source);
  EXPECT_NE(trace.find("arg2999"), std::string::npos);
  EXPECT_EQ(trace.substr(trace.size() - 10),
            std::string("\x0a\x08\x40\x05\x50\x01\x5a\x02\x48\x02", 10));
}

TEST_F(Exports, DotHasFilesOfFunctionsThatHaveOne) {
  ScriptedSource source;
  FunctionInfo known;
  known.name = "known";
  known.file = "dir/a \"b\".cc";
  known.line = 12;
  source.name(1, known);
  source.thread({1, 7}).enter(0, 1).enter(10, 2).leave(30, 2).leave(40, 1);
  ProblemLog problems;
  const Result<CallTree> tree = build_call_tree(source, CallFilter(), 1, {}, problems);
  Result<OutputFile> out = OutputFile::open(path_);
  ASSERT_TRUE(write_dot(*tree, export_context(source), *out));
  ASSERT_TRUE(out->finish());
  EXPECT_EQ(read_file(path_), R"(digraph calls {
  node [shape=box, fontname="sans-serif"];
  f0 [label="known", tooltip="1 calls, self 20 ns, total 40 ns", calls="1", self_ns="20", total_ns="40", file="dir/a \"b\".cc", line="12"];
  f1 [label="#2", tooltip="1 calls, self 20 ns, total 20 ns", calls="1", self_ns="20", total_ns="20"];
  f0 -> f1 [label="1", penwidth="3.50", total_ns="20"];
}
)");
}

TEST(OutputFile, TakesItsPlaceOnlyWhenFinished) {
  const std::string folder = ::testing::TempDir() + "telltale-output-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/file";
  std::ofstream(path) << "old";
  {
    Result<OutputFile> out = OutputFile::open(path);
    ASSERT_TRUE(out.has_value());
    ASSERT_TRUE(out->write("half").has_value());
  }
  EXPECT_EQ(read_file(path), "old");
  Result<OutputFile> out = OutputFile::open(path);
  ASSERT_TRUE(out.has_value());
  ASSERT_TRUE(out->write("new").has_value());
  ASSERT_TRUE(out->write(std::string(1 << 20, 'x')).has_value());
  ASSERT_TRUE(out->finish().has_value());
  EXPECT_EQ(read_file(path), "new" + std::string(1 << 20, 'x'));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_FALSE(OutputFile::open(folder + "/no/such").has_value());
  std::filesystem::remove_all(folder);
}

TEST(ExportFormat, FollowsTheLongestExtension) {
  EXPECT_EQ(fitting_extension(".pb.gz .gz", "x/y.pb.gz"), 6U);
  EXPECT_EQ(fitting_extension(".json", "x/y.speedscope.json"), 5U);
  EXPECT_EQ(fitting_extension("callgrind.out .callgrind", "x.json/callgrind.out.7"), 13U);
  EXPECT_EQ(fitting_extension(".json", "-"), 0U);
  for (const ExportFormat format : all_export_formats()) {
    EXPECT_EQ(export_format_of_name(output_name(format).name), format);
  }
}

}  // namespace
}  // namespace telltale
