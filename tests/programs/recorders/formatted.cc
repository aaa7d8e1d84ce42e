// Logged variables whose types have a formatter and no operator<<: std::format's, or fmt's
// (-DWITH_FMT).
#if defined(WITH_FMT)
#include <fmt/format.h>
#else
#include <format>
#endif

#include <string>
#include <telltale/stacktrack.hpp>

namespace shop {
struct Order {
  int number;
  std::string buyer;
};
struct Unformatted {
  int number;
};
}  // namespace shop

#if defined(WITH_FMT)
namespace formatting = fmt;
#else
namespace formatting = std;
#endif

template <>
struct formatting::formatter<shop::Order> : formatting::formatter<int> {
  template <typename Context>
  auto format(const shop::Order& order, Context& context) const {
    return formatting::format_to(context.out(), "order {} of {}", order.number, order.buyer);
  }
};

int main() {
  for (int i = 0; i < 3; ++i) {
    TELLTALE_VALUE("order", shop::Order{i, "a buyer <&> whose name is longer than one record"});
    TELLTALE_VALUE("string", std::string("as it is"));
    TELLTALE_VALUE("number", i * 0.5);
  }
  const auto text = std::string(3000, 'x');
  TELLTALE_VALUE("long", shop::Order{7, text});
#if defined(NO_FORMATTER)
  TELLTALE_VALUE("unformatted", shop::Unformatted{1});
#endif
  return 0;
}
