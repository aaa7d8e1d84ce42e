#pragma once

#include <string>
#include <vector>

namespace telltale::cli {

// What made recordings of one run large, and which options would have kept them small: a sentence
// each, with numbers. Empty for recordings of less than 32 MB together and for those without
// calls. Reads the recordings once.
std::vector<std::string> volume_hints(const std::vector<std::string>& recordings);

}  // namespace telltale::cli
