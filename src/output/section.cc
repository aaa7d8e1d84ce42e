#include "output/section.h"

#include <algorithm>

#include "output/escape.h"
#include "output/json_writer.h"

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
  table.add_row(std::move(cells));
  return table;
}

std::string indented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    out += "  " + text.substr(at, end - at);
    at = end;
  }
  return out;
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

void write_json(JsonWriter& json, const Section& section) {
  json.begin_object();
  for (const Section::Fact& fact : section.facts) {
    json.key(fact.key);
    std::visit(
        [&json]<typename T>(const T& cell) {
          if constexpr (std::is_same_v<T, std::monostate>) {
            json.value(nullptr);
          } else {
            json.value(cell);
          }
        },
        fact.value);
  }
  for (const Section::NamedTable& named : section.tables) {
    json.key(named.key);
    named.table.write_json_rows(json);
  }
  json.end_object();
}

}  // namespace

std::string sections_to_text(std::span<const Section> sections) {
  std::string out;
  for (const Section& section : sections) {
    if (!out.empty()) out += '\n';
    out += section.title + '\n';
    append_facts(out, section);
    for (const Section::NamedTable& named : section.tables) {
      if (named.table.rows() == 0) continue;
      if (!named.title.empty()) out += "  " + named.title + '\n';
      out += indented(named.table.to_text());
    }
  }
  return out;
}

std::string sections_to_json(std::span<const Section> sections) {
  std::string out;
  JsonWriter json(out, 3);
  json.begin_object();
  for (const Section& section : sections) {
    json.key(section.key);
    write_json(json, section);
  }
  json.end_object();
  return out + "\n";
}

Result<std::string> section_to_csv(std::span<const Section> sections, std::string_view which) {
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
      if (section.tables.empty()) return facts_as_row(section).to_csv();
      if (section.tables.size() == 1) return section.tables.front().table.to_csv();
      continue;
    }
    const auto named =
        std::ranges::find(section.tables, which.substr(dot + 1), &Section::NamedTable::key);
    if (named != section.tables.end()) return named->table.to_csv();
  }
  return usage_error("--csv is one table: choose by --reports one of " + choices);
}

}  // namespace telltale
