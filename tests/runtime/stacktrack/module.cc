// A plugin with checkpoints of its own; built twice, with different names at the same addresses.

#include <telltale/stacktrack.hpp>

#ifndef MODULE_NAME
#define MODULE_NAME "first"
#endif

extern "C" __attribute__((visibility("default"))) void work() {
  TELLTALE_BLOCK("block of the " MODULE_NAME " module");
  TELLTALE_VALUE("value of the " MODULE_NAME " module", 42);
}
