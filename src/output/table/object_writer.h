#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/problem.h"
#include "bytes/block_writer.h"
#include "output/json_writer.h"
#include "output/table/field.h"
#include "output/table/table.h"

namespace telltale {

class ListWriter;
class MapWriter;

// Writes a JSON object whose members are declared, for documents with nested values; a flat table
// needs only a JsonSink. Members are written in the order of their declaration. A member that is
// not declared, comes late, is missing or has another type throws std::logic_error: what the JSON
// Schema says is true of every object that was written to its end.
//
// `out`: if given, `json` writes to its block, and full blocks are flushed after each row.
class ObjectWriter {
 public:
  ObjectWriter(JsonWriter& json, std::span<const Field> fields, BlockWriter* out = nullptr)
      : ObjectWriter(json.begin_object(), fields, out, Begun()) {}
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  // A single value. std::nullopt and nullptr are null.
  template <typename T>
  ObjectWriter& add(std::string_view key, const T& value) {
    const Field& field = take(key);
    require(field, field.type, type_of(value));
    json_.value(value);
    return *this;
  }
  // The next members, as many as there are cells, from the row of a table.
  ObjectWriter& cells(std::span<const TableCell> row);
  // The text, or null if it is empty.
  ObjectWriter& text_or_null(std::string_view key, std::string_view text) {
    return text.empty() ? add(key, nullptr) : add(key, text);
  }
  // fill(ObjectWriter&) writes the members of a nested object.
  template <std::invocable<ObjectWriter&> Fill>
  ObjectWriter& object(std::string_view key, Fill fill) {
    const Field& field = take(key);
    require(field, field.type, ValueType::object);
    write(json_, field.fields, out_, fill);
    return *this;
  }
  // fill(ListWriter&) writes the elements.
  template <std::invocable<ListWriter&> Fill>
  ObjectWriter& list(std::string_view key, Fill fill);
  // fill(MapWriter&) writes the members, whose keys only the recording knows.
  template <std::invocable<MapWriter&> Fill>
  ObjectWriter& map(std::string_view key, Fill fill);
  // All rows of a table with the declared columns.
  ObjectWriter& table(std::string_view key, const Table& rows);

  // Throws if a member that is always present was not written.
  void end();

 protected:
  struct Begun {};
  // Continues an object that the caller began.
  ObjectWriter(JsonWriter& json, std::span<const Field> fields, BlockWriter* out, Begun)
      : json_(json), fields_(fields), out_(out) {}
  [[nodiscard]] JsonWriter& json() { return json_; }

 private:
  friend class ListWriter;
  friend class MapWriter;

  template <typename T>
  static constexpr std::optional<ValueType> type_of(const T& value) {
    if constexpr (std::is_same_v<T, std::nullptr_t>) {
      return std::nullopt;
    } else if constexpr (std::is_same_v<T, bool>) {
      return ValueType::boolean;
    } else if constexpr (std::unsigned_integral<T>) {
      return ValueType::unsigned_integer;
    } else if constexpr (std::signed_integral<T>) {
      return value < 0 ? ValueType::integer : ValueType::unsigned_integer;
    } else if constexpr (std::floating_point<T>) {
      return ValueType::number;
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      return ValueType::text;
    } else {
      return value ? type_of(*value) : std::nullopt;  // std::optional
    }
  }
  // `given`: none for null.
  static void require(const Field& field, ValueType declared, std::optional<ValueType> given);
  // The field of the next member.
  const Field& take(std::string_view key);
  // A whole object.
  template <typename Fill>
  static void write(JsonWriter& json, std::span<const Field> fields, BlockWriter* out, Fill& fill) {
    ObjectWriter object(json, fields, out);
    fill(object);
    object.end();
  }

  JsonWriter& json_;
  std::span<const Field> fields_;
  BlockWriter* out_;
  size_t next_ = 0;  // fields_[0, next_) were written or left out
};

// The elements of a declared list.
class ListWriter {
 public:
  // The list alone, as an array; fill(ListWriter&) writes its elements.
  template <std::invocable<ListWriter&> Fill>
  static void write(JsonWriter& json, const Field& field, BlockWriter* out, Fill fill) {
    json.begin_array();
    ListWriter elements(json, field, out);
    fill(elements);
    json.end_array();
  }

  template <typename T>
  ListWriter& value(const T& value) {
    ObjectWriter::require(field_, field_.element, ObjectWriter::type_of(value));
    json_.value(value);
    return *this;
  }
  // fill(ObjectWriter&) writes an element's members.
  template <std::invocable<ObjectWriter&> Fill>
  ListWriter& row(Fill fill) {
    ObjectWriter::require(field_, field_.element, ValueType::object);
    ObjectWriter::write(json_, field_.fields, out_, fill);
    if (out_ != nullptr) out_->flush_if_full();
    return *this;
  }

 private:
  ListWriter(JsonWriter& json, const Field& field, BlockWriter* out)
      : json_(json), field_(field), out_(out) {}
  JsonWriter& json_;
  const Field& field_;
  BlockWriter* out_;
};

// The members of a declared map.
class MapWriter {
 public:
  template <typename T>
  MapWriter& add(std::string_view key, const T& value) {
    ObjectWriter::require(field_, field_.element, ObjectWriter::type_of(value));
    json_.member(key, value);
    return *this;
  }
  // fill(ObjectWriter&) writes a value's members.
  template <std::invocable<ObjectWriter&> Fill>
  MapWriter& object(std::string_view key, Fill fill) {
    ObjectWriter::require(field_, field_.element, ValueType::object);
    ObjectWriter::write(json_.key(key), field_.fields, nullptr, fill);
    return *this;
  }

 private:
  friend class ObjectWriter;
  MapWriter(JsonWriter& json, const Field& field) : json_(json), field_(field) {}
  JsonWriter& json_;
  const Field& field_;
};

template <std::invocable<ListWriter&> Fill>
ObjectWriter& ObjectWriter::list(std::string_view key, Fill fill) {
  const Field& field = take(key);
  require(field, field.type, ValueType::list);
  ListWriter::write(json_, field, out_, std::move(fill));
  return *this;
}

template <std::invocable<MapWriter&> Fill>
ObjectWriter& ObjectWriter::map(std::string_view key, Fill fill) {
  const Field& field = take(key);
  require(field, field.type, ValueType::map);
  json_.begin_object();
  MapWriter members(json_, field);
  fill(members);
  json_.end_object();
  return *this;
}

// A document: the envelope (json_document.h) around declared members. The writer may be flushed at
// any time, as JsonWriter says.
class DocumentWriter : public ObjectWriter {
 public:
  // REQUIRES: `json` puts members on separate lines. `format`: as for begin_document().
  DocumentWriter(JsonWriter& json, const DocumentSchema& schema, std::string_view format,
                 BlockWriter* out = nullptr);
  // Writes the member `problems`; members may follow it.
  DocumentWriter& problems(const ProblemLog& problems);
  // Writes `problems` and ends the document.
  void finish(const ProblemLog& found) { problems(found).end(); }
};

}  // namespace telltale
