/* References to cells and areas: "B12", "$B$12", "A1:C4". */
#include <ctype.h>
#include <stdlib.h>

#include "sheet.h"

bool is_inside(int row, int column) {
  return row >= 0 && row < MAX_ROWS && column >= 0 && column < MAX_COLUMNS;
}

struct area area_of(struct reference a, struct reference b) {
  struct area area;
  area.top = a.row < b.row ? a.row : b.row;
  area.bottom = a.row < b.row ? b.row : a.row;
  area.left = a.column < b.column ? a.column : b.column;
  area.right = a.column < b.column ? b.column : a.column;
  return area;
}

int area_rows(const struct area* area) { return area->bottom - area->top + 1; }

int area_columns(const struct area* area) { return area->right - area->left + 1; }

size_t read_reference(const char* text, struct reference* out) {
  const char* at = text;
  struct reference found = {0, 0, false, false};
  if (*at == '$') {
    found.fixed_column = true;
    ++at;
  }
  if (!isalpha((unsigned char)*at)) return 0;
  found.column = toupper((unsigned char)*at) - 'A';
  ++at;
  if (*at == '$') {
    found.fixed_row = true;
    ++at;
  }
  if (!isdigit((unsigned char)*at)) return 0;
  int row = 0;
  while (isdigit((unsigned char)*at)) {
    row = row * 10 + (*at - '0');
    if (row > MAX_ROWS) return 0;
    ++at;
  }
  if (isalnum((unsigned char)*at) || *at == '_') return 0;
  found.row = row - 1;
  if (!is_inside(found.row, found.column)) return 0;
  *out = found;
  return (size_t)(at - text);
}

void reference_to_text(const struct reference* reference, char* out, size_t size) {
  snprintf(out, size, "%s%c%s%d", reference->fixed_column ? "$" : "", 'A' + reference->column,
           reference->fixed_row ? "$" : "", reference->row + 1);
}

size_t read_area(const char* text, struct area* out) {
  struct reference first;
  struct reference last;
  size_t used = read_reference(text, &first);
  if (used == 0) return 0;
  last = first;
  if (text[used] == ':') {
    size_t more = read_reference(text + used + 1, &last);
    if (more == 0) return 0;
    used += 1 + more;
  }
  *out = area_of(first, last);
  return used;
}
