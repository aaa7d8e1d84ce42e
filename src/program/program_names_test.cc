#include "program/program_names.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/elf_builder.h"

namespace telltale {
namespace {

using ::testing::HasSubstr;

// A folder that is removed after the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "telltale-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

std::string error_of(const std::vector<ProgramObject>& objects) {
  ProblemLog problems;
  const Result<ProgramNames> names = ProgramNames::open(objects, {}, problems);
  return names ? "no error" : to_string(names.error());
}

constexpr const char* kMain =
    "- { id: 1, function: 16, function-name: _ZN2ns5twiceIiEET_S1_ }\n- { id: 2, function: 0x24780 "
    "}\n";
constexpr const char* kLibrary = "- { id: 1, function: 16, function-name: 'of the library' }\n";

TEST(ProgramObject, NumberedAndPlain) {
  EXPECT_EQ(parse_program_object("a.out")->object, 0U);
  EXPECT_EQ(parse_program_object("2=lib=foo.so")->object, 2U);
  EXPECT_EQ(parse_program_object("2=lib=foo.so")->path, "lib=foo.so");
  EXPECT_EQ(parse_program_object("x=1")->path, "x=1") << "no number, so it is a path";
  EXPECT_EQ(parse_program_object("=1")->path, "=1");
  EXPECT_EQ(parse_program_object("-1=a")->path, "-1=a");
  for (const char* bad : {"", "3=", "256=a"}) EXPECT_FALSE(parse_program_object(bad)) << bad;
}

TEST(ProgramNames, PackedIdsNameTheirObject) {
  const Folder folder;
  ProblemLog problems;
  const Result<ProgramNames> names = ProgramNames::open(
      {{0, folder.write("main.yaml", kMain)}, {2, folder.write("library.yaml", kLibrary)}}, {},
      problems);
  ASSERT_TRUE(names) << to_string(names.error());
  EXPECT_EQ(names->function_count(), 3U);
  const ProgramFunction& twice = names->describe(1);
  EXPECT_EQ(twice.name, "int ns::twice<int>(int)");
  EXPECT_EQ(twice.linkage_name, "_ZN2ns5twiceIiEET_S1_");
  EXPECT_THAT(twice.module, HasSubstr("main.yaml"));
  EXPECT_EQ(names->describe(2).name, "@0x24780") << "a function without a name";
  EXPECT_EQ(names->describe(pack_xray_id(2, 1)).name, "of the library");
  EXPECT_EQ(names->describe(17).name, "#17");
  EXPECT_EQ(names->describe(pack_xray_id(1, 1)).name, "#16777217") << "object 1 was not given";
  EXPECT_EQ(names->describe(pack_xray_id(2, 2)).name, "#33554434");
  EXPECT_EQ(names->describe(0xffffffff).name, "#4294967295");
  EXPECT_EQ(&names->describe(1), &twice) << "references stay valid";
}

TEST(ProgramNames, ManyThreadsMayAsk) {
  const Folder folder;
  ProblemLog problems;
  const Result<ProgramNames> names =
      ProgramNames::open({{0, folder.write("main.yaml", kMain)}}, {}, problems);
  ASSERT_TRUE(names);
  std::vector<const ProgramFunction*> seen(8);
  {
    std::vector<std::jthread> threads;
    for (const ProgramFunction*& place : seen) {
      threads.emplace_back([&names, &place] {
        for (uint32_t id = 0; id < 1000; ++id) EXPECT_FALSE(names->describe(id).name.empty());
        place = &names->describe(1);
      });
    }
  }
  for (const ProgramFunction* function : seen) EXPECT_EQ(function, seen.front());
}

TEST(ProgramNames, SaysWhatIsWrongWithAProgram) {
  const Folder folder;
  const std::string map = folder.write("main.yaml", kMain);
  EXPECT_THAT(error_of({{0, map}, {0, map}}), HasSubstr("object 0 was given twice"));
  EXPECT_THAT(error_of({{0, folder.write("plain", testing::ElfBuilder().build())}}),
              HasSubstr("has no XRay instrumentation map"));
  EXPECT_THAT(error_of({{0, "/nonexistent/program"}}),
              HasSubstr("/nonexistent/program: cannot open"));
  testing::ElfBuilder debug;
  debug.add({.name = ".text", .type = SHT_NOBITS, .size_without_bytes = 64});
  EXPECT_THAT(error_of({{0, folder.write("plain.debug", debug.build())}}),
              HasSubstr("only separate debug files"));
}

// Valid headers with invalid contents: names are missing, nothing worse.
TEST(ProgramNames, AProgramOfGarbageSectionsHasNoNames) {
  const Folder folder;
  testing::ElfBuilder elf;
  elf.add({.name = "xray_instr_map",
           .address = 0x5000,
           .bytes = testing::InstrMapBuilder().relative(0x5000, 0x1008, 0x1000, 0).bytes()});
  for (const char* name :
       {".symtab", ".strtab", ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"}) {
    elf.add({.name = name,
             .type = name[1] == 's' ? uint32_t{SHT_SYMTAB} : uint32_t{SHT_PROGBITS},
             .flags = 0,
             .bytes = std::string(1000, '\xa5')});
  }
  ProblemLog problems;
  const Result<ProgramNames> names =
      ProgramNames::open({{0, folder.write("garbage", elf.build())}}, {}, problems);
  ASSERT_TRUE(names) << to_string(names.error());
  EXPECT_EQ(names->describe(1).name, "@0x1000");
}

}  // namespace
}  // namespace telltale
