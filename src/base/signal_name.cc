#include "base/signal_name.h"

#include <fmt/format.h>

#include <cstring>

namespace telltale {

std::optional<std::string> signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  if (name == nullptr) return std::nullopt;
  return fmt::format("SIG{}", name);
}

std::string signal_words(int number) {
  return signal_name(number).value_or(fmt::format("signal {}", number));
}

}  // namespace telltale
