#include "analysis/runtime/counter_values.h"

#include <bit>
#include <utility>

#include "base/sort_rows.h"
#include "base/varint.h"

namespace telltale {

void CounterValues::on(const CounterDescribed& event) {
  described_.push_back(
      {place_,
       {stream_, event.index, std::string(event.section), std::string(event.name),
        event.section_number, event.type, event.unit, event.variance, event.absolute}});
}

void CounterValues::Packed::add(const Value& value) {
  const Ticks before = begin_block_ ? 0 : last_;
  if (std::exchange(begin_block_, false)) blocks_.emplace_back();
  std::string& to = blocks_.back();
  to += static_cast<char>(value.form);
  append_varint(to, fold_sign(static_cast<int64_t>(value.time - before)));
  switch (value.form) {
    case CounterEvent::Form::signed_number:
      append_varint(to, fold_sign(static_cast<int64_t>(value.number)));
      break;
    case CounterEvent::Form::unsigned_number:
      append_varint(to, value.number);
      break;
    case CounterEvent::Form::real:
      append_varint(to, std::bit_cast<uint64_t>(value.real));
      break;
    case CounterEvent::Form::text:
      append_varint(to, value.text.size());
      to += value.text;
      break;
  }
  if (size_ == 0) first_ = value.time;
  if (size_ != 0 && value.time < last_) in_order_ = false;
  last_ = value.time;
  ++size_;
}

void CounterValues::Packed::append(const Packed& next) {
  if (next.size_ == 0) return;
  in_order_ = next.in_order_ && (size_ == 0 || (in_order_ && next.first_ >= last_));
  if (size_ == 0) first_ = next.first_;
  last_ = next.last_;
  size_ += next.size_;
  blocks_.insert(blocks_.end(), next.blocks_.begin(), next.blocks_.end());
  begin_block_ = true;
}

bool CounterValues::Packed::Reader::next(Value& value) {
  if (blocks_.empty()) return false;
  if (at_ == nullptr) {
    at_ = blocks_[0].data();
    time_ = 0;
  }
  value.form = static_cast<CounterEvent::Form>(*at_++);
  time_ += static_cast<Ticks>(unfold_sign(take_varint(at_)));
  value.time = time_;
  value.number = 0;
  value.real = 0;
  value.text.clear();
  switch (value.form) {
    case CounterEvent::Form::signed_number:
      value.number = static_cast<uint64_t>(unfold_sign(take_varint(at_)));
      break;
    case CounterEvent::Form::unsigned_number:
      value.number = take_varint(at_);
      break;
    case CounterEvent::Form::real:
      value.real = std::bit_cast<double>(take_varint(at_));
      break;
    case CounterEvent::Form::text: {
      const size_t size = take_varint(at_);
      value.text.assign(at_, size);
      at_ += size;
      break;
    }
  }
  if (at_ == blocks_[0].data() + blocks_[0].size()) {
    blocks_ = blocks_.subspan(1);
    at_ = nullptr;
  }
  return true;
}

// The last value in time; the others are summed, which is enough to compute it.
void CounterValues::Values::keep(const Value& value) {
  if (!last) {
    last = value;
  } else if (value.time >= last->time) {
    sum += last->number;
    last = value;
  } else {
    sum += value.number;
  }
}

void CounterValues::on(const CounterEvent& event) {
  Values& values = by_index_[event.index];
  const Value value{event.time, event.form, event.number, event.real, std::string(event.text)};
  if (keep_all_) {
    values.all.add(value);
  } else {
    values.keep(value);
  }
}

void CounterValues::append(const CounterValues& next) {
  described_.insert(described_.end(), next.described_.begin(), next.described_.end());
  for (const auto& [index, theirs] : next.by_index_) {
    Values& ours = by_index_[index];
    ours.all.append(theirs.all);
    ours.sum += theirs.sum;
    if (theirs.last) ours.keep(*theirs.last);
  }
}

namespace {

// Several threads may have written.
CounterValues::Packed sorted_by_time(const CounterValues::Packed& values) {
  if (values.in_order()) return values;
  std::vector<CounterValues::Value> all;
  CounterValues::Value value;
  for (CounterValues::Packed::Reader reader(values); reader.next(value);) all.push_back(value);
  sort_rows(all, {}, &CounterValues::Value::time);
  CounterValues::Packed sorted;
  for (const CounterValues::Value& one : all) sorted.add(one);
  return sorted;
}

}  // namespace

std::vector<CounterValues::Series> CounterValues::series(bool sum_absolute) const {
  std::vector<Described> sorted = described_;
  sort_rows(sorted, {}, &Described::place);
  std::vector<Series> all;
  AddressMap<size_t> known;  // 1 + index into `all`
  for (const Described& description : sorted) {
    size_t& index = known[description.counter.index];
    if (index != 0) {  // described again: the new description counts
      all[index - 1].counter = description.counter;
      continue;
    }
    Series series{description.counter, {}, !description.counter.absolute || sum_absolute, 0};
    if (const Values* values = by_index_.find(description.counter.index)) {
      series.values = sorted_by_time(values->all);
      series.before = values->sum;
      if (values->last) series.values.add(*values->last);
    }
    all.push_back(std::move(series));
    index = all.size();
  }
  return all;
}

}  // namespace telltale
