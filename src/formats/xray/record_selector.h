#pragma once

#include <cstdint>

#include "formats/xray/basic_runs.h"
#include "formats/xray/records.h"
#include "formats/xray/yaml_trace.h"

namespace telltale::xray {

// Decides which records of a trace are selected. It has to see every record, in file order (or,
// buffer by buffer, in a thread's order), because the decision may depend on earlier ones.
class RecordSelector {
 public:
  RecordSelector() = default;
  RecordSelector(const RecordSelector&) = delete;
  RecordSelector& operator=(const RecordSelector&) = delete;
  virtual ~RecordSelector() = default;

  // The following FDR records belong to this thread; `tsc` is the time of those before the first
  // one that has a time itself.
  virtual void begin_buffer(int64_t pid, int64_t tid, uint64_t tsc) = 0;
  virtual bool function(const FunctionRecord& record) = 0;
  virtual bool metadata(const FdrRecord& record) = 0;
  virtual bool basic(const BasicRecord& record) = 0;
  virtual bool yaml(const YamlRecord& record) = 0;
  // Whether bytes outside any record (damage, filler) are selected, at the position of the last
  // record.
  [[nodiscard]] virtual bool here() const = 0;
};

}  // namespace telltale::xray
