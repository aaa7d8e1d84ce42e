// Values of types that few programs log. Also every macro, for compilers' pedantic warnings.
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>
#include <telltale/stacktrack.hpp>

TELLTALE_FILE_PROPERTY("uncommon values");

namespace {
struct Unprintable {
  friend std::ostream& operator<<(std::ostream& stream, const Unprintable&) {
    stream << "half";
    throw std::runtime_error("cannot be printed");
  }
};
struct Unconvertible {
  operator std::string_view() const { throw std::runtime_error("cannot be converted"); }
};
}  // namespace

int main() {
  TELLTALE_FUNCTION();
  TELLTALE_BLOCK("values");
  TELLTALE_STEP("first");
  {
    TELLTALE_BLOCK("");
  }
  TELLTALE_VALUE("none", nullptr);
  volatile char letter = 'x';
  volatile int number = -5;
  volatile double real = 1.5;
  int* volatile place = nullptr;
  TELLTALE_VALUE("volatile", letter);
  TELLTALE_VALUE("volatile", number);
  TELLTALE_VALUE("volatile", real);
  TELLTALE_VALUE("volatile", place);
  TELLTALE_VALUE("throws", Unprintable{});
  TELLTALE_VALUE("throws", Unconvertible{});
  const wchar_t* const no_text = nullptr;
  const char unterminated[] = {'a', 'b', 'c'};
  TELLTALE_VALUE("text", L"w\u00e4\u20ac\U0001F600");
  TELLTALE_VALUE("text", std::wstring(L"wide"));
  TELLTALE_VALUE("text", u"w\u00e4\u20ac\U0001F600");
  TELLTALE_VALUE("text", std::u16string({0xd83d, u'x', 0xde00}));
  TELLTALE_VALUE("text", U"w\u00e4\u20ac\U0001F600");
  TELLTALE_VALUE("text", std::u32string({0x110000, 0xd800}));
  TELLTALE_VALUE("text", u8"w\u00e4\u20ac\U0001F600");
#ifdef __cpp_lib_char8_t
  TELLTALE_VALUE("text", std::u8string(u8"eight"));
#endif
  TELLTALE_VALUE("text", no_text);
  TELLTALE_VALUE("text", unterminated);
  TELLTALE_VALUE("text", std::wstring(3000, L'\u20ac'));
  void (*const function)() = std::terminate;
  TELLTALE_VALUE("function", function);
  TELLTALE_VALUE("function", std::terminate);
#ifdef __SIZEOF_INT128__
  using Wide = telltale::st::detail::Int128;
  using Unsigned = telltale::st::detail::Uint128;
  TELLTALE_VALUE("wide", (static_cast<Wide>(1) << 100) + 5);
  TELLTALE_VALUE("wide", -(static_cast<Wide>(1) << 100));
  TELLTALE_VALUE("wide", static_cast<Wide>(static_cast<Unsigned>(1) << 127));
  TELLTALE_VALUE("wide", ~static_cast<Unsigned>(0));
  TELLTALE_VALUE("wide", static_cast<Wide>(0));
#endif
  return 0;
}
