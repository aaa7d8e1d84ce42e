#include "verbose.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "writer.h"

namespace telltale::sampler {
namespace {

bool verbose = false;

}  // namespace

void set_verbose() { verbose = true; }

bool is_verbose() { return verbose; }

void log_line(const char* what, const char* more) {
  if (!verbose) return;
  const int kept = errno;
  Writer out(STDERR_FILENO);
  const char* const parts[] = {"sampler: ", what, more, "\n"};
  for (const char* const part : parts) out.put(part);
  out.flush();
  errno = kept;
}

void log_line(const char* what, uint64_t number) {
  char digits[24];
  char* at = digits + sizeof(digits);
  *--at = 0;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  log_line(what, at);
}

}  // namespace telltale::sampler
