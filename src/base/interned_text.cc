#include "base/interned_text.h"

#include <mutex>
#include <set>

namespace telltale {

struct InternedText::Texts {
  std::mutex mutex;
  std::set<std::string, std::less<>> all;
};

InternedText::Texts& InternedText::texts() {
  static Texts texts;
  return texts;
}

InternedText::InternedText(std::string_view text) : text_(&empty()) {
  if (text.empty()) return;
  auto& [mutex, all] = texts();
  const std::scoped_lock lock(mutex);
  const auto known = all.find(text);
  text_ = known == all.end() ? &*all.emplace(text).first : &*known;
}

size_t InternedText::count() {
  auto& [mutex, all] = texts();
  const std::scoped_lock lock(mutex);
  return all.size();
}

const std::string& InternedText::empty() {
  static const std::string kEmpty;
  return kEmpty;
}

}  // namespace telltale
