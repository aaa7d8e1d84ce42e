#include "report/reports.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string_view> names(const std::vector<const Report*>& reports) {
  std::vector<std::string_view> names;
  for (const Report* const report : reports) names.push_back(report->name);
  return names;
}

// Every field below, with its path.
void expect_declared(std::span<const Field> fields, const std::string& path) {
  std::set<std::string_view> keys;
  for (const Field& field : fields) {
    const std::string name = path + "." + std::string(field.key);
    EXPECT_TRUE(keys.insert(field.key).second) << name << " is declared twice";
    EXPECT_THAT(std::string(field.key), ::testing::MatchesRegex("[a-z][a-z0-9_]*")) << name;
    EXPECT_TRUE(field.sentence.ends_with('.')) << name << ": " << field.sentence;
    expect_declared(field.fields, name);
  }
}

TEST(Reports, EachIsRegisteredOnceUnderTheCapabilityItNeeds) {
  for (const Capability capability : kAllCapabilities) {
    std::set<std::string_view> seen;
    for (const Report* const report : reports_on(capability)) {
      EXPECT_TRUE(seen.insert(report->name).second) << report->name;
      EXPECT_EQ(report->needs, capability) << report->name;
      EXPECT_NE(report->make, nullptr) << report->name;
      EXPECT_FALSE(report->title.empty()) << report->name;
      EXPECT_TRUE(report->sentence.ends_with('.')) << report->name;
      EXPECT_EQ(find_report(capability, report->name), report);
      expect_declared(report->members, std::string(report->name));
    }
  }
}

TEST(Reports, AreChosenByNameEachOnceInTheOrderAskedFor) {
  const auto chosen = choose_reports(Capability::runtime_events, "pauses,gc,,pauses", false);
  ASSERT_TRUE(chosen);
  EXPECT_THAT(names(*chosen), ElementsAre("pauses", "gc"));
  const auto with_tables =
      choose_reports(Capability::runtime_events, "gc.handles,gc.generations", true);
  ASSERT_TRUE(with_tables);
  EXPECT_THAT(names(*with_tables), ElementsAre("gc"));
}

TEST(Reports, WithoutAListAreThoseByDefault) {
  const auto chosen = choose_reports(Capability::runtime_events, "", false);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(std::ranges::all_of(*chosen, &Report::by_default));
  EXPECT_THAT(names(*chosen), ::testing::Contains("heapshot"));
  EXPECT_THAT(names(*chosen), ::testing::Not(::testing::Contains("pauses")));
}

TEST(Reports, AnUnknownNameIsAnError) {
  const auto unknown = choose_reports(Capability::runtime_events, "gc,functions", false);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(to_string(unknown.error()), HasSubstr("unknown report: functions"));
  const auto table = choose_reports(Capability::runtime_events, "gc.handles", false);
  ASSERT_FALSE(table);
  EXPECT_THAT(to_string(table.error()), HasSubstr("REPORT.TABLE is for --csv"));
}

TEST(Reports, ADocumentDeclaresEachOfItsReports) {
  for (const Capability capability : {Capability::runtime_events, Capability::counts_at_sites}) {
    const std::span<const Field> members = report_document(capability).members;
    ASSERT_EQ(members.size(), reports_on(capability).size());
    for (size_t i = 0; i < members.size(); ++i) {
      EXPECT_EQ(members[i].key, reports_on(capability)[i]->name);
      EXPECT_EQ(members[i].fields.data(), reports_on(capability)[i]->members.data());
    }
  }
}

TEST(Documents, HaveDifferentNamesAndDeclareEveryKeyOnce) {
  std::set<std::string_view> seen;
  for (const DocumentSchema* const document : schemas::all()) {
    EXPECT_TRUE(seen.insert(document->name).second) << document->name;
    expect_declared(document->members, std::string(document->name));
  }
}

}  // namespace
}  // namespace telltale
