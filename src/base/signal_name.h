#pragma once

#include <optional>
#include <string>

namespace telltale {

// "SIGSEGV" for 11, as this machine numbers signals; empty for numbers without a name.
std::optional<std::string> signal_name(int number);
// The name, or "signal 42".
std::string signal_words(int number);

}  // namespace telltale
