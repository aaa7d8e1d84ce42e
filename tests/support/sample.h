#pragma once

#include <string>

namespace telltale::testing {

// A small input file that tests, golden files and fuzz corpora are made of.
struct Sample {
  std::string name;  // a file name: letters, digits, underscores, dots; fdr, basic or tlg
  std::string bytes;
  bool valid = true;  // by the letter of the format's grammar
};

}  // namespace telltale::testing
