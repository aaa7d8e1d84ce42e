#include "cli/options/growth_gate.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string>

#include "cli/options/message.h"
#include "output/escape.h"

namespace telltale::cli {

Result<GrowthGate> GrowthGate::parse(std::string_view text) {
  constexpr std::string_view kName = "growth=";
  const std::string_view number = text.starts_with(kName) ? text.substr(kName.size()) : "";
  GrowthGate gate;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), gate.limit);
  const std::string_view rest(end, static_cast<size_t>(number.data() + number.size() - end));
  gate.percent = rest == "%";
  if (error != std::errc() || !(gate.limit >= 0) || !(rest.empty() || gate.percent))
    return usage_error("--gate needs growth=BYTES or growth=N%, but got " + std::string(text));
  return gate;
}

size_t GrowthGate::complain(std::span<const TypeGrowth> types) const {
  constexpr size_t kShown = 20;
  size_t found = 0;
  for (const TypeGrowth& type : types) {
    if (!type.grows_steadily()) continue;
    const auto first = static_cast<double>(type.by_shot.front().bytes);
    const double allowed = percent ? first * limit / 100 : limit;
    if (static_cast<double>(type.bytes()) <= allowed) continue;
    if (++found > kShown) continue;
    print_message("telltale: gate: {} grew from {} to {} bytes over {} heap shots\n",
                  visible(type.type), type.by_shot.front().bytes, type.by_shot.back().bytes,
                  type.by_shot.size());
  }
  if (found > kShown) print_message("telltale: gate: {} more\n", found - kShown);
  return found;
}

}  // namespace telltale::cli
