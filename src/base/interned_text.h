#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace telltale {

// A text that is kept once in the process, until it ends: copying it and comparing equal texts
// takes the time of a pointer. For texts of which there are few, and which nobody can send to a
// process: names of source files that its programs were compiled from.
class InternedText {
 public:
  InternedText() : text_(&empty()) {}
  // Looks the text up among all, which threads may do at once.
  InternedText(std::string_view text);
  InternedText(const std::string& text) : InternedText(std::string_view(text)) {}
  InternedText(const char* text) : InternedText(std::string_view(text)) {}

  // Valid until the process ends.
  [[nodiscard]] const std::string& str() const { return *text_; }
  operator const std::string&() const { return *text_; }
  // How many texts are kept.
  static size_t count();

  friend bool operator==(const InternedText& a, const InternedText& b) {
    return a.text_ == b.text_;
  }
  friend bool operator==(const InternedText& a, const std::string& b) { return *a.text_ == b; }
  // The order of the texts.
  friend std::strong_ordering operator<=>(const InternedText& a, const InternedText& b) {
    return a.text_ == b.text_ ? std::strong_ordering::equal : *a.text_ <=> *b.text_;
  }

 private:
  struct Texts;
  static Texts& texts();
  static const std::string& empty();

  const std::string* text_;
};

}  // namespace telltale
