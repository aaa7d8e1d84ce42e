#include "collect/store/fold.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "collect/log/log_segment.h"
#include "collect/log/report_log.h"
#include "collect/store/run_files.h"
#include "collect/store/store_paths.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

// A store with one segment that waits. What cannot be read is a folder where a file should be,
// since tests may run as root.
class StoreWithASegment : public ::testing::Test {
 protected:
  StoreWithASegment() {
    EXPECT_TRUE(store_.create());
    std::ofstream(segment_) << kSegmentHead << entry_head("payload") << "payload";
  }
  ~StoreWithASegment() override { fs::remove_all(store_.path()); }

  // Folding ends with an error about this path, and the segment stays as it was.
  void expect_refusal(const std::string& path) const {
    const uintmax_t size = fs::file_size(segment_);
    const auto folded = fold(store_);
    ASSERT_FALSE(folded);
    EXPECT_EQ(folded.error().cause, Error::Cause::io);
    EXPECT_EQ(folded.error().file, path);
    EXPECT_EQ(fs::file_size(segment_), size);
  }

  static std::string fresh_folder() {
    std::string name = fs::temp_directory_path() / "telltale-fold-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }

  const StoreFolder store_{fresh_folder()};
  const std::string segment_ = segment_path(store_.log(), 7);
};

TEST_F(StoreWithASegment, IdsMustBeReadOrReportsAreStoredAgain) {
  const std::string ids = store_.ids() + "/1-2.ids";
  fs::create_directory(ids);
  expect_refusal(ids);
  ProblemLog problems;
  uint64_t bytes = 0;
  const auto read = store_.read_ids(problems, bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().file, ids);
}

// As after a backup that leaves out what is empty. The fold did not end then.
TEST_F(StoreWithASegment, FoldersThatAreMissingAreMadeAnew) {
  for (const std::string& folder :
       {store_.damaged(), store_.ids(), store_.runs(), store_.digests(), store_.temporary()})
    fs::remove_all(folder);
  const auto folded = fold(store_);
  ASSERT_TRUE(folded);
  EXPECT_EQ(folded->problems.damage_count(), 1U);
  EXPECT_FALSE(fs::exists(segment_));
  EXPECT_TRUE(fs::exists(segment_path(store_.damaged(), 7)));
}

TEST_F(StoreWithASegment, ADamagedIdsFileIsTold) {
  std::ofstream(store_.ids() + "/1-2.ids") << "no ids";
  const auto folded = fold(store_);
  ASSERT_TRUE(folded);
  const auto kept = folded->problems.kept();
  EXPECT_TRUE(std::ranges::any_of(
      kept, [&](const Problem& p) { return p.file == store_.ids() + "/1-2.ids"; }));
}

TEST_F(StoreWithASegment, DeletedReportsWouldComeBack) {
  fs::create_directory(store_.deleted());
  expect_refusal(store_.deleted());
  const auto removed = delete_reports(store_, "app", {"report-1"});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().file, store_.deleted());
}

TEST_F(StoreWithASegment, AnInterruptedFoldMustBeCompletedUnderItsName) {
  fs::create_directory(store_.plan());
  expect_refusal(store_.plan());
}

TEST_F(StoreWithASegment, WhatAFoldRemovesMeanwhileIsNoError) {
  fs::create_symlink("gone", segment_path(store_.log(), 8));
  fs::create_symlink("gone", store_.ids() + "/1-2.ids");
  ProblemLog problems;
  uint64_t bytes = 0;
  EXPECT_TRUE(store_.read_ids(problems, bytes));
  EXPECT_EQ(bytes, fs::file_size(segment_));
}

// A fold that was interrupted when its segments were gone removes what has their numbers.
TEST_F(StoreWithASegment, NumbersOfSegmentsAreNotUsedAgain) {
  EXPECT_EQ(store_.next_segment(5).value(), 8U);
  EXPECT_EQ(store_.next_segment(100).value(), 100U);
  std::ofstream(store_.ids() + "/7-9.ids").flush();
  EXPECT_EQ(store_.next_segment(5).value(), 10U);
  std::ofstream(segment_path(store_.damaged(), 10)).flush();
  EXPECT_EQ(store_.next_segment(5).value(), 11U);
  std::ofstream(store_.plan()) << "11\n12\n";
  EXPECT_EQ(store_.next_segment(5).value(), 13U);
}

TEST_F(StoreWithASegment, ProgramsMustBeListedOrPathFilesAreNotRead) {
  const std::string programs = store_.programs_of("a", "b");
  EXPECT_TRUE(stored_programs(store_, "a", "b").value().empty());
  fs::create_directories(fs::path(programs).parent_path());
  fs::create_symlink("b", programs);
  const auto found = stored_programs(store_, "a", "b");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().file, programs);
}

TEST_F(StoreWithASegment, NoAnswerIsOfAPartOfTheRuns) {
  const std::string build = store_.runs() + "/application=a/build=b";
  fs::create_directories(build + "/day=2026-01-02");
  std::ofstream(build + "/day=2026-01-02/1-2-0.parquet").flush();
  auto files = run_files(store_);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ((*files)[0].application + " " + (*files)[0].build + " " + (*files)[0].day,
            "a b 2026-01-02");
  fs::create_symlink("build=x", store_.runs() + "/application=a/build=x");
  files = run_files(store_);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().file, store_.runs() + "/application=a/build=x");
  fs::remove_all(store_.runs());
  files = run_files(store_);
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->empty());
  fs::create_symlink("runs", store_.runs());
  files = run_files(store_);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().file, store_.runs());
}

}  // namespace
}  // namespace telltale::collect
