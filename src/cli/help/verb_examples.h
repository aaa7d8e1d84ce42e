#pragma once

#include <span>
#include <string_view>

namespace telltale::cli {

// A command line and what it does, for help and manual pages.
struct Example {
  std::string_view command;
  std::string_view meaning;  // one line, without a full stop
};

// Examples of a verb, or of telltale itself for "". Empty for an unknown name. Every verb has some;
// a test runs the command line of each as far as its options.
std::span<const Example> examples_of(std::string_view verb);

}  // namespace telltale::cli
