#include "output/table/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"

namespace telltale {
namespace {

// A table of one row, a column a figure.
void write_figures_csv(const Section& section, BlockWriter& out) {
  std::vector<Field> columns;
  std::vector<Table::Cell> cells;
  for (const Section::Figure& figure : section.figures()) {
    columns.push_back(*figure.field);
    cells.push_back(figure.value);
  }
  const TableSchema schema{std::span<const Field>(columns)};
  CsvSink(schema, out).add(cells);
}

// Two columns: name and value.
void append_figures(std::string& out, const Section& section) {
  size_t width = 0;
  for (const Section::Figure& figure : section.figures())
    width = std::max(width, count_characters(figure.heading));
  for (const Section::Figure& figure : section.figures()) {
    std::string value;
    append_shown(value, figure.value, show_of(*figure.field));
    value.erase(0, value.find_first_not_of(' '));
    const size_t padding = width - count_characters(figure.heading) + 2;
    out += "  " + figure.heading + std::string(padding, ' ') + value + '\n';
  }
}

void write_members(JsonWriter& json, const Section& section, BlockWriter& out) {
  for (const Section::Figure& figure : section.figures()) {
    json.key(figure.field->key);
    write_json_cell(json, figure.value);
  }
  for (const Section::NamedTable& named : section.tables()) {
    json.key(named.field->key);
    named.table.write_json_rows(json, &out);
  }
}

}  // namespace

void Section::limit_rows(size_t most, std::string_view except) {
  for (NamedTable& named : tables_)
    if (named.field->key != except) named.table.keep_first(most);
}

const Field& Section::declared(std::string_view key) const {
  const auto found = std::ranges::find(members_, key, &Field::key);
  if (found == members_.end()) throw std::logic_error(fmt::format("{} declares no {}", key_, key));
  return *found;
}

void Section::add(std::string_view figure, Table::Cell value, std::string_view heading) {
  const Field& field = declared(figure);
  figures_.push_back(
      {&field, std::move(value), heading.empty() ? heading_of(field) : std::string(heading)});
}

void Section::add(std::string_view table, Table rows) {
  const Field& field = declared(table);
  if (rows.schema().declared().data() != field.fields.data())
    throw std::logic_error(fmt::format("{}.{} has other columns than it declares", key_, table));
  tables_.push_back({&field, std::move(rows)});
}

TableSchema Section::columns(std::string_view table) const {
  TableSchema schema(declared(table).fields);
  for (const Field& field : declared(table).fields)
    if (field.presence == Presence::sometimes) schema.leave_out({field.key});
  return schema;
}

bool Section::declares_table(std::string_view key) const {
  const auto found = std::ranges::find(members_, key, &Field::key);
  return found != members_.end() && found->type == ValueType::list && !found->fields.empty();
}

const Table* Section::table(std::string_view key) const {
  const auto found =
      std::ranges::find(tables_, key, [](const auto& one) { return one.field->key; });
  return found == tables_.end() ? nullptr : &found->table;
}

const Table::Cell* Section::figure(std::string_view key) const {
  const auto found =
      std::ranges::find(figures_, key, [](const auto& one) { return one.field->key; });
  return found == figures_.end() ? nullptr : &found->value;
}

bool Section::empty() const {
  return figures_.empty() &&
         std::ranges::none_of(tables_, [](const auto& one) { return one.table.rows() != 0; });
}

void write_sections_text(std::span<const Section> sections, BlockWriter& out) {
  for (size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    if (i != 0) out.write("\n");
    out.write(section.title() + '\n');
    append_figures(out.block(), section);
    for (const Section::NamedTable& named : section.tables()) {
      if (named.table.rows() == 0) continue;
      if (named.field->title) out.write(fmt::format("  {}\n", *named.field->title));
      named.table.write_text(out, "  ");
      if (named.table.total() > named.table.rows())
        out.write(fmt::format("  {} of {} rows; --rows 0 shows all\n", named.table.rows(),
                              named.table.total()));
    }
  }
}

void write_sections_json(std::span<const Section> sections, const DocumentSchema& schema,
                         std::string_view format, const ProblemLog& problems, BlockWriter& out) {
  JsonWriter json(out.block(), 3);
  begin_document(json, schema, format);
  for (const Section& section : sections) {
    json.key(section.key()).begin_object();
    write_members(json, section, out);
    json.end_object();
  }
  end_document(json, problems);
  out.flush_if_full();
}

void write_section_json(const Section& section, const DocumentSchema& schema,
                        std::string_view format, const ProblemLog& problems, BlockWriter& out) {
  JsonWriter json(out.block(), 2);
  begin_document(json, schema, format);
  write_members(json, section, out);
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
    if (section.tables().empty()) offer(section.key());
    for (const Section::NamedTable& named : section.tables())
      offer(section.key() + "." + std::string(named.field->key));
  }
  const size_t dot = which.find('.');
  const std::string_view wanted = which.substr(0, dot);
  for (const Section& section : sections) {
    if (!(which.empty() && sections.size() == 1) && section.key() != wanted) continue;
    if (dot == std::string_view::npos) {
      if (section.tables().size() > 1) continue;
      if (section.tables().empty()) {
        write_figures_csv(section, out);
      } else {
        section.tables().front().table.write_csv(out);
      }
      return {};
    }
    const std::string_view key = which.substr(dot + 1);
    if (const Table* const named = section.table(key)) {
      named->write_csv(out);
      return {};
    }
    if (section.figures().empty() && section.tables().empty() && section.declares_table(key)) {
      Table(section.columns(key)).write_csv(out);
      return {};
    }
  }
  return usage_error("--csv prints one table: select it with --reports, one of " + choices);
}

}  // namespace telltale
