#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace telltale::cli {

// Writes to standard error at once. Ignores errors: there is no other place to report them.
void write_message(std::string_view text);

// Writes the text, or adds it to what this thread collects.
void pass_message(std::string_view text);

// While it lives, the messages that its thread prints are collected instead of written. A thread
// has one at a time.
class CollectedMessages {
 public:
  CollectedMessages();
  ~CollectedMessages();
  CollectedMessages(const CollectedMessages&) = delete;
  CollectedMessages& operator=(const CollectedMessages&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend void pass_message(std::string_view text);
  std::string text_;
};

// Formats a message and passes it on. The format includes the line feed.
template <typename... Args>
void print_message(fmt::format_string<Args...> format, Args&&... args) {
  pass_message(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace telltale::cli
