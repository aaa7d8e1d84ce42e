#include "output/table/object_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace telltale {
namespace {

constexpr std::array kPlace = {
    field::text("file", "Source file."),
    field::number_id("line", "Line in it.").sometimes(),
};
constexpr std::array kWrittenMembers = {
    field::text("name", "Its name."),
    field::count("calls", "How often.").sometimes(),
    field::number("score", Unit::none, "How well.").or_null(),
    field::object("place", kPlace, "Where.").or_null(),
    field::rows("rows", kPlace, "Places."),
    field::map_of("counts", ValueType::unsigned_integer, Unit::count, "Counts by name."),
};

// A whole object, with `change` in the place of its score.
template <typename Change>
std::string write(Change change) {
  std::string text;
  JsonWriter json(text);
  ObjectWriter object(json, kWrittenMembers);
  object.add("name", "f");
  change(object);
  object.object("place", [](ObjectWriter& place) { place.add("file", "a.c").add("line", 3U); });
  object.list("rows", [](ListWriter& rows) {
    rows.row([](ObjectWriter& row) { row.add("file", "b.c"); });
  });
  object.map("counts", [](MapWriter& counts) { counts.add("true", 1U).add("false", 0U); });
  object.end();
  return text;
}

TEST(ObjectWriter, WritesWhatIsDeclared) {
  EXPECT_EQ(write([](ObjectWriter& object) { object.add("calls", 7).add("score", 0.5); }),
            R"({"name":"f","calls":7,"score":0.5,"place":{"file":"a.c","line":3},)"
            R"("rows":[{"file":"b.c"}],"counts":{"true":1,"false":0}})");
}

TEST(ObjectWriter, MembersMayBeLeftOutOrNullWhereThatIsDeclared) {
  for (const std::optional<double> score : {std::optional<double>(), std::optional(2.0)}) {
    const auto object =
        nlohmann::json::parse(write([&](ObjectWriter& to) { to.add("score", score); }));
    EXPECT_EQ(object["score"].is_null(), !score);
    EXPECT_FALSE(object.contains("calls"));
  }
  std::string text;
  JsonWriter json(text);
  ObjectWriter object(json, kWrittenMembers);
  EXPECT_THROW(object.add("name", nullptr), std::logic_error);
}

TEST(ObjectWriter, CellsOfARowAreMembers) {
  const std::array<TableCell, 2> cells = {uint64_t{7}, std::monostate()};
  EXPECT_EQ(write([&](ObjectWriter& object) { object.cells(cells); }),
            write([](ObjectWriter& object) { object.add("calls", 7U).add("score", nullptr); }));
  const std::array<TableCell, 1> text = {std::string("7")};
  EXPECT_THROW(write([&](ObjectWriter& object) { object.cells(text); }), std::logic_error);
}

TEST(ObjectWriter, WhatIsNotDeclaredIsABug) {
  using Change = void (*)(ObjectWriter&);
  for (const Change change : std::initializer_list<Change>{
           [](ObjectWriter& object) { object.add("scores", 0.5); },
           [](ObjectWriter& object) { object.add("score", 0.5).add("calls", 7); },
           [](ObjectWriter& object) { object.add("score", "0.5"); },
           [](ObjectWriter& object) { object.add("calls", -7).add("score", 0.5); },
           [](ObjectWriter& object) { object.list("score", [](ListWriter&) {}); },
           [](ObjectWriter&) {},
       })
    EXPECT_THROW(write(change), std::logic_error);
}

TEST(ObjectWriter, AMemberThatIsMissingAtTheEndIsABug) {
  std::string text;
  JsonWriter json(text);
  ObjectWriter object(json, kPlace);
  EXPECT_THROW(object.end(), std::logic_error);
  object.add("file", "a.c");
  object.end();
  EXPECT_EQ(text, R"({"file":"a.c"})");
}

}  // namespace
}  // namespace telltale
