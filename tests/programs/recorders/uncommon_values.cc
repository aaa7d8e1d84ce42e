// Values of types that few programs log. Also every macro, for compilers' pedantic warnings.
#include <limits>
#include <telltale/stacktrack.hpp>

TELLTALE_FILE_PROPERTY("uncommon values");

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
