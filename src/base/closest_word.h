#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telltale {

// How many letters have to be inserted, removed, changed or swapped with a neighbour to get from
// one word to the other (restricted Damerau-Levenshtein distance), whatever their case.
size_t edit_distance(std::string_view a, std::string_view b);

// The word that `typed` was probably meant to be: of those that differ in at most a third of its
// letters, or begin with it, the nearest; of several, the first.
std::optional<std::string> closest_word(std::string_view typed, std::span<const std::string> words);
// The same for a message: "; did you mean --limit?", or nothing.
std::string did_you_mean(std::string_view typed, std::span<const std::string> words);

}  // namespace telltale
