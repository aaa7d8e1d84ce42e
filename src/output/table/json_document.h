#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "bytes/block_writer.h"
#include "output/json_writer.h"
#include "output/table/field.h"
#include "output/table/table.h"
#include "output/table/write_rows.h"

namespace telltale {

// The envelope of every JSON document of telltale:
//
//   {"telltale": version, "schema": {"name", "version"}, "recording": {"format"}, ..., "problems":
//   [...]}
//
// with the schema's own members in between. A recording's name and compression are not in it: a
// compressed copy, or one from standard input, gives the same bytes.

// The fields of a problem in --json.
extern const std::span<const Field> kProblemFields;

// "torn tail": the name in --json and `info`.
std::string_view problem_kind_name(Problem::Kind kind);

// Begins the object and writes the head of the envelope. REQUIRES: `json` puts members on separate
// lines. `format`: name of the recording's format; empty for documents that are not about one
// recording.
void begin_document(JsonWriter& json, const DocumentSchema& schema, std::string_view format);
// Writes `problems` and ends the object, with a line feed.
void end_document(JsonWriter& json, const ProblemLog& problems);
// Only `problems`, for documents with further members about them.
void write_problems(JsonWriter& json, const ProblemLog& problems);

// A document with the one member `rows`, row by row; `problems` as they are after the last row.
void write_rows_document(const DocumentSchema& document, std::string_view format,
                         const TableSchema& columns, const Rows& rows, const ProblemLog& problems,
                         BlockWriter& out);
// The same of a table, as one text.
std::string rows_document(const DocumentSchema& schema, std::string_view format, const Table& rows,
                          const ProblemLog& problems);

}  // namespace telltale
