#include <cstdlib>
#include <telltale/stacktrack.hpp>
// Writes past the end of an array, with a ring in memory that is to be dumped to argv[1].
int main(int argc, char** argv) {
  telltale::st::RingOptions options;
  options.dump_on_crash = argv[1];
  telltale::st::sink_control::open(options);
  volatile char* text = static_cast<char*>(std::malloc(10));
  for (int i = 0; i < 10 + (argc > 2); ++i) {
    TELLTALE_STEP("write");
    text[i] = 'x';
  }
  std::free(const_cast<char*>(text));
}
