/* The sheet as a target of libFuzzer: an input is a script.

     clang -g -O1 -fsanitize=fuzzer *.c -DSHEET_FUZZ -o fuzzer -lm */
#ifdef SHEET_FUZZ
#include <stdint.h>

#include "sheet.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  FILE* in = fmemopen((void*)data, size, "r");
  if (in == NULL) return 0;
  struct sheet* sheet = open_sheet(stdout);
  sheet->quiet = true;
  run_script(sheet, in);
  close_sheet(sheet);
  fclose(in);
  return 0;
}
#else
typedef int sheet_has_main; /* a translation unit is not empty */
#endif
