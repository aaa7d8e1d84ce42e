#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/range_map.h"
#include "import/id_map.h"
#include "import/recorded_names.h"
#include "model/function_names.h"

namespace telltale {

// Names for a recording of several processes, or of one that numbered a function twice. Each file's
// side record defines its ids separately; functions with the same object (path and build-id) and
// the same number or address in it are merged. Functions without a map that the first file has keep
// their ids.
class MergedNames final : public FunctionNames {
 public:
  // Adds a file. Null: a file without a side record, whose functions are "#17". Must not run
  // concurrently with describe().
  IdMap add(const std::shared_ptr<const RecordedNames>& names);
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override;

 private:
  using ObjectKey = std::pair<std::string, std::string>;  // path, build-id
  struct Owner {
    const RecordedNames* names;
    uint32_t base;  // offset from the recording's ids to the file's, modulo 2^32
  };

  std::vector<std::shared_ptr<const RecordedNames>> files_;
  // The first file whose side record has a name of the function, and its id there: the owner's may
  // have none, if the function was not called there.
  std::unordered_map<FunctionId, std::pair<const RecordedNames*, FunctionId>> kept_;
  std::map<std::pair<ObjectKey, uint32_t>, uint32_t> id_bases_;  // by object and its functions
  std::map<std::pair<ObjectKey, uint64_t>, uint32_t> assigned_;  // by object and link-time address
  std::vector<Owner> owners_;
  RangeMap owner_by_id_;
  uint32_t next_id_ = 0;
  uint32_t next_assigned_ = xray::kFirstAssignedId;
  mutable std::mutex mutex_;
  mutable std::unordered_map<FunctionId, FunctionInfo> unexplained_;
};

}  // namespace telltale
