#include "import/recorded_names.h"

#include <gmock/gmock.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "import/merged_names.h"
#include "program/recorded_program.h"
#include "support/elf_builder.h"
#include "support/side_builder.h"
#include "support/xray_builder.h"

namespace telltale {
namespace {

using ::testing::HasSubstr;
using testing::SideBuilder;

// Called by nobody; its name is looked up.
[[gnu::noinline, gnu::used]] int a_function_of_this_test(int a) { return a + 1; }

xray::SideRecord record_of(const SideBuilder& side) {
  ProblemLog problems;
  Result<xray::SideRecord> record =
      xray::read_side_record(as_bytes(side.bytes()), "side", problems);
  EXPECT_TRUE(record);
  return *std::move(record);
}

std::shared_ptr<const RecordedNames> names_of(const SideBuilder& side, ProblemLog& problems,
                                              const std::vector<std::string>& programs = {}) {
  OpenOptions options;
  options.programs = programs;
  auto names = RecordedNames::open(record_of(side), options, problems);
  EXPECT_TRUE(names) << to_string(names.error());
  return *names;
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

uint64_t own_bias() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<uint64_t*>(to) = info->dlpi_addr;
        return 1;  // the first is the program
      },
      &bias);
  return bias;
}

std::string raw_build_id() {
  const std::string digits = *read_build_id(own_path());
  std::string raw;
  for (size_t i = 0; i < digits.size(); i += 2)
    raw += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return raw;
}

// This test's own program, as if it had recorded one of its functions.
SideBuilder own_recording(const std::string& build_id) {
  const uint64_t address = reinterpret_cast<uint64_t>(&a_function_of_this_test);
  SideBuilder side;
  side.object({.is_program = true,
               .load_bias = own_bias(),
               .begin = address & ~0xfffffULL,
               .end = address + 4096,
               .build_id = build_id,
               .path = own_path()});
  side.assigned(xray::kFirstAssignedId, {address});
  return side;
}

TEST(RecordedNames, AFunctionIsNamedByItsAddressInTheProgramThatRan) {
  ProblemLog problems;
  const auto names = names_of(own_recording(raw_build_id()), problems);
  const FunctionInfo& info = names->describe(FunctionId{xray::kFirstAssignedId});
  EXPECT_THAT(info.name, HasSubstr("a_function_of_this_test(int)"));
  EXPECT_EQ(info.module, own_path());
  EXPECT_EQ(problems.count(), 0U);
  EXPECT_EQ(names->describe(FunctionId{5}).name, "#5");
}

TEST(RecordedNames, AnotherProgramIsSaidAndNamesNothing) {
  ProblemLog problems;
  const auto names = names_of(own_recording("\x12\x34"), problems);
  EXPECT_THAT(names->describe(FunctionId{xray::kFirstAssignedId}).name, HasSubstr("@0x"));
  ASSERT_EQ(problems.count(), 1U);
  EXPECT_EQ(problems.damage_count(), 0U);  // the recording is whole
  EXPECT_THAT(to_string(problems.kept()[0]), HasSubstr("not the recorded program"));
  EXPECT_THAT(to_string(problems.kept()[0]), HasSubstr("1234"));
}

TEST(RecordedNames, NamesOfTheSideRecordStandInForAProgramThatChanged) {
  ProblemLog problems;
  SideBuilder side = own_recording("another build");
  side.name(xray::kFirstAssignedId, 12, "_Z5orderi", "shop.cc");
  const FunctionInfo info = names_of(side, problems)->describe(FunctionId{xray::kFirstAssignedId});
  EXPECT_EQ(info.name, "order(int)");
  EXPECT_EQ(info.linkage_name, "_Z5orderi");
  EXPECT_EQ(info.file, "shop.cc");
  EXPECT_EQ(info.line, 12U);
  EXPECT_EQ(info.module, own_path());
  EXPECT_EQ(problems.count(), 0U);

  // The program that ran knows better.
  side = own_recording(raw_build_id());
  side.name(xray::kFirstAssignedId, 12, "_Z5orderi", "shop.cc");
  EXPECT_THAT(names_of(side, problems)->describe(FunctionId{xray::kFirstAssignedId}).name,
              HasSubstr("a_function_of_this_test(int)"));

  // Names of other functions are none of this one's.
  side = own_recording("another build");
  side.name(xray::kFirstAssignedId + 1, 12, "_Z5orderi", "shop.cc");
  EXPECT_THAT(names_of(side, problems)->describe(FunctionId{xray::kFirstAssignedId}).name,
              ::testing::StartsWith("@0x"));
  EXPECT_EQ(problems.count(), 1U);
}

TEST(RecordedNames, AProgramThatIsGivenStandsInByBuildId) {
  ProblemLog problems;
  SideBuilder side;
  const uint64_t address = reinterpret_cast<uint64_t>(&a_function_of_this_test);
  side.object({.number = 3,
               .load_bias = own_bias(),
               .begin = address,
               .end = address + 1,
               .build_id = raw_build_id(),
               .path = "/gone/elsewhere"});
  side.assigned(xray::kFirstAssignedId, {address});
  const auto names = names_of(side, problems, {own_path()});
  EXPECT_THAT(names->describe(FunctionId{xray::kFirstAssignedId}).name,
              HasSubstr("a_function_of_this_test"));
  EXPECT_EQ(problems.count(), 0U);
}

TEST(RecordedNames, PathsThatNoProgramHasAreNotOpened) {
  const std::string folder = ::testing::TempDir() + "recorded_names." + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const std::string fifo = folder + "/fifo";
  ::mkfifo(fifo.c_str(), 0600);
  for (const std::string& path :
       {std::string("relative"), std::string("/proc/self/mem"), std::string("/dev/zero"),
        std::string("/dev/stdin"), std::string("/"), std::string("/tmp/\0x", 7), fifo,
        std::string(5000, '/'), std::string("/no/such\n\x1b[31mfile")}) {
    SideBuilder side;
    side.object({.functions = 3, .build_id = "x", .path = path});
    ProblemLog problems;
    const auto names = names_of(side, problems);
    EXPECT_EQ(names->describe(FunctionId{1}).name, "#1") << path;
    EXPECT_EQ(problems.count(), 1U) << path;
  }
  std::filesystem::remove_all(folder);
}

TEST(RecordedNames, ManyHostileObjectsAreFewPrograms) {
  SideBuilder side;
  for (uint32_t i = 0; i < 3000; ++i)
    side.object({.number = i, .id_base = i, .functions = 1, .path = "/gone/" + std::to_string(i)});
  ProblemLog problems;
  names_of(side, problems);
  EXPECT_EQ(problems.count(), RecordedNames::kMaxPrograms + 1);
}

// Two processes that numbered the same functions in another order.
TEST(MergedNames, TheSameFunctionOfTwoProcessesIsOne) {
  ProblemLog problems;
  const auto object = [](SideBuilder& side, const std::string& path, uint64_t bias) {
    side.object({.load_bias = bias, .begin = bias, .end = bias + 0x1000, .path = path});
  };
  SideBuilder one;
  object(one, "/p", 0x10000);
  one.assigned(xray::kFirstAssignedId, {0x10100, 0x10200});
  SideBuilder two;
  object(two, "/p", 0x50000);
  two.assigned(xray::kFirstAssignedId, {0x50200, 0x50300});
  MergedNames merged;
  const IdMap first = merged.add(names_of(one, problems));
  const IdMap second = merged.add(names_of(two, problems));
  const IdMap without = merged.add(nullptr);
  const auto id = [](uint32_t number) { return FunctionId{xray::kFirstAssignedId + number}; };
  EXPECT_EQ(first(id(1)), second(id(0)));
  EXPECT_NE(first(id(0)), second(id(1)));
  EXPECT_EQ(merged.describe(first(id(0))).name, "@0x100");
  EXPECT_EQ(merged.describe(second(id(0))).name, "@0x200");
  EXPECT_EQ(merged.describe(second(id(1))).name, "@0x300");
  EXPECT_EQ(merged.describe(without(FunctionId{17})).name, "#17");
  EXPECT_EQ(merged.describe(first(FunctionId{17})).name, "#17");
}

// As two threads do that call it first at the same time. `top` shows the id of the records.
TEST(MergedNames, TheFileThatHasANameGivesIt) {
  SideBuilder first;
  first.object({.functions = 3, .build_id = "a", .path = "/gone"}).name(1, 0, "one", "");
  SideBuilder second;
  second.object({.functions = 3, .build_id = "a", .path = "/gone"}).name(2, 7, "two", "a.c");
  ProblemLog problems;
  MergedNames merged;
  const IdMap ids = merged.add(names_of(first, problems));
  EXPECT_EQ(merged.add(names_of(second, problems))(FunctionId{2}), ids(FunctionId{2}));
  EXPECT_EQ(merged.describe(ids(FunctionId{1})).name, "one");
  EXPECT_EQ(merged.describe(ids(FunctionId{2})).name, "two");
  EXPECT_EQ(merged.describe(ids(FunctionId{2})).line, 7U);
  EXPECT_EQ(merged.describe(ids(FunctionId{3})).name, "#3");
  EXPECT_EQ(problems.count(), 0U);
}

TEST(MergedNames, OneFileKeepsTheFirstIdOfAFunctionThatItNumbersTwice) {
  ProblemLog problems;
  SideBuilder side;
  side.object({.load_bias = 0x1000, .begin = 0x1000, .end = 0x2000, .path = "/p"});
  side.assigned(xray::kFirstAssignedId, {0x1100, 0x1100, 0x1200});
  side.assigned(xray::kFirstAssignedId + 9, {0x1200, 0x1300});
  side.assigned(xray::kFirstAssignedId + 4, {0x1400});
  MergedNames merged;
  const IdMap ids = merged.add(names_of(side, problems));
  const auto id = [](uint32_t number) { return FunctionId{xray::kFirstAssignedId + number}; };
  for (const auto& [in_file, kept] :
       std::to_array<std::pair<uint32_t, uint32_t>>({{0, 0}, {1, 0}, {2, 2}, {9, 2}, {10, 10}}))
    EXPECT_EQ(ids(id(in_file)), id(kept)) << in_file;
  EXPECT_EQ(ids(id(4)), id(4));
  EXPECT_EQ(merged.describe(id(4)).name, "@0x400");
  EXPECT_EQ(merged.describe(id(2)).name, "@0x200");
  EXPECT_EQ(merged.describe(id(10)).name, "@0x300");
}

TEST(MergedNames, IdsOfMapsMoveToRangesOfTheirOwn) {
  ProblemLog problems;
  SideBuilder one;
  one.object({.number = 0, .id_base = 0, .functions = 10, .path = "/a"});
  one.object({.number = 1, .id_base = 10, .functions = 5, .path = "/b.so"});
  SideBuilder two;
  two.object({.number = 0, .id_base = 0, .functions = 5, .path = "/b.so"});
  two.object({.number = 1, .id_base = 5, .functions = 7, .path = "/c.so"});
  MergedNames merged;
  const IdMap first = merged.add(names_of(one, problems));
  const IdMap second = merged.add(names_of(two, problems));
  EXPECT_EQ(first(FunctionId{11}), second(FunctionId{1}));
  EXPECT_NE(first(FunctionId{6}), second(FunctionId{6}));
  EXPECT_EQ(merged.describe(first(FunctionId{11})).module, "/b.so");
  EXPECT_EQ(merged.describe(second(FunctionId{6})).module, "/c.so");
}

}  // namespace
}  // namespace telltale
