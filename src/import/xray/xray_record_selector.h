#pragma once

#include <cstdint>
#include <optional>

#include "formats/xray/record_selector.h"
#include "import/id_map.h"
#include "model/clock.h"
#include "model/record_filter.h"

namespace telltale {

// A call filter, for the records of an XRay trace. `filter` must outlive it.
class XrayRecordSelector final : public xray::RecordSelector {
 public:
  // `file_clock`: clock of the file, if the recording's clock differs and counts nanoseconds.
  // `ids`: maps the file's ids to the recording's, if they differ; must outlive it. Null: the
  // filter's function_at does, if there is one.
  // `process`: of buffers that do not say theirs; 0: unknown.
  XrayRecordSelector(RecordFilter& filter, std::optional<Clock> file_clock,
                     const IdMap* ids = nullptr, uint32_t process = 0)
      : filter_(filter), file_clock_(std::move(file_clock)), ids_(ids), process_(process) {}

  void begin_buffer(int64_t pid, int64_t tid, uint64_t tsc) override;
  bool function(const xray::FunctionRecord& record) override;
  bool metadata(const xray::FdrRecord& record) override;
  bool basic(const xray::BasicRecord& record) override;
  bool yaml(const xray::YamlRecord& record) override;
  [[nodiscard]] bool here() const override;

  // The time of the last record, on the recording's clock.
  [[nodiscard]] Ticks now() const { return to_ticks(tsc_); }

 private:
  [[nodiscard]] Ticks to_ticks(uint64_t tsc) const {
    return file_clock_ ? file_clock_->to_ns(tsc) : tsc;
  }
  [[nodiscard]] FunctionId function_of(uint32_t id) const;
  RecordFilter::Thread& at(int64_t pid, int64_t tid);

  RecordFilter& filter_;
  std::optional<Clock> file_clock_;
  const IdMap* ids_;
  uint32_t process_;
  RecordFilter::Thread* thread_ = nullptr;
  ThreadKey key_;
  uint64_t tsc_ = 0;
  bool last_call_chosen_ = false;  // selects its arguments with it
};

}  // namespace telltale
