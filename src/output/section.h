#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "output/table.h"
#include "output/table/field.h"

namespace telltale {

// A part of a report: single figures and tables, under one heading.
struct Section {
  struct Fact {
    std::string key;    // in JSON; stable
    std::string label;  // for people
    Table::Cell value;
    Show show = Show::plain;
  };
  struct NamedTable {
    std::string key;    // in JSON; stable
    std::string title;  // for people; empty: the section's heading is enough
    Table table;
  };
  std::string key;    // in JSON; stable
  std::string title;  // for people
  std::vector<Fact> facts;
  std::vector<NamedTable> tables;

  void add(std::string fact_key, std::string label, Table::Cell value, Show show = Show::plain) {
    facts.push_back({std::move(fact_key), std::move(label), std::move(value), show});
  }
  void add(std::string table_key, std::string table_title, Table table) {
    tables.push_back({std::move(table_key), std::move(table_title), std::move(table)});
  }
};

// For people: headings, figures a line each, tables that have rows.
void write_sections_text(std::span<const Section> sections, BlockWriter& out);
// A document with a member a section, which is an object of its figures and, as arrays, tables.
// `schema` and `format`: as begin_document() takes them.
void write_sections_json(std::span<const Section> sections, const DocumentSchema& schema,
                         std::string_view format, const ProblemLog& problems, BlockWriter& out);
// One table. `which`: SECTION.TABLE, or SECTION if it has only one table, or only figures (these
// are then a table of one row); empty if there is only one section. Errors: usage, which says what
// there is to choose from.
Result<void> write_section_csv(std::span<const Section> sections, std::string_view which,
                               BlockWriter& out);

}  // namespace telltale
