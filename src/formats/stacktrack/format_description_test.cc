#include "formats/stacktrack/format_description.h"

#include <gtest/gtest.h>

#include <functional>

#include "bytes/as_bytes.h"
#include "formats/stacktrack/format_description_xml.h"
#include "support/golden.h"

namespace telltale::stacktrack {
namespace {

TEST(KnownLayouts, CompileInBothOrders) {
  for (const Layout layout : {Layout::classic, Layout::wide}) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      FormatDescription description = known_layout(layout, order);
      EXPECT_TRUE(description.compile());
      EXPECT_EQ(description.entry_size, layout == Layout::classic ? 24U : 32U);
      EXPECT_EQ(layout_name(description), layout == Layout::classic ? "classic" : "wide");
      EXPECT_EQ(description.info_bytes(), 16U);
    }
  }
}

// The classic layout as the specification prints it.
TEST(KnownLayouts, ClassicIsTheSpecifications) {
  const FormatDescription d = known_layout(Layout::classic);
  EXPECT_EQ(d.payload_offset, 8U);
  EXPECT_EQ(d.payload_size, 16U);
  EXPECT_EQ(d.place(RecordKind::hit, Role::when), (Place{8, 8, MemberForm::time}));
  EXPECT_EQ(d.place(RecordKind::hit, Role::scope_index).offset, 16U);
  EXPECT_EQ(d.place(RecordKind::hit, Role::thread_id).offset, 18U);
  EXPECT_EQ(d.types[0].size, 16U);
  EXPECT_EQ(d.types[1].size, 6U);
  EXPECT_EQ(d.compiled.index,
            (std::array<int16_t, kRecordKinds>{0, 1, 2, 3, 4, 5, 6, 7, -1, -1, 0xff}));
}

std::string minimal(std::string_view root_extra = "", std::string_view more = "",
                    std::string_view hit_size = "8") {
  return std::string(R"(<RAW_FORMAT version="100" size="24" payload_size="16" payload_offset="8")"
                     R"( magic="0x12345678" magic_raw="0x78563412" )") +
         std::string(root_extra) +
         R"(><TYPE uname="HIT" name="hit" typeindex="0" type="ev_hit" size="16" followedby="~" desc="">)"
         R"(<MEMBER name="when" type="hitime_t" size=")" +
         std::string(hit_size) +
         R"(" offset="0" desc=""/>)"
         R"(<MEMBER name="scopeIndex" type="scopex_t" size="2" offset="8" desc=""/>)"
         R"(<MEMBER name="tid" type="st_tid_t" size="2" offset="10" desc=""/></TYPE>)"
         R"(<TYPE uname="SLOC" name="s" typeindex="3" type="" size="10" followedby="~" desc="">)"
         R"(<MEMBER name="scopeIndex" type="scopex_t" size="2" offset="0" desc=""/></TYPE>)"
         R"(<TYPE uname="PROLOGUE" name="p" typeindex="4" type="" size="12" followedby="~" desc="">)"
         R"(<MEMBER name="_12345678" type="uns32" size="4" offset="0" desc=""/>)"
         R"(<MEMBER name="version" type="uns32" size="4" offset="4" desc=""/></TYPE>)"
         R"(<TYPE uname="INFO" name="i" typeindex="255" type="" size="16" followedby="~" desc="">)"
         R"(<MEMBER name="text" type="char[]" size="16" offset="0" desc=""/></TYPE>)"
         R"(<FLAG name="HAS_INFO" value="0x0100"/><FLAG name="INFO_END" value="0x0200"/>)" +
         std::string(more) + "</RAW_FORMAT>";
}

TEST(ReadDescription, OfAnotherPlatform) {
  const Result<FormatDescription> read = read_format_description(
      as_bytes(testing::read_source_file("tests/golden/stacktrack/foreign.xml")));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->order, std::endian::big);
  EXPECT_EQ(read->version, 0x101U);
  EXPECT_EQ(read->entry_size, 40U);
  EXPECT_EQ(read->info_bytes(), 20U);
  // Without HEADER: pid has 4 bytes as in PROCINFO, everything is aligned.
  EXPECT_EQ(read->compiled.pid, (Place{4, 4, MemberForm::unsigned_integer}));
  EXPECT_EQ(read->compiled.sequence.offset, 8U);
  EXPECT_EQ(read->place(RecordKind::time_info, Role::start).size, 8U);
  EXPECT_EQ(layout_name(*read), "foreign");
}

TEST(ReadDescription, NeedsNoMoreThanWhatHitsAre) {
  const Result<FormatDescription> read = read_format_description(as_bytes(minimal()));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_FALSE(read->has(RecordKind::file_location));
  EXPECT_EQ(read->compiled.exit, 0U);
  EXPECT_EQ(read->time_form, TimeForm::integer);
  EXPECT_EQ(read_format_description(as_bytes(minimal(R"(time_form="real")")))->time_form,
            TimeForm::real);
}

TEST(ReadDescription, RefusesWhatIsNone) {
  struct Case {
    std::string text;
    std::string_view says;
  };
  const std::string billion =
      R"(<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>)" + minimal();
  const std::string external =
      R"(<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]>)" + minimal(R"(x="&x;")");
  std::string deep;
  for (int i = 0; i < 30'000; ++i) deep += "<TYPE>";
  std::string many;
  for (int i = 0; i < 300; ++i)
    many += R"(<TYPE uname="X" name="" typeindex="9" type="" size="1" desc=""/>)";
  for (const Case& c : std::vector<Case>{
           {"", "line 1"},
           {"no xml", "line 1"},
           {"<OTHER/>", "outermost element"},
           {billion, "document types"},
           {external, "document types"},
           {deep, "line 1"},
           {std::string(2 << 20, ' '), "at most 1 MiB"},
           {minimal("", many), "too many types"},
           {minimal(R"(time_form="lunar")"), "time_form"},
           {minimal("", "", "3"), "not a valid size of a hitime_t"},
           {minimal("", "", "4000000000"), "lies outside"},
           {minimal("", R"(<FLAG name="IS_EXIT" value="0x0300"/>)"), "share a bit"},
           {minimal("", R"(<FLAG name="IS_EXIT" value="0x0401"/>)"), "share a bit"},
           {minimal("", R"(<TYPE uname="A B" name="" typeindex="9" type="" size="1" desc=""/>)"),
            "no proper uname"},
           {minimal("", R"(<TYPE uname="HIT" name="" typeindex="9" type="" size="1" desc=""/>)"),
            "two types HIT"},
           {minimal("", R"(<TYPE uname="X" name="" typeindex="3" type="" size="1" desc=""/>)"),
            "taken"},
           {minimal("", R"(<TYPE uname="X" name="" typeindex="9" type="" size="17" desc=""/>)"),
            "larger than the payload"}}) {
    const Result<FormatDescription> read = read_format_description(as_bytes(c.text));
    ASSERT_FALSE(read) << c.says;
    EXPECT_NE(to_string(read.error()).find(c.says), std::string::npos) << to_string(read.error());
  }
}

TEST(Compile, SizesThatMakeNoSense) {
  using Change = std::function<void(FormatDescription&)>;
  for (const Change& change :
       std::vector<Change>{[](FormatDescription& d) { d.entry_size = 0; },
                           [](FormatDescription& d) { d.entry_size = 0xFFFFFFFF; },
                           [](FormatDescription& d) { d.payload_offset = 25; },
                           [](FormatDescription& d) { d.payload_size = 17; },
                           [](FormatDescription& d) { d.magic = 0; },
                           [](FormatDescription& d) { d.header[0].size = 8; },
                           [](FormatDescription& d) { d.header[0].name = "x"; },
                           [](FormatDescription& d) { d.types.erase(d.types.begin()); },
                           [](FormatDescription& d) { d.flags.clear(); },
                           [](FormatDescription& d) { d.types[0].members[0].size = 4; },
                           [](FormatDescription& d) { d.types[0].members[0].type = "uns64"; }}) {
    FormatDescription description = known_layout(Layout::classic);
    change(description);
    EXPECT_FALSE(description.compile());
  }
}

}  // namespace
}  // namespace telltale::stacktrack
