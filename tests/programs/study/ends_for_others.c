// C and C++. Part of a program, or its library.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C"
#endif
void end_by(const char *how, int status);
void end_by(const char *how, int status) {
  if (strcmp(how, "_exit") == 0) _exit(status);
  if (strcmp(how, "_Exit") == 0) _Exit(status + 1);
  if (strcmp(how, "quick_exit") == 0) quick_exit(status + 2);
}
