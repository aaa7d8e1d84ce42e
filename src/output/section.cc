#include "output/section.h"

#include <algorithm>

#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"

namespace telltale {
namespace {

// One row, a column a figure.
Table facts_as_row(const Section& section) {
  std::vector<Table::Column> columns;
  std::vector<Table::Cell> cells;
  for (const Section::Fact& fact : section.facts) {
    columns.push_back({fact.key, fact.label, fact.show});
    cells.push_back(fact.value);
  }
  Table table(std::move(columns));
  table.add_row(cells);
  return table;
}

void append_facts(std::string& out, const Section& section) {
  // Two columns: what it is, and how much.
  size_t width = 0;
  for (const Section::Fact& fact : section.facts)
    width = std::max(width, count_characters(fact.label));
  for (const Section::Fact& fact : section.facts) {
    Table one({{"value", "", fact.show}});
    one.add_row({fact.value});
    const std::string lines = one.to_text();  // an empty title, then the value
    std::string value = lines.substr(lines.find('\n') + 1);
    value.erase(0, value.find_first_not_of(' '));
    if (value.empty() || value.back() != '\n') value += '\n';
    out += "  " + fact.label + std::string(width - count_characters(fact.label) + 2, ' ') + value;
  }
}

void write_json(JsonWriter& json, const Section& section, BlockWriter& out) {
  json.begin_object();
  for (const Section::Fact& fact : section.facts) {
    json.key(fact.key);
    write_json_cell(json, fact.value);
  }
  for (const Section::NamedTable& named : section.tables) {
    json.key(named.key);
    named.table.write_json_rows(json, &out);
  }
  json.end_object();
}

}  // namespace

void write_sections_text(std::span<const Section> sections, BlockWriter& out) {
  for (size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    if (i != 0) out.write("\n");
    out.write(section.title + '\n');
    append_facts(out.block(), section);
    for (const Section::NamedTable& named : section.tables) {
      if (named.table.rows() == 0) continue;
      if (!named.title.empty()) out.write("  " + named.title + '\n');
      named.table.write_text(out, "  ");
    }
  }
}

void write_sections_json(std::span<const Section> sections, const DocumentSchema& schema,
                         std::string_view format, const ProblemLog& problems, BlockWriter& out) {
  JsonWriter json(out.block(), 3);
  begin_document(json, schema, format);
  for (const Section& section : sections) {
    json.key(section.key);
    write_json(json, section, out);
  }
  end_document(json, problems);
  out.flush_if_full();
}

Result<void> write_section_csv(std::span<const Section> sections, std::string_view which,
                               BlockWriter& out) {
  std::string choices;
  const auto offer = [&](const std::string& name) {
    choices += (choices.empty() ? "" : ", ") + name;
  };
  for (const Section& section : sections) {
    if (section.tables.empty()) offer(section.key);
    for (const Section::NamedTable& named : section.tables) offer(section.key + "." + named.key);
  }
  const size_t dot = which.find('.');
  const std::string_view wanted = which.substr(0, dot);
  for (const Section& section : sections) {
    if (!(which.empty() && sections.size() == 1) && section.key != wanted) continue;
    if (dot == std::string_view::npos) {
      if (section.tables.size() > 1) continue;
      if (section.tables.empty()) {
        facts_as_row(section).write_csv(out);
      } else {
        section.tables.front().table.write_csv(out);
      }
      return {};
    }
    const auto named =
        std::ranges::find(section.tables, which.substr(dot + 1), &Section::NamedTable::key);
    if (named == section.tables.end()) continue;
    named->table.write_csv(out);
    return {};
  }
  return usage_error("--csv is one table: choose by --reports one of " + choices);
}

}  // namespace telltale
