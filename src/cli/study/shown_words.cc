#include "cli/study/shown_words.h"

#include <cstddef>
#include <string_view>

#include "model/short_name.h"

namespace telltale::cli {
namespace {

void shorten_name(std::string& text, std::string_view name, const std::string& shorter) {
  if (name.empty() || name == shorter) return;
  for (size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + shorter.size()))
    text.replace(at, name.size(), shorter);
}

}  // namespace

ShownWords shown_words(const PredicateWords& words, NameStyle names) {
  if (names != NameStyle::short_names)
    return {.text = words.text, .function = std::string(words.function)};
  ShownWords found{.text = words.text, .function = short_name(words.function)};
  if (!words.names_functions) return found;
  shorten_name(found.text, words.function, found.function);
  shorten_name(found.text, words.callee, short_name(words.callee));
  return found;
}

}  // namespace telltale::cli
