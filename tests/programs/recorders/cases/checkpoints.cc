#include <telltale/stacktrack.hpp>
static int price(int n) { TELLTALE_FUNCTION(); TELLTALE_VALUE("n", n); return n * 3; }
int main() { TELLTALE_FUNCTION(); int sum = 0; for (int i = 0; i < 4; ++i) sum += price(i); return sum == 18 ? 0 : 1; }
