#include <telltale/stacktrack.hpp>
#include <thread>
// Each pair of threads gets the places of the pair before.
static void work() { TELLTALE_STEP("step"); }
int main() {
  for (int i = 0; i < 200; ++i) {
    std::thread one(work);
    std::thread other(work);
    one.join();
    other.join();
  }
}
