#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "output/table/field.h"

namespace telltale {

class DumpOutput;

// One kind of record of a format as `dump` prints it: a table, whose columns are the fields that
// the format's grammar lists, in that order. Each row begins with the columns `offset` and
// `record`, which are not repeated here.
struct RecordTable {
  std::string record;          // "NewBuffer"
  std::vector<Field> columns;  // not `always`: some records of the kind do not have it
  // Files of the format may have further fields: their names are in the file.
  bool open = false;
};

// The kinds of records that print(out) prints, in the order of their first. `print` prints one
// record of every shape that the grammar can give each kind; values do not matter.
// `declared`: type, unit and sentence of each key, for all kinds ("tid") or for one
// ("NewBuffer.tid"), but not of the kinds Problem and Skipped; they outlive the result. Throws
// std::logic_error if a key is not declared or has another type, or if a declaration is not used.
std::vector<RecordTable> record_tables(std::span<const Field> declared,
                                       const std::function<void(DumpOutput& out)>& print);

// Null if there is none.
const RecordTable* find_record(std::span<const RecordTable> tables, std::string_view record);

// Collects the tables; a DumpOutput tells it what it prints.
class RecordCollector {
 public:
  explicit RecordCollector(std::span<const Field> declared)
      : declared_(declared), used_(declared.size()) {}
  void begin(std::string_view record);
  // `may_lack`: the field is not printed for every value.
  void field(std::string_view key, ValueType type, bool may_lack);
  void end();
  // Throws if a declaration is not used.
  [[nodiscard]] std::vector<RecordTable> finish();

 private:
  struct Column {
    Field field;
    size_t seen = 0;  // records that have it
    bool may_lack = false;
  };
  struct Kind {
    std::string record;
    std::vector<Column> columns;
    size_t seen = 0;  // records
  };
  const Field& declaration(std::string_view key);

  std::span<const Field> declared_;
  std::vector<bool> used_;
  std::vector<Kind> kinds_;
  Kind* kind_ = nullptr;  // of the open record
  size_t next_ = 0;       // column after the record's last one
};

}  // namespace telltale
