#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace telltale {

// What a value is, in JSON and in every later sink.
enum class ValueType : uint8_t {
  integer,
  unsigned_integer,
  number,  // a double
  text,
  boolean,
  scalar,  // a number or a text, as a counter of a runtime has it
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

enum class Presence : uint8_t { always, sometimes };
enum class Nullable : uint8_t { no, yes };

// A column of a table, a single figure, or a member of a JSON object: the one description from
// which JSON Schemas are made. Keys are stable.
struct Field {
  std::string_view key;
  ValueType type = ValueType::text;
  Unit unit = Unit::none;
  std::string_view sentence;  // says what it is; ends with a full stop
  Presence presence = Presence::always;
  Nullable nullable = Nullable::no;
  // Of a list or map: the type of its values; object: they have `fields`.
  ValueType element = ValueType::object;
  std::span<const Field> fields = {};

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
  unsigned version = 1;   // changes when a key changes its meaning or goes away
  std::string_view sentence;
  bool of_a_recording = true;  // the envelope names its format
  std::span<const Field> members = {};
};

}  // namespace telltale
