#include "output/table/json_document.h"

#include <fmt/format.h>

#include <array>

namespace telltale {
namespace {

constexpr std::array kFieldsOfProblem = {
    field::number_id("offset", "Where it is in the file, decompressed."),
    field::text("record", "Kind of record or buffer."),
    field::text("message", "What is wrong."),
    field::bytes("lost_bytes", "Bytes that could not be read because of it."),
    field::text("kind",
                "corruption, torn tail, loss, by design, oddity, names, estimate or copies."),
    field::text("file", "The file."),
};

}  // namespace

const std::span<const Field> kProblemFields = kFieldsOfProblem;

std::string_view problem_kind_name(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::torn_tail:
      return "torn tail";
    case Problem::Kind::corruption:
      return "corruption";
    case Problem::Kind::loss:
      return "loss";
    case Problem::Kind::by_design:
      return "by design";
    case Problem::Kind::oddity:
      return "oddity";
    case Problem::Kind::names:
      return "names";
    case Problem::Kind::estimate:
      return "estimate";
    case Problem::Kind::copies:
      return "copies";
  }
  return "";
}

void begin_document(JsonWriter& json, const DocumentSchema& schema, std::string_view format) {
  json.begin_object().member("telltale", TELLTALE_VERSION);
  json.key("schema").raw(
      fmt::format(R"({{"name": "{}", "version": {}}})", schema.name, schema.version));
  if (!format.empty()) json.key("recording").raw(fmt::format(R"({{"format": "{}"}})", format));
}

void write_problems(JsonWriter& json, const ProblemLog& problems) {
  json.key("problems").begin_array();
  for (const Problem& problem : problems.kept()) {
    json.begin_object().member("offset", problem.offset).member("record", problem.record);
    json.member("message", problem.message).member("lost_bytes", problem.lost_bytes);
    json.member("kind", problem_kind_name(problem.kind)).member("file", problem.file).end_object();
  }
  json.end_array();
}

void end_document(JsonWriter& json, const ProblemLog& problems) {
  write_problems(json, problems);
  json.end_object();
}

void write_rows_document(const DocumentSchema& document, std::string_view format,
                         const TableSchema& columns, const Rows& rows, const ProblemLog& problems,
                         BlockWriter& out) {
  JsonWriter json(out.block(), 2);
  begin_document(json, document, format);
  json.key("rows");
  JsonSink sink(columns, json, &out);
  rows(sink);
  sink.end();
  end_document(json, problems);
  out.flush_if_full();
}

std::string rows_document(const DocumentSchema& schema, std::string_view format, const Table& rows,
                          const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 2);
  begin_document(json, schema, format);
  json.key("rows");
  rows.write_json_rows(json);
  end_document(json, problems);
  return out;
}

}  // namespace telltale
