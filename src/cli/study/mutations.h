#pragma once

#include <random>
#include <span>
#include <string>

namespace telltale::cli {

// A copy of `input` with one to four small changes, such as a fuzzer makes: bits, bytes and numbers
// are changed, ranges removed, repeated or taken from one of `others`. It differs from `input`,
// unless that is empty and `others` are. The same generator state gives the same answer on every
// machine. At most `most_bytes` long.
std::string mutate(const std::string& input, std::span<const std::string> others, size_t most_bytes,
                   std::mt19937_64& random);

}  // namespace telltale::cli
