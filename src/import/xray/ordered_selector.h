#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bytes/cursor.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/record_selector.h"
#include "formats/xray/records.h"

namespace telltale {

// A selection of an FDR trace's records that was made in the order of time, as a call's depth
// needs, for readers that go through the file in its order: buffers of a ring are in another.
// Memory: two bits a record.
class OrderedSelector final : public xray::RecordSelector {
 public:
  // Passes all records to `selector`, each thread's buffers by their first time stamp.
  OrderedSelector(Bytes file, const xray::FileHeader& header, const xray::FdrFrames& frames,
                  xray::RecordSelector& selector);

  // The same buffers and records in file order.
  void begin_buffer(int64_t pid, int64_t tid, uint64_t tsc) override;
  bool function(const xray::FunctionRecord&) override { return next(); }
  bool metadata(const xray::FdrRecord&) override { return next(); }
  [[nodiscard]] bool here() const override { return here_; }
  // FDR traces have none.
  bool basic(const xray::BasicRecord&) override { return false; }
  bool yaml(const xray::YamlRecord&) override { return false; }

 private:
  struct Buffer {
    bool here = false;  // at its beginning
    size_t first = 0;   // of its records
    size_t end = 0;
  };
  struct Collector;
  bool next();

  std::vector<bool> selected_;  // buffer by buffer, in the order of time
  std::vector<bool> here_after_;
  std::vector<Buffer> buffers_;  // in file order
  size_t next_buffer_ = 0;
  size_t at_ = 0;
  size_t end_ = 0;
  bool here_ = true;
};

// Whether some thread's buffers are not in the order of their first time stamps.
bool has_unordered_buffers(const xray::FdrFrames& frames);

}  // namespace telltale
