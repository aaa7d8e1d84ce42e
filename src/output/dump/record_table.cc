#include "output/dump/record_table.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "bytes/block_writer.h"
#include "output/dump/dump_output.h"

namespace telltale {
namespace {

// "tid" of both "tid" and "NewBuffer.tid".
std::string_view key_of(const Field& declared) {
  const size_t dot = declared.key.find('.');
  return dot == std::string_view::npos ? declared.key : declared.key.substr(dot + 1);
}

// Of what every format has.
constexpr auto kOfAllFormats = std::to_array<Field>({
    field::text("Problem.kind", "torn_tail, corruption, loss, by_design, oddity or copies."),
    field::text("Problem.in", "The record that is affected."),
    field::text("Problem.message", "What is wrong."),
    field::bytes("Problem.lost_bytes", "Bytes that could not be read."),
    field::text("Skipped.reason", "Why the bytes were skipped."),
    field::bytes("Skipped.bytes", "How many bytes were skipped."),
});

bool may_have(ValueType declared, ValueType printed) {
  return declared == printed ||
         (declared == ValueType::integer && printed == ValueType::unsigned_integer);
}

}  // namespace

void RecordCollector::begin(std::string_view record) {
  auto kind = std::ranges::find(kinds_, record, &Kind::record);
  if (kind == kinds_.end()) kind = kinds_.insert(kind, Kind{std::string(record), {}, 0});
  kind_ = &*kind;
  next_ = 0;
}

const Field& RecordCollector::declaration(std::string_view key) {
  const std::string own = kind_->record + "." + std::string(key);
  const auto general = std::ranges::find(kOfAllFormats, own, &Field::key);
  if (general != kOfAllFormats.end()) return *general;
  auto found = std::ranges::find(declared_, own, &Field::key);
  if (found == declared_.end()) found = std::ranges::find(declared_, key, &Field::key);
  if (found == declared_.end()) throw std::logic_error("no field is declared as " + own);
  used_[static_cast<size_t>(found - declared_.begin())] = true;
  return *found;
}

void RecordCollector::field(std::string_view key, ValueType type, bool may_lack) {
  std::vector<Column>& columns = kind_->columns;
  auto column = std::ranges::find_if(columns, [&](const Column& c) { return c.field.key == key; });
  if (column == columns.end()) {
    Field field = declaration(key);
    field.key = key_of(field);
    column = columns.insert(columns.begin() + static_cast<ptrdiff_t>(next_), Column{field});
  }
  const ValueType declared = column->field.type;
  if (!may_have(declared, type) && declared != ValueType::scalar)
    throw std::logic_error("field " + std::string(key) + " of " + kind_->record +
                           " is declared with another type");
  ++column->seen;
  column->may_lack = column->may_lack || may_lack;
  next_ = static_cast<size_t>(column - columns.begin()) + 1;
}

void RecordCollector::end() { ++kind_->seen; }

std::vector<RecordTable> RecordCollector::finish() {
  const auto unused = std::ranges::find(used_, false);
  if (unused != used_.end()) {
    const Field& field = declared_[static_cast<size_t>(unused - used_.begin())];
    throw std::logic_error("no record has the declared field " + std::string(field.key));
  }
  std::vector<RecordTable> tables;
  for (Kind& kind : kinds_) {
    RecordTable& table = tables.emplace_back(std::move(kind.record));
    for (const Column& column : kind.columns)
      table.columns.push_back(column.may_lack || column.seen < kind.seen ? column.field.sometimes()
                                                                         : column.field);
  }
  return tables;
}

std::vector<RecordTable> record_tables(std::span<const Field> declared,
                                       const std::function<void(DumpOutput& out)>& print) {
  RecordCollector collector(declared);
  const ByteSink nowhere = [](std::string_view) -> Result<void> { return {}; };
  DumpOutput out(DumpStyle::declare(collector), nowhere);
  print(out);
  return collector.finish();
}

const RecordTable* find_record(std::span<const RecordTable> tables, std::string_view record) {
  const auto found = std::ranges::find(tables, record, &RecordTable::record);
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace telltale
