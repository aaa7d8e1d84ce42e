#include "analysis/runtime/runtime_facts.h"

namespace telltale {

void RuntimeFacts::append(RuntimeFacts&& next) {
  gc.append(next.gc);
  handles.append(next.handles);
  allocations.append(next.allocations);
  exceptions.append(next.exceptions);
  locks.append(next.locks);
  types.append(std::move(next.types));
  early_types.append(next.early_types);
  modules.append(next.modules);
  code.append(next.code);
  all_code.append(next.all_code);
  samples.append(next.samples);
  counters.append(next.counters);
  shots.append(std::move(next.shots));
  coverage.append(next.coverage);
  has_calls = has_calls || next.has_calls;
}

}  // namespace telltale
