#include "output/table/object_writer.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <variant>

#include "output/table/json_document.h"

namespace telltale {
namespace {

bool accepts(ValueType declared, ValueType given) {
  const bool whole = given == ValueType::unsigned_integer || given == ValueType::integer;
  switch (declared) {
    case ValueType::integer:
      return whole;
    case ValueType::number:
      return whole || given == ValueType::number;
    case ValueType::scalar:
      return whole || given == ValueType::number || given == ValueType::text;
    default:
      return given == declared;
  }
}

std::optional<ValueType> type_of_cell(const TableCell& cell) {
  switch (cell.index()) {
    case 0:
      return std::nullopt;
    case 1:
      return ValueType::text;
    case 2:
      return std::get<int64_t>(cell) < 0 ? ValueType::integer : ValueType::unsigned_integer;
    case 3:
      return ValueType::unsigned_integer;
    default:
      return ValueType::number;
  }
}

JsonWriter& begun(JsonWriter& json, const DocumentSchema& schema, std::string_view format) {
  begin_document(json, schema, format);
  return json;
}

}  // namespace

void ObjectWriter::require(const Field& field, ValueType declared, std::optional<ValueType> given) {
  if (given ? accepts(declared, *given) : field.nullable == Nullable::yes) return;
  throw std::logic_error(
      fmt::format("{}: a value of another type than it declares", std::string(field.key)));
}

const Field& ObjectWriter::take(std::string_view key) {
  for (; next_ < fields_.size(); ++next_) {
    const Field& field = fields_[next_];
    if (field.key == key) {
      ++next_;
      json_.key(key);
      return field;
    }
    if (field.presence == Presence::always) break;
  }
  throw std::logic_error(fmt::format("{} is not the member that is declared here", key));
}

ObjectWriter& ObjectWriter::cells(std::span<const TableCell> row) {
  for (const TableCell& cell : row) {
    if (next_ == fields_.size()) throw std::logic_error("more cells than members");
    const Field& field = fields_[next_++];
    require(field, field.type, type_of_cell(cell));
    write_json_cell(json_.key(field.key), cell);
  }
  return *this;
}

ObjectWriter& ObjectWriter::table(std::string_view key, const Table& rows) {
  const Field& field = take(key);
  if (rows.schema().declared().data() != field.fields.data())
    throw std::logic_error(fmt::format("{} has other columns than it declares", key));
  rows.write_json_rows(json_, out_);
  return *this;
}

void ObjectWriter::end() {
  for (; next_ < fields_.size(); ++next_) {
    if (fields_[next_].presence == Presence::always)
      throw std::logic_error(fmt::format("{} was not written", fields_[next_].key));
  }
  json_.end_object();
}

DocumentWriter::DocumentWriter(JsonWriter& json, const DocumentSchema& schema,
                               std::string_view format, BlockWriter* out)
    : ObjectWriter(begun(json, schema, format), schema.members, out, Begun()) {}

DocumentWriter& DocumentWriter::problems(const ProblemLog& problems) {
  write_problems(json(), problems);
  return *this;
}

}  // namespace telltale
