// Values of types that few programs log. Also every macro, for compilers' pedantic warnings.
#include <limits>
#include <telltale/stacktrack.hpp>

TELLTALE_FILE_PROPERTY("uncommon values");

int main() {
  TELLTALE_FUNCTION();
  TELLTALE_BLOCK("values");
  TELLTALE_STEP("first");
  TELLTALE_VALUE("none", nullptr);
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
