/* sheet: a small spreadsheet.

     sheet [FILE]        runs the commands of a script (script.c), or of standard input
     sheet --work SEED   a day of work with a sheet, chosen by the number (workload.c)

   Exit status: 0; 1 if a command was wrong; 2 if the command line was. */
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

static int usage(void) {
  fprintf(stderr, "usage: sheet [FILE]\n       sheet --work SEED [--quiet]\n");
  return 2;
}

static int work(const char* seed, bool quiet) {
  char* end = NULL;
  unsigned long number = strtoul(seed, &end, 10);
  if (end == seed || *end != 0) return usage();
  struct sheet* sheet = open_sheet(stdout);
  sheet->quiet = quiet;
  run_workload(sheet, number);
  close_sheet(sheet);
  return 0;
}

#ifndef SHEET_FUZZ
int main(int argc, char** argv) {
  if (argc >= 3 && strcmp(argv[1], "--work") == 0)
    return work(argv[2], argc > 3 && strcmp(argv[3], "--quiet") == 0);
  if (argc > 2) return usage();
  FILE* in = argc == 2 ? fopen(argv[1], "r") : stdin;
  if (in == NULL) {
    fprintf(stderr, "sheet: %s cannot be read\n", argv[1]);
    return 2;
  }
  struct sheet* sheet = open_sheet(stdout);
  int failures = run_script(sheet, in);
  close_sheet(sheet);
  if (in != stdin) fclose(in);
  return failures == 0 ? 0 : 1;
}
#endif
