#pragma once

#include <string>

namespace telltale::testing {

// A small input file of tests, golden files and fuzz corpora.
struct Sample {
  std::string name;  // a file name: letters, digits, underscores, dots; fdr, basic or tlg
  std::string bytes;
  bool valid = true;  // strictly follows the format's grammar
};

}  // namespace telltale::testing
