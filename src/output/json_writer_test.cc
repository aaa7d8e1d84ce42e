#include "output/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace telltale {
namespace {

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .member("a", 1)
      .key("b")
      .begin_array()
      .value("x")
      .value(true)
      .value(nullptr)
      .end_array();
  json.key("c")
      .begin_object()
      .end_object()
      .key("d")
      .begin_array()
      .end_array()
      .member("e", -2)
      .end_object();
  EXPECT_EQ(out, R"({"a":1,"b":["x",true,null],"c":{},"d":[],"e":-2})");
  EXPECT_EQ(json.depth(), 0u);
}

TEST(JsonWriter, BreaksLinesDownToADepth) {
  std::string out;
  JsonWriter json(out, 1);
  json.begin_array();
  for (int i = 1; i <= 2; ++i) json.begin_object().member("n", i).member("s", "t").end_object();
  json.end_array();
  EXPECT_EQ(out, "[\n  {\"n\": 1, \"s\": \"t\"},\n  {\"n\": 2, \"s\": \"t\"}\n]\n");
}

TEST(JsonWriter, EmptyTopLevelsStayOnOneLine) {
  std::string out;
  JsonWriter(out, 2).begin_array().end_array();
  EXPECT_EQ(out, "[]\n");
}

TEST(JsonWriter, NumbersReadBackExactly) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  json.value(std::numeric_limits<uint64_t>::max()).value(std::numeric_limits<int64_t>::min());
  json.value(0.1).value(1e300).value(std::nan("")).value(std::numeric_limits<double>::infinity());
  json.value(std::optional<int>()).value(std::optional<int>(3));
  json.end_array();
  const auto parsed = nlohmann::json::parse(out);
  EXPECT_EQ(parsed[0].get<uint64_t>(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(parsed[1].get<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parsed[2].get<double>(), 0.1);
  EXPECT_EQ(parsed[3].get<double>(), 1e300);
  EXPECT_TRUE(parsed[4].is_null());
  EXPECT_TRUE(parsed[5].is_null());
  EXPECT_TRUE(parsed[6].is_null());
  EXPECT_EQ(parsed[7].get<int>(), 3);
}

TEST(JsonWriter, EscapesKeysAndValues) {
  std::string out;
  JsonWriter(out).begin_object().member("k\"\n", "v\\\x01").end_object();
  EXPECT_EQ(nlohmann::json::parse(out).at("k\"\n").get<std::string>(), "v\\\x01");
}

}  // namespace
}  // namespace telltale
