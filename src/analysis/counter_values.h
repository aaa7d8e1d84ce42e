#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// The runtime's counters, and their values over time. docs/analysis/mono.md, "counters". A part:
// append() puts pieces together in any order: several threads may write, and what is a difference
// is one from the value before it in time.
class CounterValues {
 public:
  struct Counter {
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
  struct Series {
    Counter counter;
    std::vector<Value> values;  // numbers are whole values; signed ones two's complement
  };

  // `keep_all`: every value, else only the last of each counter.
  explicit CounterValues(bool keep_all = true) : keep_all_(keep_all) {}

  void on(const PieceEvent& event) { place_ = event.offset; }
  void on(const CounterDescribed& event);
  void on(const CounterEvent& event);
  void append(const CounterValues& next);

  // In the order in which counters were described. `sum_absolute`: add absolute numbers up as if
  // they were differences, which is what mprof-report does. A counter that is never described is
  // left out.
  [[nodiscard]] std::vector<Series> series(bool sum_absolute = false) const;

 private:
  struct Told {
    uint64_t place = 0;
    Counter counter;
  };
  struct Values {
    std::vector<Value> all;
    uint64_t dropped_sum = 0;  // of differences that came before all[0]
  };
  void keep_last(Values& values) const;

  bool keep_all_;
  uint64_t place_ = 0;
  std::vector<Told> told_;
  AddressMap<Values> by_index_;
};

}  // namespace telltale
