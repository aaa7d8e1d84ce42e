// A file, and a ring in memory that is open at the same time: argv[1], and argv[2] and argv[3],
// to which the ring is written twice.
#include <telltale/stacktrack.hpp>
#include <thread>

namespace {

void step() { TELLTALE_FUNCTION(); }

void steps(int times) {
  TELLTALE_FUNCTION();
  for (int i = 0; i < times; ++i) step();
}

void both(int times) {
  std::thread other(steps, times);
  steps(times);
  other.join();
}

}  // namespace

int main(int, char** argv) {
  namespace st = telltale::st;
  st::FileOptions file;
  file.path = argv[1];
  const int to_file = st::sink_control::open(file);
  both(100);
  const int ring = st::sink_control::open(st::RingOptions{});
  both(20);
  st::sink_control::dump(ring, argv[2]);
  st::sink_control::close(to_file);
  both(3);
  st::sink_control::dump(ring, argv[3]);
}
