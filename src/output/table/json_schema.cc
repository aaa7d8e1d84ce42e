#include "output/table/json_schema.h"

#include <array>
#include <string_view>
#include <vector>

#include "output/json_writer.h"
#include "output/table/json_document.h"

namespace telltale {
namespace {

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::none:
      return "";
    case Unit::ns:
      return "ns";
    case Unit::us:
      return "us";
    case Unit::ms:
      return "ms";
    case Unit::bytes:
      return "bytes";
    case Unit::count:
      return "count";
    case Unit::fraction:
      return "fraction";
    case Unit::address:
      return "address";
    case Unit::hertz:
      return "hertz";
  }
  return "";
}

std::vector<std::string_view> types_of(ValueType type) {
  switch (type) {
    case ValueType::integer:
    case ValueType::unsigned_integer:
      return {"integer"};
    case ValueType::number:
      return {"number"};
    case ValueType::text:
      return {"string"};
    case ValueType::boolean:
      return {"boolean"};
    case ValueType::scalar:
      return {"number", "string"};
    case ValueType::list:
      return {"array"};
    case ValueType::object:
    case ValueType::map:
      return {"object"};
  }
  return {};
}

void write_type(JsonWriter& json, ValueType type, bool nullable) {
  std::vector<std::string_view> types = types_of(type);
  if (nullable) types.emplace_back("null");
  json.key("type");
  if (types.size() == 1) {
    json.value(types.front());
  } else {
    json.begin_array();
    for (const std::string_view each : types) json.value(each);
    json.end_array();
  }
  if (type == ValueType::unsigned_integer) json.member("minimum", 0);
}

void write_members(JsonWriter& json, std::span<const Field> fields);

// The values of a list or map.
void write_element(JsonWriter& json, const Field& field) {
  json.begin_object();
  if (field.fields.empty()) {
    write_type(json, field.element, field.nullable == Nullable::yes);
  } else {
    json.member("type", "object");
    write_members(json, field.fields);
  }
  json.end_object();
}

void write_field(JsonWriter& json, const Field& field) {
  json.key(field.key).begin_object();
  write_type(json, field.type, field.nullable == Nullable::yes);
  json.member("description", field.sentence);
  if (field.unit != Unit::none) json.member("unit", name_of(field.unit));
  if (field.type == ValueType::object) write_members(json, field.fields);
  if (field.type == ValueType::list) write_element(json.key("items"), field);
  if (field.type == ValueType::map) write_element(json.key("additionalProperties"), field);
  json.end_object();
}

void write_required(JsonWriter& json, std::span<const Field> fields,
                    std::span<const std::string_view> first = {}, bool open = false) {
  json.key("required").begin_array();
  for (const std::string_view key : first) json.value(key);
  for (const Field& field : fields)
    if (field.presence == Presence::always) json.value(field.key);
  json.end_array().member("additionalProperties", open);
}

void write_members(JsonWriter& json, std::span<const Field> fields) {
  write_required(json, fields);
  json.key("properties").begin_object();
  for (const Field& field : fields) write_field(json, field);
  json.end_object();
}

// An object with values of known types.
template <typename T>
void write_constant(JsonWriter& json, std::string_view key, const T& value) {
  json.key(key).begin_object().member("const", value).end_object();
}

void write_envelope(JsonWriter& json, const DocumentSchema& schema) {
  json.key("telltale").begin_object().member("type", "string");
  json.member("description", "Version of telltale.").end_object();
  json.key("schema").begin_object().member("type", "object");
  json.key("required").begin_array().value("name").value("version").end_array();
  json.key("properties").begin_object();
  write_constant(json, "name", schema.name);
  write_constant(json, "version", schema.version);
  json.end_object().end_object();
  if (schema.of_a_recording) {
    static constexpr std::array kRecording = {
        field::text("format", "Format, as the list of formats names it.")};
    write_field(json, field::object("recording", kRecording, "What the answer is about."));
  }
  write_field(json, field::rows("problems", kProblemFields,
                                "What is broken or missing in the input: the first thousand."));
}

}  // namespace

std::string json_schema(const DocumentSchema& schema) {
  std::string out;
  JsonWriter json(out, 3);
  json.begin_object().member("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.member("title", "telltale " + std::string(schema.name));
  json.member("description", schema.sentence).member("type", "object");
  std::vector<std::string_view> envelope = {"telltale", "schema", "problems"};
  if (schema.of_a_recording) envelope.emplace_back("recording");
  write_required(json, schema.members, envelope);
  json.key("properties").begin_object();
  write_envelope(json, schema);
  for (const Field& field : schema.members) write_field(json, field);
  json.end_object().end_object();
  return out + "\n";
}

std::string json_line_schema(std::string_view name, std::string_view sentence,
                             std::span<const LineSchema> kinds, bool open) {
  static constexpr std::array<std::string_view, 2> kOfAll = {"offset", "record"};
  static constexpr Field kOffset = field::bytes("offset", "Place of the record in the file.");
  std::string out;
  JsonWriter json(out, 3);
  json.begin_object().member("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.member("title", "telltale " + std::string(name));
  json.member("description", sentence).member("type", "object");
  json.key("anyOf").begin_array();
  for (const LineSchema& kind : kinds) {
    json.begin_object();
    write_required(json, kind.members, kOfAll, kind.open);
    json.key("properties").begin_object();
    write_field(json, kOffset);
    write_constant(json, "record", kind.record);
    for (const Field& field : kind.members) write_field(json, field);
    json.end_object().end_object();
  }
  if (open) {
    json.begin_object();
    write_required(json, {}, kOfAll, true);
    json.key("properties").begin_object();
    write_field(json, kOffset);
    json.key("record").begin_object().key("not").begin_object().key("enum").begin_array();
    for (const LineSchema& kind : kinds) json.value(kind.record);
    json.end_array().end_object().end_object();
    json.end_object().end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

}  // namespace telltale
