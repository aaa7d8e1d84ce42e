#include "base/interned_text.h"

#include <mutex>
#include <set>

namespace telltale {

InternedText::InternedText(std::string_view text) : text_(&empty()) {
  if (text.empty()) return;
  static std::mutex mutex;
  static std::set<std::string, std::less<>> texts;
  const std::scoped_lock lock(mutex);
  const auto known = texts.find(text);
  text_ = known == texts.end() ? &*texts.emplace(text).first : &*known;
}

const std::string& InternedText::empty() {
  static const std::string kEmpty;
  return kEmpty;
}

}  // namespace telltale
