#pragma once

#include <fmt/format.h>

#include <deque>
#include <mutex>

#include "model/function_map.h"
#include "model/function_names.h"

namespace telltale {

// Names for a recording without a program: "#17".
class IdNames : public FunctionNames {
 public:
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    const std::lock_guard lock(mutex_);
    const FunctionInfo*& known = known_[id];
    if (known == nullptr) {
      FunctionInfo& info = infos_.emplace_back();
      info.name = fmt::format("#{}", to_number(id));
      known = &info;
    }
    return *known;
  }

 private:
  mutable std::mutex mutex_;
  mutable FunctionMap<const FunctionInfo*> known_;
  mutable std::deque<FunctionInfo> infos_;
};

}  // namespace telltale
