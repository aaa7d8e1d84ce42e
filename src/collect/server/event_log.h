#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace telltale::collect {

// Writes what happens in a server as one JSON object a line: time, level, event, and the given
// members. No token, address of a client or content of a report may be among them. Thread-safe.
class EventLog {
 public:
  using Value = std::variant<std::string, uint64_t, double>;
  using Members = std::initializer_list<std::pair<std::string_view, Value>>;

  explicit EventLog(int file) : file_(file) {}  // descriptor; not owned

  void info(std::string_view event, Members members = {}) { write("info", event, members); }
  void warning(std::string_view event, Members members = {}) { write("warning", event, members); }
  void error(std::string_view event, Members members = {}) { write("error", event, members); }

 private:
  void write(std::string_view level, std::string_view event, Members members);
  int file_;
};

}  // namespace telltale::collect
