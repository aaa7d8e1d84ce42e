#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/runtime/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// The runtime's counters, and their values over time. docs/analysis/mono.md, "counters". A part:
// append() merges pieces in any order, because several threads may write, and a difference is
// relative to the previous value in time.
class CounterValues {
 public:
  struct Counter {
    size_t stream = 0;  // a thread of its process
    uint64_t index = 0;
    std::string section;
    std::string name;
    uint64_t section_number = 0;
    uint64_t type = 0;
    uint64_t unit = 0;
    uint64_t variance = 0;
    bool absolute = false;
  };
  struct Value {
    Ticks time = 0;
    CounterEvent::Form form{};
    uint64_t number = 0;  // as recorded: a difference, unless the counter is absolute
    double real = 0;
    std::string text;
  };
  // Values in some ten bytes each.
  class Packed {
   public:
    void add(const Value& value);
    void append(const Packed& next);
    [[nodiscard]] size_t size() const { return size_; }
    [[nodiscard]] bool in_order() const { return in_order_; }  // of time

    // In insertion order.
    class Reader {
     public:
      explicit Reader(const Packed& values) : blocks_(values.blocks_) {}
      bool next(Value& value);  // false: there is none

     private:
      std::span<const std::string> blocks_;
      const char* at_ = nullptr;  // in blocks_[0]; null: at its beginning
      Ticks time_ = 0;
    };

   private:
    std::vector<std::string> blocks_;  // one for each piece; each begins with an absolute time
    size_t size_ = 0;
    bool begin_block_ = true;  // the next value begins with an absolute time
    bool in_order_ = true;
    Ticks first_ = 0;
    Ticks last_ = 0;
  };
  // A counter's values over time. Signed numbers are two's complement.
  struct Series {
    Counter counter;
    Packed values;      // in order of time, as recorded
    bool sums = false;  // numbers add up
    uint64_t before = 0;

    class Reader {
     public:
      explicit Reader(const Series& series)
          : values_(series.values), sums_(series.sums), sum_(series.before) {}
      bool next(Value& value) {
        if (!values_.next(value)) return false;
        if (sums_) value.number = sum_ += value.number;
        return true;
      }

     private:
      Packed::Reader values_;
      bool sums_;
      uint64_t sum_;
    };
    template <typename Use>
    void for_each(Use use) const {
      Value value;
      for (Reader reader(*this); reader.next(value);) use(std::as_const(value));
    }
  };

  // `keep_all`: every value, otherwise only the last of each counter.
  explicit CounterValues(bool keep_all = true) : keep_all_(keep_all) {}

  void on(const PieceEvent& event) {
    place_ = event.offset;
    stream_ = event.stream;
  }
  void on(const CounterDescribed& event);
  void on(const CounterEvent& event);
  void append(const CounterValues& next);

  // In the order in which counters were described. `sum_absolute`: sum absolute numbers as if they
  // were differences, like mprof-report. A counter without a description is omitted.
  [[nodiscard]] std::vector<Series> series(bool sum_absolute = false) const;

 private:
  struct Described {
    uint64_t place = 0;
    Counter counter;
  };
  struct Values {
    Packed all;  // with keep_all_; otherwise
    std::optional<Value> last;
    uint64_t sum = 0;  // of the other differences

    void keep(const Value& value);
  };

  bool keep_all_;
  uint64_t place_ = 0;
  size_t stream_ = 0;
  std::vector<Described> described_;
  AddressMap<Values> by_index_;
};

}  // namespace telltale
