/* Names of areas, sorted, so that formulas find them by bisection. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

static int compare_names(const char* a, const char* b) {
  while (*a != 0 && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
    ++a;
    ++b;
  }
  return tolower((unsigned char)*a) - tolower((unsigned char)*b);
}

/* The place of the first name that is not before `text`. */
static int place_of(struct sheet* sheet, const char* text) {
  int low = 0;
  int high = sheet->name_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (compare_names(sheet->names[middle]->text, text) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct name* find_name(struct sheet* sheet, const char* text) {
  int place = place_of(sheet, text);
  if (place == sheet->name_count) return NULL;
  if (compare_names(sheet->names[place]->text, text) != 0) return NULL;
  return sheet->names[place];
}

static bool is_name(const char* text) {
  struct reference reference;
  if (!isalpha((unsigned char)text[0]) && text[0] != '_') return false;
  if (read_reference(text, &reference) != 0) return false;
  size_t length = 0;
  while (isalnum((unsigned char)text[length]) || text[length] == '_') ++length;
  return text[length] == 0 && length < sizeof(((struct name*)0)->text);
}

bool add_name(struct sheet* sheet, const char* text, const struct area* area) {
  if (!is_name(text)) return false;
  struct name* known = find_name(sheet, text);
  if (known != NULL) {
    known->area = *area;
    return true;
  }
  if (sheet->name_count == MAX_NAMES) return false;
  struct name* name = calloc(1, sizeof *name);
  if (name == NULL) return false;
  strcpy(name->text, text);
  name->area = *area;
  int place = place_of(sheet, text);
  for (int i = sheet->name_count; i > place; --i) sheet->names[i] = sheet->names[i - 1];
  sheet->names[place] = name;
  ++sheet->name_count;
  return true;
}

bool remove_name(struct sheet* sheet, const char* text) {
  struct name* name = find_name(sheet, text);
  if (name == NULL) return false;
  int place = place_of(sheet, text);
  free(name);
  --sheet->name_count;
  for (int i = place; i < sheet->name_count; ++i) sheet->names[i] = sheet->names[i + 1];
  return true;
}

void free_names(struct sheet* sheet) {
  for (int i = 0; i < sheet->name_count; ++i) free(sheet->names[i]);
  sheet->name_count = 0;
}
