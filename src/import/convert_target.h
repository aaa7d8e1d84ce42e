#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output/export_format.h"

namespace telltale {

// A recording format that `convert` writes record by record: a version of the input's own format,
// mostly. Exports of calls and counts are ExportFormats.
struct ConvertTarget {
  OutputName output;
  bool takes_several = false;  // files, which become one
};

// A request for a conversion.
struct ConvertRequest {
  std::string_view target;  // name of one of the format's targets
  std::string
      output_description;  // file with the layout to write, as --format-description; or empty
};

// What a conversion could not represent in the target: descriptions and counts.
using RecordLosses = std::vector<std::pair<std::string, uint64_t>>;

// `Loss` is a format's ConversionLoss.
template <typename Loss>
RecordLosses losses_of(const Loss& loss) {
  RecordLosses losses;
  for (size_t i = 0; i < Loss::kReasons; ++i) {
    const auto reason = static_cast<typename Loss::Reason>(i);
    if (loss.count(reason) != 0) losses.emplace_back(loss_text(reason), loss.count(reason));
  }
  return losses;
}

}  // namespace telltale
