/* Reads a JSON document with cJSON and prints it twice: for sampler_evidence_bench. */
#include <stdio.h>
#include <stdlib.h>

#include "cJSON.h"
int main(int words, char** word) {
  FILE* file = fopen(word[1], "rb");
  char* text = malloc(1 << 25);
  if (words < 2 || file == NULL || text == NULL) return 1;
  text[fread(text, 1, (1 << 25) - 1, file)] = 0;
  cJSON* value = cJSON_Parse(text);
  if (value == NULL) return puts("no JSON"), 1;
  char* again = cJSON_PrintUnformatted(value);
  printf("%s%s\n", again, cJSON_Print(value));
  cJSON_Delete(value);
}
