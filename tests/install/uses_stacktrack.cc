// An external program with checkpoints: prints the file that they are recorded in.

#include <cstdio>
#include <telltale/stacktrack.hpp>

TELLTALE_FILE_PROPERTY("owner=stranger");

static double half(int number) {
  TELLTALE_FUNCTION();
  const double result = number / 2.0;
  TELLTALE_VALUE("stranger's value", result);
  return result;
}

int main(int argc, char** argv) {
#ifdef TELLTALE_STACKTRACK_DISABLED
  std::puts("none");
  (void)argv;
#else
  using telltale::st::sink_control;
  telltale::st::FileOptions options;
  options.directory = argv[1];
  const int sink = sink_control::open(options);
  if (sink < 0) return 1;
  std::puts(sink_control::path(sink));
#endif
  TELLTALE_BLOCK("stranger's block");
  TELLTALE_STEP("step");
  return half(argc + 73) > 0 ? 0 : 1;
}
