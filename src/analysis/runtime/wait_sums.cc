#include "analysis/runtime/wait_sums.h"

namespace telltale {

void WaitSums::add(const RuntimeTimeline::Wait& wait) {
  const Ticks length = wait.end ? *wait.end - wait.begin : 0;
  ++(!wait.end ? unfinished : wait.acquired ? acquired : failed);
  total += length;
  lengths_.push_back(length);
  locks_.insert(to_number(wait.object));
  threads_.insert(wait.stream);
}

}  // namespace telltale
