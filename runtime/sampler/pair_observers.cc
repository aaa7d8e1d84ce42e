// Observations of scalar-pairs: an assigned value is compared with many others.
#include "abi.h"
#include "skip_sites.h"
#include "tallies.h"
#include "timestamps.h"
#include "trace.h"

namespace telltale::sampler {
namespace {

unsigned slot(const SiteGroup& group, uint64_t value, uint64_t operand) {
  if ((group.flags & kSignedValues) != 0) {
    const auto left = static_cast<int64_t>(value);
    const auto right = static_cast<int64_t>(operand);
    return (left > right ? 1U : 0U) + (left >= right ? 1U : 0U);
  }
  return (value > operand ? 1U : 0U) + (value >= operand ? 1U : 0U);
}

void count(const SiteGroup& table, uint64_t index, uint64_t row) {
  record_timestamp(table.first, table.last, row);
  uint64_t* const counter = &table.counters[index];
  if (is_tracing()) telltale_sampler_trace_v1(counter, 0);
  if ((table.flags & kManyThreads) != 0) {
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  } else {
    ++*counter;
  }
}

void observe(const SiteGroup& group, uint32_t index, uint64_t value, uint64_t operand) {
  const uint64_t row = uint64_t{group.row} + index;
  count(group, row * 3 + slot(group, value, operand), row);
}

// observe() of all sites, if counting is all there is to do.
template <typename Number>
void count_all(const SiteGroup& group, uint64_t value, const uint64_t* operands) {
  const auto left = static_cast<Number>(value);
  uint64_t* counter = group.counters + uint64_t{group.row} * 3;
  for (uint32_t i = 0; i < group.sites; ++i, counter += 3) {
    const auto right = static_cast<Number>(operands[i]);
    ++counter[(left > right ? 1 : 0) + (left >= right ? 1 : 0)];
  }
}

}  // namespace
}  // namespace telltale::sampler

__attribute__((visibility("default"))) int32_t
telltale_sampler_pairs_v1(int32_t countdown, const telltale::sampler::SiteGroup* group,
                          uint64_t value, const uint64_t* operands) {
  const bool threads = (group->flags & telltale::sampler::kManyThreads) != 0;
  return telltale::sampler::skip_sites(
      countdown, group->sites, threads ? telltale_sampler_next_r : telltale_sampler_next,
      [&](uint32_t index) { telltale::sampler::observe(*group, index, value, operands[index]); });
}

__attribute__((visibility("default"))) void telltale_sampler_all_pairs_v1(
    const telltale::sampler::SiteGroup* group, uint64_t value, const uint64_t* operands) {
  using namespace telltale::sampler;
  const bool only_counts = group->first == nullptr && group->last == nullptr &&
                           (group->flags & kManyThreads) == 0 && !is_tracing();
  if (only_counts && (group->flags & kSignedValues) != 0)
    return count_all<int64_t>(*group, value, operands);
  if (only_counts) return count_all<uint64_t>(*group, value, operands);
  for (uint32_t i = 0; i < group->sites; ++i)
    telltale::sampler::observe(*group, i, value, operands[i]);
}

__attribute__((visibility("default"))) void telltale_sampler_count_v1(
    const telltale::sampler::SiteGroup* table, uint64_t index, uint64_t row) {
  telltale::sampler::count(*table, index, row);
}

__attribute__((visibility("default"))) void telltale_sampler_add_up_v3(
    uint8_t* block, uint8_t* tallies, const telltale::sampler::TallyBlock* blocks,
    uint64_t* counters, uint32_t rows, uint32_t banks, telltale::sampler::TallyState* state,
    uint32_t is_shared) {
  using namespace telltale::sampler;
  const uint64_t number = static_cast<uint64_t>(block - tallies) / kTallyBytes;
  const TallyBlock& found = blocks[number / banks];
  const uint64_t row = number % banks * rows + found.row;
  const Flush flush(state);
  flush_tallies(counters + row * kPairCounters, block, found.sites,
                is_shared != 0 ? add_atomically : add_uninterrupted);
}
