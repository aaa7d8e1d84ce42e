#include "analysis/counter_values.h"

#include <algorithm>
#include <utility>

namespace telltale {

void CounterValues::on(const CounterDescribed& event) {
  told_.push_back({place_,
                   {event.index, std::string(event.section), std::string(event.name),
                    event.section_number, event.type, event.unit, event.variance, event.absolute}});
}

// All but the last value in time are summed up: enough for it to be told.
void CounterValues::keep_last(Values& values) const {
  if (keep_all_ || values.all.size() < 2) return;
  size_t last = 0;
  for (size_t i = 0; i < values.all.size(); ++i) {
    values.dropped_sum += values.all[i].number;
    if (values.all[i].time >= values.all[last].time) last = i;
  }
  values.dropped_sum -= values.all[last].number;
  Value kept = std::move(values.all[last]);
  values.all.clear();
  values.all.push_back(std::move(kept));
}

void CounterValues::on(const CounterEvent& event) {
  Values& values = by_index_[event.index];
  values.all.push_back({event.time, event.form, event.number, event.real, std::string(event.text)});
  keep_last(values);
}

void CounterValues::append(const CounterValues& next) {
  told_.insert(told_.end(), next.told_.begin(), next.told_.end());
  for (const auto& [index, theirs] : next.by_index_) {
    Values& ours = by_index_[index];
    if (theirs.all.empty()) continue;
    ours.all.insert(ours.all.end(), theirs.all.begin(), theirs.all.end());
    ours.dropped_sum += theirs.dropped_sum;
    keep_last(ours);
  }
}

std::vector<CounterValues::Series> CounterValues::series(bool sum_absolute) const {
  std::vector<Told> sorted = told_;
  std::ranges::stable_sort(sorted, {}, &Told::place);
  std::vector<Series> all;
  AddressMap<size_t> known;  // 1 + index into `all`
  for (const Told& told : sorted) {
    size_t& index = known[told.counter.index];
    if (index != 0) {  // described again: the new words count
      all[index - 1].counter = told.counter;
      continue;
    }
    Series series{told.counter, {}};
    if (const Values* values = by_index_.find(told.counter.index)) {
      series.values = values->all;
      std::ranges::stable_sort(series.values, {}, &Value::time);
      uint64_t sum = values->dropped_sum;
      for (Value& value : series.values) {
        if (told.counter.absolute && !sum_absolute) continue;
        sum += value.number;
        value.number = sum;
      }
    }
    all.push_back(std::move(series));
    index = all.size();
  }
  return all;
}

}  // namespace telltale
