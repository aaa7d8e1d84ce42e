#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telltale {

// The type of a value, in JSON and all other sinks.
enum class ValueType : uint8_t {
  integer,
  unsigned_integer,
  number,  // a double
  text,
  boolean,
  scalar,  // a number or text, as the value of a runtime's counter
  list,    // of values of one type, or of objects with `fields`
  object,  // with `fields`
  map,     // from texts that only the recording knows to values of one type, or to objects with
           // `fields`
};

enum class Unit : uint8_t {
  none,
  ns,
  us,
  ms,
  bytes,
  count,
  fraction,  // of one
  address,   // text: "0x1f"
  hertz,
};

// How people see a value; CSV and JSON always get the value itself.
enum class Show : uint8_t {
  plain,     // the number; integers with no grouping
  duration,  // nanoseconds, as 1.234 us
  percent,   // a fraction of one, as 12.3 %
  text,      // left-aligned, escaped
};

enum class Presence : uint8_t { always, sometimes };
enum class Nullable : uint8_t { no, yes };

// A column of a table, a single figure, or a member of a JSON object. It is declared once: text,
// CSV, JSON and JSON Schemas are made from it.
struct Field {
  std::string_view key;  // in JSON and CSV; stable
  ValueType type = ValueType::text;
  Unit unit = Unit::none;
  std::string_view sentence;  // one sentence that defines it, with a full stop
  Presence presence = Presence::always;
  Nullable nullable = Nullable::no;
  // Of a list or map: the type of its values; object: they have `fields`.
  ValueType element = ValueType::object;
  std::span<const Field> fields = {};
  // For people: heading of the column, name of the figure, title of the table. Columns that do not
  // state it: the key, see heading_of().
  std::optional<std::string_view> title = std::nullopt;
  bool right_aligned = false;  // a text that people see as a number

  [[nodiscard]] constexpr Field titled(std::string_view for_people) const {
    Field field = *this;
    field.title = for_people;
    return field;
  }
  [[nodiscard]] constexpr Field aligned_right() const {
    Field field = *this;
    field.right_aligned = true;
    return field;
  }
  [[nodiscard]] constexpr Field sometimes() const {
    Field field = *this;
    field.presence = Presence::sometimes;
    return field;
  }
  [[nodiscard]] constexpr Field or_null() const {
    Field field = *this;
    field.nullable = Nullable::yes;
    return field;
  }
};

// Follows from type and unit.
constexpr Show show_of(const Field& field) {
  if (field.unit == Unit::ns) return Show::duration;
  if (field.unit == Unit::fraction) return Show::percent;
  return field.type == ValueType::text && !field.right_aligned ? Show::text : Show::plain;
}
// Its title or, without one, the key in capitals: "total_ns" is shown as durations below "TOTAL".
std::string heading_of(const Field& field);

// Shorthands for declarations.
namespace field {

constexpr Field count(std::string_view key, std::string_view sentence) {
  return {key, ValueType::unsigned_integer, Unit::count, sentence};
}
constexpr Field number_id(std::string_view key, std::string_view sentence) {
  return {key, ValueType::unsigned_integer, Unit::none, sentence};
}
constexpr Field signed_id(std::string_view key, std::string_view sentence) {
  return {key, ValueType::integer, Unit::none, sentence};
}
constexpr Field bytes(std::string_view key, std::string_view sentence) {
  return {key, ValueType::unsigned_integer, Unit::bytes, sentence};
}
constexpr Field us(std::string_view key, std::string_view sentence) {
  return {key, ValueType::unsigned_integer, Unit::us, sentence};
}
constexpr Field ms(std::string_view key, std::string_view sentence) {
  return {key, ValueType::unsigned_integer, Unit::ms, sentence};
}
constexpr Field ns(std::string_view key, std::string_view sentence) {
  return {key, ValueType::unsigned_integer, Unit::ns, sentence};
}
constexpr Field change(std::string_view key, Unit unit, std::string_view sentence) {
  return {key, ValueType::integer, unit, sentence};
}
constexpr Field number(std::string_view key, Unit unit, std::string_view sentence) {
  return {key, ValueType::number, unit, sentence};
}
constexpr Field fraction(std::string_view key, std::string_view sentence) {
  return {key, ValueType::number, Unit::fraction, sentence};
}
constexpr Field text(std::string_view key, std::string_view sentence) {
  return {key, ValueType::text, Unit::none, sentence};
}
constexpr Field address(std::string_view key, std::string_view sentence) {
  return {key, ValueType::text, Unit::address, sentence};
}
constexpr Field truth(std::string_view key, std::string_view sentence) {
  return {key, ValueType::boolean, Unit::none, sentence};
}
constexpr Field scalar(std::string_view key, std::string_view sentence) {
  return {key, ValueType::scalar, Unit::none, sentence};
}
constexpr Field object(std::string_view key, std::span<const Field> fields,
                       std::string_view sentence) {
  Field field{key, ValueType::object, Unit::none, sentence};
  field.fields = fields;
  return field;
}
// Rows of a table.
constexpr Field rows(std::string_view key, std::span<const Field> columns,
                     std::string_view sentence) {
  Field field{key, ValueType::list, Unit::none, sentence};
  field.fields = columns;
  return field;
}
constexpr Field list_of(std::string_view key, ValueType element, std::string_view sentence) {
  Field field{key, ValueType::list, Unit::none, sentence};
  field.element = element;
  return field;
}
constexpr Field map_of(std::string_view key, ValueType element, Unit unit,
                       std::string_view sentence) {
  Field field{key, ValueType::map, unit, sentence};
  field.element = element;
  return field;
}
constexpr Field map_of(std::string_view key, std::span<const Field> fields,
                       std::string_view sentence) {
  Field field{key, ValueType::map, Unit::none, sentence};
  field.fields = fields;
  return field;
}

}  // namespace field

// A document that a verb prints with --json: the envelope (json_document.h) and these members.
struct DocumentSchema {
  std::string_view name;  // of the file NAME.schema.json, and `schema.name` in the document
  unsigned version = 1;   // changes when a key changes its meaning or is removed
  std::string_view sentence;
  bool of_a_recording = true;  // the envelope names its format
  std::span<const Field> members = {};
};

}  // namespace telltale
