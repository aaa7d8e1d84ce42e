#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "output/table/field.h"
#include "output/table/table.h"

namespace telltale {

// A section of a report: figures and tables under one heading. They are declared: a figure is
// a field, a table a list whose fields are its columns.
class Section {
 public:
  struct Figure {
    const Field* field;
    Table::Cell value;
    std::string heading;
  };
  struct NamedTable {
    const Field* field;  // its title, if any, is shown above it
    Table table;
  };

  // The declaration outlives this.
  Section(std::string_view key, std::string_view title, std::span<const Field> members)
      : key_(key), title_(title), members_(members) {}

  // In the order in which people and JSON see them. Throw std::logic_error if it is not declared.
  // `heading`: instead of the declared one.
  void add(std::string_view figure, Table::Cell value, std::string_view heading = {});
  void add(std::string_view table, Table rows);
  // Drops all rows but the first `most` of each table except this one.
  void limit_rows(size_t most, std::string_view except);
  // The columns that a declared table always has.
  [[nodiscard]] TableSchema columns(std::string_view table) const;

  [[nodiscard]] const std::string& key() const { return key_; }      // in JSON; stable
  [[nodiscard]] const std::string& title() const { return title_; }  // for people
  [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }
  [[nodiscard]] const std::vector<NamedTable>& tables() const { return tables_; }
  // Null if there is none.
  [[nodiscard]] const Table* table(std::string_view key) const;
  [[nodiscard]] const Table::Cell* figure(std::string_view key) const;
  // Has no figure and no row.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool declares_table(std::string_view key) const;

 private:
  [[nodiscard]] const Field& declared(std::string_view key) const;

  std::string key_;
  std::string title_;
  std::span<const Field> members_;
  std::vector<Figure> figures_;
  std::vector<NamedTable> tables_;
};

// Text: headings, one figure per line, and non-empty tables.
void write_sections_text(std::span<const Section> sections, BlockWriter& out);
// A document with one member per section: an object of its figures and its tables, as arrays.
// `schema` and `format`: as for begin_document().
void write_sections_json(std::span<const Section> sections, const DocumentSchema& schema,
                         std::string_view format, const ProblemLog& problems, BlockWriter& out);
// A document whose members are the section's.
void write_section_json(const Section& section, const DocumentSchema& schema,
                        std::string_view format, const ProblemLog& problems, BlockWriter& out);
// One table; without rows if the section has neither figures nor tables, because the recording has
// nothing of its kind. `which`: SECTION.TABLE, or SECTION if it has only one table, or only figures
// (then a table of one row); empty if there is only one section. Errors: usage, which lists the
// choices.
Result<void> write_section_csv(std::span<const Section> sections, std::string_view which,
                               BlockWriter& out);

}  // namespace telltale
