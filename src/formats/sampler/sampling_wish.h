// How runs are to be sampled, as somebody other than the program's caller wishes: texts of
// docs/formats/collect.md. Shared with the runtime, which has no C++ library.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace telltale::sampler {

// With -fsampler-adaptive: how many executions of each place are observed at first, if nobody says.
constexpr uint8_t kFirstExecutions = 100;
constexpr uint32_t kMostSparsity = 1'000'000'000;

constexpr char kSpoolSampling[] = "sampling";  // the spool's file of rules of the user
constexpr size_t kSamplingFileBytes = 16384;   // of which so much is read

struct SamplingWish {
  uint32_t sparsity = 0;   // at most kMostSparsity; 0: nothing is sampled
  bool has_rates = false;  // "uniform", "adaptive" or "adaptive:N" follows
  uint8_t first = 0;       // executions that are observed at first; 0: uniform
};

// A text that is read from its beginning.
struct WishText {
  const char* at = nullptr;
  const char* end = nullptr;
};

// The next word of a text, between blanks, tabs, and line ends; empty at its end.
inline WishText next_wish_word(WishText& text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (text.at < text.end && is_blank(*text.at)) ++text.at;
  WishText word{text.at, text.at};
  while (word.end < text.end && !is_blank(*word.end)) ++word.end;
  text.at = word.end;
  return word;
}

// Is the word `expected`, or does it begin with it? `expected` ends with NUL.
inline bool is_wish_word(const WishText& word, const char* expected) {
  const char* at = word.at;
  while (at < word.end && *expected != 0 && *at == *expected) ++at, ++expected;
  return at == word.end && *expected == 0;
}
inline bool begins_wish_word(const WishText& word, const WishText& beginning) {
  const char* at = word.at;
  const char* other = beginning.at;
  while (at < word.end && other < beginning.end && *at == *other) ++at, ++other;
  return other == beginning.end;
}

// A number of at most `most` in decimal digits, without a sign. Returns whether it is one.
inline bool read_wish_number(const WishText& word, uint32_t most, uint32_t& number) {
  uint64_t value = 0;
  for (const char* at = word.at; at < word.end; ++at) {
    if (*at < '0' || *at > '9') return false;
    value = value * 10 + static_cast<uint64_t>(*at - '0');
    if (value > most) return false;
  }
  number = static_cast<uint32_t>(value);
  return word.at < word.end;
}

// "uniform", "adaptive", or "adaptive:N" with N from 1 to 255. Returns whether it is one of them.
inline bool read_rates(const WishText& word, uint8_t& first) {
  constexpr char kCounted[] = "adaptive:";
  if (is_wish_word(word, "uniform")) {
    first = 0;
    return true;
  }
  if (is_wish_word(word, "adaptive")) {
    first = kFirstExecutions;
    return true;
  }
  const WishText beginning{kCounted, kCounted + sizeof(kCounted) - 1};
  uint32_t number = 0;
  if (!begins_wish_word(word, beginning) ||
      !read_wish_number({word.at + sizeof(kCounted) - 1, word.end}, UINT8_MAX, number) ||
      number == 0)
    return false;
  first = static_cast<uint8_t>(number);
  return true;
}

// "SPARSITY" or "SPARSITY RATES", and nothing else. Returns whether it is one of them; if not,
// `wish` is not changed.
inline bool read_sampling_wish(WishText text, SamplingWish& wish) {
  SamplingWish found;
  if (!read_wish_number(next_wish_word(text), kMostSparsity, found.sparsity)) return false;
  const WishText rates = next_wish_word(text);
  found.has_rates = rates.at < rates.end;
  if (found.has_rates && !read_rates(rates, found.first)) return false;
  const WishText rest = next_wish_word(text);
  if (rest.at < rest.end) return false;
  wish = found;
  return true;
}

// The first line "APPLICATION BUILD SPARSITY [RATES]" that fits: BUILD is how the build begins, or
// "*". Lines that begin with "#", and lines that are not of this form, do not count. Returns
// whether there is one.
inline bool find_sampling_rule(WishText text, const char* application, const WishText& build,
                               SamplingWish& wish) {
  while (text.at < text.end) {
    WishText line{text.at, text.at};
    while (line.end < text.end && *line.end != '\n') ++line.end;
    text.at = line.end < text.end ? line.end + 1 : line.end;
    const WishText name = next_wish_word(line);
    const WishText beginning = next_wish_word(line);
    if (!is_wish_word(name, application) || beginning.at == beginning.end) continue;
    if (!is_wish_word(beginning, "*") && !begins_wish_word(build, beginning)) continue;
    if (read_sampling_wish(line, wish)) return true;
  }
  return false;
}

}  // namespace telltale::sampler
