#pragma once

#include <string>
#include <string_view>

namespace telltale {

// The meaning of the numbers of a CallTree's nodes, in the terms of profile formats. Times are
// ticks of the tree's clock; bytes and counts use a clock of unknown frequency, which leaves them
// unscaled. Static storage.
struct TreeUnits {
  std::string_view counted = "calls";     // what Node::calls counts
  std::string_view measured = "wall";     // what Node::total and self measure
  std::string_view unit = "nanoseconds";  // of it: nanoseconds, bytes or count
  std::string_view suffix = "ns";         // of it, in keys: ns, bytes or count

  [[nodiscard]] bool is_time() const { return suffix == "ns"; }
  // `measured` for people and JSON: time instead of wall.
  [[nodiscard]] std::string_view measured_name() const {
    return is_time() && measured == "wall" ? "time" : measured;
  }
  // A value as text: "1.5 ms", "12 KiB", "17".
  [[nodiscard]] std::string show(double value) const;
};

}  // namespace telltale
