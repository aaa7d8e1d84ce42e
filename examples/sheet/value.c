/* Values of cells. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

struct value make_empty(void) {
  struct value value;
  memset(&value, 0, sizeof value);
  value.kind = EMPTY;
  return value;
}

struct value make_number(double number) {
  struct value value = make_empty();
  if (isnan(number) || isinf(number)) return make_error(BAD_VALUE);
  value.kind = NUMBER;
  value.number = number;
  return value;
}

struct value make_text(const char* text, size_t length) {
  struct value value = make_empty();
  if (length >= MAX_TEXT) length = MAX_TEXT - 1;
  value.kind = TEXT;
  memcpy(value.text, text, length);
  value.text[length] = 0;
  return value;
}

struct value make_error(enum error error) {
  struct value value = make_empty();
  value.kind = ERROR;
  value.error = error;
  return value;
}

const char* error_text(enum error error) {
  switch (error) {
    case NO_ERROR:
      return "#OK";
    case BAD_VALUE:
      return "#VALUE";
    case BAD_NAME:
      return "#NAME";
    case BAD_REFERENCE:
      return "#REF";
    case DIVISION:
      return "#DIV/0";
    case CYCLE:
      return "#CYCLE";
    case TOO_DEEP:
      return "#DEPTH";
  }
  return "#?";
}

/* Order of the kinds in a sorted column. */
static int rank_of(enum kind kind) {
  switch (kind) {
    case NUMBER:
      return 0;
    case TEXT:
      return 1;
    case ERROR:
      return 2;
    case EMPTY:
      return 3;
  }
  return 4;
}

static int compare_texts(const char* a, const char* b) {
  while (*a != 0 && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
    ++a;
    ++b;
  }
  int left = tolower((unsigned char)*a);
  int right = tolower((unsigned char)*b);
  return (left > right) - (left < right);
}

int compare_values(const struct value* a, const struct value* b) {
  int left = rank_of(a->kind);
  int right = rank_of(b->kind);
  if (left != right) return left < right ? -1 : 1;
  if (a->kind == NUMBER) return (a->number > b->number) - (a->number < b->number);
  if (a->kind == TEXT) return compare_texts(a->text, b->text);
  return 0;
}

bool to_number(const struct value* value, double* number) {
  if (value->kind == NUMBER) {
    *number = value->number;
    return true;
  }
  if (value->kind == EMPTY) {
    *number = 0;
    return true;
  }
  if (value->kind == TEXT) {
    char* end = NULL;
    *number = strtod(value->text, &end);
    return end != value->text && *end == 0;
  }
  return false;
}

/* Without superfluous digits: 2, 2.5, 2.25. */
static void number_to_text(double number, int decimals, char* out, size_t size) {
  if (decimals >= 0) {
    snprintf(out, size, "%.*f", decimals, number);
    return;
  }
  snprintf(out, size, "%.10g", number);
}

void value_to_text(const struct value* value, int decimals, char* out, size_t size) {
  switch (value->kind) {
    case EMPTY:
      out[0] = 0;
      break;
    case NUMBER:
      number_to_text(value->number, decimals, out, size);
      break;
    case TEXT:
      snprintf(out, size, "%s", value->text);
      break;
    case ERROR:
      snprintf(out, size, "%s", error_text(value->error));
      break;
  }
}
