// Side records of telltale's XRay recorder: read, named, printed. The programs that they name are
// not opened: their paths are made relative.
#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/xray/side_record.h"
#include "import/merged_names.h"
#include "import/recorded_names.h"
#include "import/xray/xray_side_record.h"

using namespace telltale;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  ProblemLog problems;
  Result<xray::SideRecord> record = xray::read_side_record(bytes, "fuzz", problems);
  if (record.has_value() && !xray::looks_like_side_record(bytes)) __builtin_trap();
  if (!record) return 0;
  size_t text = 0;
  for (xray::SideObject& object : record->objects) {
    text += object.path.size() + object.build_id.size() / 2;
    object.path.insert(0, "./");
  }
  if (text > size || record->functions.size() > size / sizeof(uint64_t)) __builtin_trap();
  side_properties(*record);
  std::vector<uint32_t> ids = {0, 1, 17, xray::kFirstAssignedId, 0xffff'ffff};
  for (const xray::SideFunction& function : record->functions) ids.push_back(function.id);
  for (const xray::SideObject& object : record->objects) ids.push_back(object.id_base + 1);
  if (ids.size() > 1000) ids.resize(1000);
  auto names = RecordedNames::open(*std::move(record), {}, problems);
  if (!names) __builtin_trap();
  MergedNames merged;
  const IdMap map = merged.add(*names);
  for (const uint32_t id : ids) {
    if ((*names)->describe(FunctionId{id}).name.empty()) __builtin_trap();
    if (merged.describe(map(FunctionId{id})).name.empty()) __builtin_trap();
  }
  return 0;
}
