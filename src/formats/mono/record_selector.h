#pragma once

#include <cstdint>

#include "formats/mono/records.h"

namespace telltale::mono {

// Selects events. It has to see all events in order, buffer by buffer.
class RecordSelector {
 public:
  RecordSelector() = default;
  RecordSelector(const RecordSelector&) = default;
  RecordSelector& operator=(const RecordSelector&) = default;
  virtual ~RecordSelector() = default;

  virtual void begin_buffer(int64_t pid, uint64_t thread) = 0;
  virtual bool call(uint64_t time, const Call& call) = 0;
  [[nodiscard]] virtual bool other(uint64_t time) const = 0;  // any event except a call
};

}  // namespace telltale::mono
