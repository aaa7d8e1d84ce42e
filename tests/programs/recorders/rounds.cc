// Writes a stream of the layout that its arguments select.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <telltale/stacktrack.hpp>
#include <thread>
#include <vector>

TELLTALE_FILE_PROPERTY("module=demo");

void leaf(int depth) {
  TELLTALE_FUNCTION();
  if (depth > 0) leaf(depth - 1);
}

void work(int rounds) {
  TELLTALE_FUNCTION();
  for (int i = 0; i < rounds; ++i) {
    TELLTALE_BLOCK("round");
    leaf(2);
    if (i % 10 == 0) TELLTALE_VALUE("round number", "this is round " + std::to_string(i));
    if (i == rounds / 2) TELLTALE_STEP("halfway");
  }
}

int main(int, char** argv) {
  telltale::st::FileOptions options;
  options.path = argv[1];
  if (std::strcmp(argv[2], "classic") == 0) options.layout = telltale::st::Layout::classic;
  if (std::strcmp(argv[2], "sparse") == 0) options.clock_every = 16;
  if (std::strcmp(argv[2], "ring") == 0) options.ring_bytes = 64 << 10;
  telltale::st::sink_control::open(options);
  {
    TELLTALE_FUNCTION();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(work, 100);
    for (std::thread& thread : threads) thread.join();
  }
  if (std::strcmp(argv[2], "killed") == 0) raise(SIGKILL);
}
