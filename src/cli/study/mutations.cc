#include "cli/study/mutations.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace telltale::cli {
namespace {

// The distributions of the standard library differ between implementations.
size_t below(size_t limit, std::mt19937_64& random) {
  return static_cast<size_t>(random() % limit);
}

constexpr std::array<uint8_t, 9> kEdges = {0, 1, 0x7f, 0x80, 0xff, ' ', '\n', '0', '9'};
constexpr size_t kLongestRange = 32;

struct Range {
  size_t begin = 0;
  size_t length = 0;
};

// A random range of the text, of at least one byte. REQUIRES: the text is not empty.
Range choose_range(const std::string& text, std::mt19937_64& random) {
  const size_t begin = below(text.size(), random);
  return {begin, 1 + below(std::min(kLongestRange, text.size() - begin), random)};
}

void change_digits(std::string& text, std::mt19937_64& random) {
  const size_t from = below(text.size(), random);
  const size_t at = text.find_first_of("0123456789", from);
  if (at == std::string::npos) {
    text[from] = static_cast<char>(kEdges[below(kEdges.size(), random)]);
  } else {
    text[at] = static_cast<char>('0' + below(10, random));
  }
}

void insert_from(std::string& text, const std::string& source, std::mt19937_64& random) {
  if (source.empty()) return;
  const Range range = choose_range(source, random);
  text.insert(below(text.size() + 1, random), source.substr(range.begin, range.length));
}

void change(std::string& text, std::span<const std::string> others, std::mt19937_64& random) {
  const std::string& other = others.empty() ? text : others[below(others.size(), random)];
  if (text.empty()) {
    const std::string source = other;
    return insert_from(text, source, random);
  }
  const size_t at = below(text.size(), random);
  switch (below(8, random)) {
    case 0:
      text[at] = static_cast<char>(text[at] ^ (1 << below(8, random)));
      break;
    case 1:
      text[at] = static_cast<char>(random());
      break;
    case 2:
      text[at] = static_cast<char>(kEdges[below(kEdges.size(), random)]);
      break;
    case 3:
      text[at] = static_cast<char>(text[at] + (below(2, random) == 0 ? 1 : -1));
      break;
    case 4:
      change_digits(text, random);
      break;
    case 5: {
      const Range range = choose_range(text, random);
      text.erase(range.begin, range.length);
      break;
    }
    case 6: {
      const std::string source = text;
      insert_from(text, source, random);
      break;
    }
    default: {
      const std::string source = other;
      insert_from(text, source, random);
    }
  }
}

}  // namespace

std::string mutate(const std::string& input, std::span<const std::string> others, size_t most_bytes,
                   std::mt19937_64& random) {
  constexpr size_t kMostChanges = 4;
  constexpr size_t kAttempts = 16;
  std::string text = input;
  for (size_t attempt = 0; attempt < kAttempts && text == input; ++attempt) {
    const size_t changes = 1 + below(kMostChanges, random);
    for (size_t i = 0; i < changes; ++i) change(text, others, random);
    if (text.size() > most_bytes) text.resize(most_bytes);
  }
  return text;
}

}  // namespace telltale::cli
